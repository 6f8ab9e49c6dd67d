// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RequestTimeline.Span {
    /// A stretch of an attempt in which it did one thing.
    struct Segment: Hashable {
        enum Activity: Hashable {
            case phase(Metrics.Phase)
            /// From the last thing that is known to the failure, in whatever phase that was.
            case failing
            /// Nothing more is known of it.
            case unknown
        }

        let activity: Activity
        /// Since the start of the attempt.
        let range: Range<Duration>

        var duration: Duration { range.upperBound - range.lowerBound }
    }

    /// How long the attempt took; nil as long as it isn't over.
    ///
    /// The transport's word, but within what was seen of it.
    var duration: Duration? {
        guard let end else { return nil }
        let seen = max(.zero, end - start)
        return metrics?.end.map { min(max(.zero, $0), seen) } ?? seen
    }

    /// What the attempt did from its start to its end, without gaps and overlaps; phases that took no time included.
    func segments(until now: Duration) -> [Segment] {
        let duration = duration ?? max(.zero, now - start)
        guard var metrics, end != nil else { return [Segment(activity: .unknown, range: .zero..<duration)] }
        metrics.end = duration
        return metrics.segments(failed: error != nil && metrics.firstByte == nil)
    }
}

extension Metrics {
    /// The phases that are known of, each from where the one before ended: requests and responses may overlap, pictures
    /// of them may not.
    func segments(failed: Bool = false) -> [RequestTimeline.Span.Segment] {
        let total = max(.zero, end ?? .zero)
        var segments: [RequestTimeline.Span.Segment] = []
        var begin = Duration.zero
        for phase in Phase.allCases {
            guard let range = self[phase] else { continue }
            let finish = max(begin, min(range.upperBound, total))
            let activity: RequestTimeline.Span.Segment.Activity =
                switch phase {
                case .response where failed: .failing
                case .response where firstByte == nil: .unknown
                default: .phase(phase)
                }
            segments.append(.init(activity: activity, range: begin..<finish))
            begin = finish
        }
        return segments
    }
}
