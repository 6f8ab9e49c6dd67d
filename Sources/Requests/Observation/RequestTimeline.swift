// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What ran, when, and what came of it: a value that can be drawn.
///
/// A ``RecordingMonitor`` makes one. It has three pictures: ``text(width:)`` for a terminal or a log,
/// ``har(revealingSecrets:)`` for the network tab of a browser, ``traceEvents()`` for Perfetto.
///
/// ```swift
/// print(recorder.timeline.text())
/// try recorder.timeline.har().write(to: folder.appending(path: "requests.har"))
/// ```
///
/// The value has what was sent but for the contents, secrets included. The pictures leave secrets out.
public struct RequestTimeline: Sendable {
    /// When the recording began.
    public internal(set) var start: Date
    /// When the picture was taken; like all times here, since the start.
    public internal(set) var end: Duration
    /// What became of each operation, in the order of their making.
    public internal(set) var entries: [Entry] = []
    /// How many older operations were forgotten, because there were more than the recorder's limit.
    public internal(set) var forgotten = 0

    /// One operation, from its making to its end.
    public struct Entry: Sendable {
        /// The operation.
        public internal(set) var operation: MonitoredOperation
        /// When it was made.
        public internal(set) var made: Duration
        /// When its turn came; nil as long as it hasn't, and where it never did.
        public internal(set) var started: Duration?
        /// The operation whose transfer it shared; nil where it shared none.
        public internal(set) var leader: MonitoredOperation?
        /// When it was over; nil as long as it isn't.
        public internal(set) var ended: Duration?
        /// What came of it; nil as long as it isn't over.
        public internal(set) var outcome: Outcome?
        /// What it did, in order: attempts, and waits between them.
        public internal(set) var steps: [Step] = []
        /// How many older steps were forgotten: an operation that tries again for ever keeps the last 1,000.
        public internal(set) var forgottenSteps = 0
    }

    /// What came of an operation.
    public enum Outcome: Sendable, Hashable {
        /// It has a value.
        case success
        /// It failed.
        case failure(RequestError.Code)
        /// It was called off.
        case cancelled
    }

    /// A thing that an operation did.
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
        /// What it waited for.
        public let step: AuthenticationStep
        /// When it began.
        public let start: Duration
        /// When it was over; nil as long as it isn't.
        public internal(set) var end: Duration?
        /// Whether there was a credential then; nil as long as it isn't over.
        public internal(set) var isGranted: Bool?
    }

    /// An attempt, from when it was handed to the transport to its end.
    public struct Span: Sendable {
        /// Which one of the operation it is, from 1.
        public let number: Int
        /// Why it was made.
        public let cause: Attempt.Cause
        /// What was sent, without content and credentials that are yet to be added.
        public let request: HTTPRequest
        /// How many bytes the content has, where that was known.
        public let contentLength: Int64?
        /// When it began.
        public let start: Duration
        /// When it was over; nil as long as it isn't.
        public internal(set) var end: Duration?
        /// The head of the response, if one came.
        public internal(set) var response: HTTPResponseHead?
        /// Why it failed, if it did.
        public internal(set) var error: RequestError.Code?
        /// What its phases took, where that is known.
        public internal(set) var metrics: Metrics?
    }

    /// A wait before a retry.
    public struct Pause: Sendable {
        /// When it began.
        public let start: Duration
        /// When the next attempt began, or the operation was over; nil as long as neither is.
        public internal(set) var end: Duration?
        /// How long it was meant to be.
        public let delay: Duration
        /// Why the operation tries again.
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

// MARK: - Timestamp

extension RequestTimeline {
    /// A time of the timeline in ISO 8601, such as `2026-11-21T10:00:00.000Z`; of the years 1 to 9999.
    func timestamp(at time: Duration) -> String {
        start.timestamp(after: time)
    }
}

// MARK: - Timestamp

extension Date {
    /// The time so much later in ISO 8601, such as `2026-11-21T10:00:00.000Z`; of the years 1 to 9999.
    package func timestamp(after time: Duration = .zero) -> String {
        let begin = (timeIntervalSince1970 * 1_000_000).rounded()
        let limits = -62_135_596_800_000_000.0...253_402_300_799_000_000.0
        let base = begin.isNaN ? 0 : Int64(min(max(begin, limits.lowerBound), limits.upperBound))
        let sum = min(max(base + time.wholeMicroseconds, Int64(limits.lowerBound)), Int64(limits.upperBound))
        // Rounded down, also before 1970.
        let second = sum >= 0 ? sum / 1_000_000 : (sum - 999_999) / 1_000_000
        let thousandths = Int((sum - second * 1_000_000) / 1000)
        let date = CivilTime(secondsSinceEpoch: second)
        return "\(date.year.padded(4))-\(date.month.padded(2))-\(date.day.padded(2))T\(date.hour.padded(2))"
            + ":\(date.minute.padded(2)):\(date.second.padded(2)).\(thousandths.padded(3))Z"
    }

    /// Reads a time in ISO 8601 as it stands in files: with or without a fraction of a second, in Greenwich or with an
    /// offset, such as `2026-11-21T11:00:00.000+01:00`; nil for anything else.
    package init?(timestamp: String) {
        var rest = Substring(timestamp).utf8
        guard let year = rest.number(of: 4), rest.skip("-"), let month = rest.number(of: 2), rest.skip("-"),
            let day = rest.number(of: 2), rest.skip("T") || rest.skip("t") || rest.skip(" "),
            let hour = rest.number(of: 2), rest.skip(":"), let minute = rest.number(of: 2)
        else { return nil }
        var second = 0
        if rest.skip(":") {
            guard let number = rest.number(of: 2) else { return nil }
            second = number
        }
        var fraction = 0.0
        if rest.skip(".") || rest.skip(",") {
            let digits = rest.prefix(while: ASCII.isDigit)
            rest = rest[digits.endIndex...]
            for digit in digits.prefix(9).reversed() { fraction = (fraction + Double(digit - UInt8(ascii: "0"))) / 10 }
        }
        let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard time.isValid, let offset = rest.offset(), rest.isEmpty else { return nil }
        self.init(timeIntervalSince1970: Double(time.secondsSinceEpoch - offset) + fraction)
    }
}

extension Substring.UTF8View {
    fileprivate mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }

    /// A number of just so many digits.
    fileprivate mutating func number(of count: Int) -> Int? {
        let digits = prefix(count)
        guard digits.count == count, digits.allSatisfy(ASCII.isDigit) else { return nil }
        self = self[digits.endIndex...]
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    /// Seconds east of Greenwich; none where nothing is said.
    fileprivate mutating func offset() -> Int64? {
        if isEmpty || skip("Z") || skip("z") { return 0 }
        let sign: Int64 = skip("-") ? -1 : 1
        guard sign < 0 || skip("+"), let hours = number(of: 2) else { return nil }
        _ = skip(":")
        guard let minutes = number(of: 2), hours < 24, minutes < 60 else { return nil }
        return sign * Int64(hours * 3600 + minutes * 60)
    }
}

extension Int {
    fileprivate func padded(_ digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
    }
}
