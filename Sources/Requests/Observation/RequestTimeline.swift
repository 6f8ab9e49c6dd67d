// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The recorded operations with their times and outcomes: a value that can be drawn.
///
/// A ``RecordingMonitor`` makes one. It can be drawn in two ways: ``text(width:)`` for a terminal or a log,
/// ``har(revealingSecrets:)`` for the network tab of a browser.
///
/// ```swift
/// print(recorder.timeline.text())
/// try recorder.timeline.har().write(to: folder.appending(path: "requests.har"))
/// ```
///
/// The value contains the requests without their contents, secrets included. The drawings leave secrets out.
public struct RequestTimeline: Sendable {
    /// The time at which the recording began.
    public internal(set) var start: Date
    /// The time at which this value was made; like all times here, since the start.
    public internal(set) var end: Duration
    /// The operations, in the order of their creation.
    public internal(set) var entries: [Entry] = []
    /// The number of older operations that were dropped, because of the recorder's limit.
    public internal(set) var forgotten = 0

    /// One operation, from its creation to its end.
    public struct Entry: Sendable {
        /// The operation.
        public internal(set) var operation: MonitoredOperation
        /// The time of its creation.
        public internal(set) var created: Duration
        /// The time at which it started; `nil` if it hasn't started.
        public internal(set) var started: Duration?
        /// The operation whose transfer it shared; `nil` if it shared none.
        public internal(set) var leader: MonitoredOperation?
        /// The time at which it ended; `nil` before its end.
        public internal(set) var ended: Duration?
        /// Its outcome; `nil` before its end.
        public internal(set) var outcome: Outcome?
        /// Its steps, in order: attempts, and waits between them.
        public internal(set) var steps: [Step] = []
        /// The number of older steps that were dropped: an operation that retries for ever keeps the last 1,000.
        public internal(set) var forgottenSteps = 0
    }

    /// The outcome of an operation.
    public enum Outcome: Sendable, Hashable {
        /// It has a value.
        case success
        /// It failed.
        case failure(RequestError.Code)
        /// It was cancelled.
        case cancelled
    }

    /// A step of an operation.
    public enum Step: Sendable {
        /// It sent a request.
        case attempt(Span)
        /// It waited before a retry.
        case wait(Pause)
        /// It waited for a credential.
        case authentication(Authentication)
    }

    /// A wait for a credential.
    public struct Authentication: Sendable {
        /// The reason for the wait.
        public let step: AuthenticationStep
        /// The time at which it began.
        public let start: Duration
        /// The time at which it ended; `nil` before its end.
        public internal(set) var end: Duration?
        /// Whether a credential was granted; `nil` before the end.
        public internal(set) var isGranted: Bool?
    }

    /// An attempt, from the start of the transfer to its end.
    public struct Span: Sendable {
        /// The number of the attempt in the operation, from 1.
        public let number: Int
        /// The cause of the attempt.
        public let cause: Attempt.Cause
        /// The request, without content and without credentials that are added later.
        public let request: HTTPRequest
        /// The byte count of the content, if it was known.
        public let contentLength: Int64?
        /// The time at which it began.
        public let start: Duration
        /// The time at which it ended; `nil` before its end.
        public internal(set) var end: Duration?
        /// The head of the response, if one was received.
        public internal(set) var response: HTTPResponseHead?
        /// The error, if it failed.
        public internal(set) var error: RequestError.Code?
        /// The metrics, if they are known.
        public internal(set) var metrics: Metrics?
    }

    /// A wait before a retry.
    public struct Pause: Sendable {
        /// The time at which it began.
        public let start: Duration
        /// The time at which the next attempt began, or the operation ended; `nil` before that.
        public internal(set) var end: Duration?
        /// The planned delay.
        public let delay: Duration
        /// The reason for the retry.
        public let reason: RequestError.Code
    }
}

extension RequestTimeline.Outcome: CustomStringConvertible {
    /// The outcome in a word, such as `timedOut`.
    public var description: String {
        switch self {
        case .success: "success"
        case .failure(let code): code.name
        case .cancelled: "cancelled"
        }
    }
}

// MARK: - Segments

extension RequestTimeline.Span {
    /// A period of an attempt with one activity.
    struct Segment: Hashable {
        enum Activity: Hashable {
            case phase(Metrics.Phase)
            /// From the last known event to the failure, in an unknown phase.
            case failing
            /// Nothing more is known.
            case unknown
        }

        let activity: Activity
        /// The period since the start of the attempt.
        let range: Range<Duration>

        var duration: Duration { range.upperBound - range.lowerBound }
    }

    /// The duration of the attempt; `nil` before its end.
    ///
    /// It is the transport's measurement, limited to the observed period.
    var duration: Duration? {
        guard let end else { return nil }
        let seen = max(.zero, end - start)
        return metrics?.end.map { min(max(.zero, $0), seen) } ?? seen
    }

    /// The activities of the attempt from its start to its end, without gaps and overlaps; phases of zero length
    /// included.
    func segments(until now: Duration) -> [Segment] {
        let duration = duration ?? max(.zero, now - start)
        guard var metrics, end != nil else { return [Segment(activity: .unknown, range: .zero..<duration)] }
        metrics.end = duration
        return metrics.segments(failed: error != nil && metrics.firstByte == nil)
    }
}

extension Metrics {
    /// The known phases, each from the end of the one before: requests and responses may overlap, but segments may not.
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

// MARK: - Timestamp

extension RequestTimeline {
    /// A time of the timeline in ISO 8601, such as `2026-11-21T10:00:00.000Z`; of the years 1 to 9999.
    func timestamp(at time: Duration) -> String {
        start.timestamp(after: time)
    }
}

// MARK: - Timestamp

extension Date {
    /// The time plus a duration in ISO 8601, such as `2026-11-21T10:00:00.000Z`; of the years 1 to 9999.
    package func timestamp(after time: Duration = .zero) -> String {
        let begin = (timeIntervalSince1970 * 1_000_000).rounded()
        let limits = -62_135_596_800_000_000.0...253_402_300_799_000_000.0
        let base = begin.isNaN ? 0 : Int64(min(max(begin, limits.lowerBound), limits.upperBound))
        let sum = min(max(base + time.wholeMicroseconds, Int64(limits.lowerBound)), Int64(limits.upperBound))
        // Rounded down, also before 1970.
        let second = sum >= 0 ? sum / 1_000_000 : (sum - 999_999) / 1_000_000
        let thousandths = Int((sum - second * 1_000_000) / 1000)
        return "\(CivilTime(secondsSinceEpoch: second).iso8601).\(thousandths.padded(to: 3))Z"
    }

    /// Reads a time in ISO 8601, with or without a fraction of a second, in Greenwich or with an offset, such as
    /// `2026-11-21T11:00:00.000+01:00`; `nil` for any other text.
    package init?(timestamp: String) {
        var rest = FieldScanner(timestamp)
        guard let year: Int = rest.number(4...4), rest.skip("-"), let month: Int = rest.number(2...2), rest.skip("-"),
            let day: Int = rest.number(2...2), rest.skip("T") || rest.skip("t") || rest.skip(" "),
            let hour: Int = rest.number(2...2), rest.skip(":"), let minute: Int = rest.number(2...2)
        else { return nil }
        var second = 0
        if rest.skip(":") {
            guard let number: Int = rest.number(2...2) else { return nil }
            second = number
        }
        let fraction = rest.skip(".") || rest.skip(",") ? Double("0.\(rest.text(while: ASCII.isDigit))0") ?? 0 : 0
        let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard time.isValid, let offset = rest.offset(), rest.isAtEnd else { return nil }
        self.init(timeIntervalSince1970: Double(time.secondsSinceEpoch - offset) + fraction)
    }
}

extension FieldScanner {
    /// The seconds east of Greenwich; zero if there is no offset.
    fileprivate mutating func offset() -> Int64? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign: Int64 = skip("-") ? -1 : 1
        guard sign < 0 || skip("+") else { return nil }
        // With a colon between, or without one.
        var digits = text(while: ASCII.isDigit)
        if skip(":") { digits += text(while: ASCII.isDigit) }
        guard digits.utf8.count == 4, let number = Int64(digits), number / 100 < 24, number % 100 < 60 else {
            return nil
        }
        return sign * (number / 100 * 3600 + number % 100 * 60)
    }
}
