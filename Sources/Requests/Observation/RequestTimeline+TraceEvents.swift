// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestTimeline {
    /// The timeline in the Trace Event Format, which Perfetto and `chrome://tracing` open.
    ///
    /// An operation is a slice; in it are its wait in the queue, its attempts with their phases, and its waits before
    /// retries and for credentials. Operations that overlap lie in lanes of their own, of which there are as few as possible. Times are in
    /// microseconds since the start of the recording. Nothing in it is a secret.
    ///
    /// - Returns: JSON in UTF-8.
    /// - Complexity: O(n m) in the numbers of operations and of lanes, which is that of operations at the same time.
    public func traceEvents() -> Data {
        TraceEvents(self).document.serialized
    }
}

/// A timeline as trace events.
private struct TraceEvents {
    private let timeline: RequestTimeline
    private var events: [JSONValue] = []
    /// When each lane is free again.
    private var lanes: [Int64] = []

    init(_ timeline: RequestTimeline) {
        self.timeline = timeline
        for entry in timeline.entries { add(entry) }
    }

    var document: JSONValue {
        let names = lanes.indices.map { name("thread_name", "requests \($0 + 1)", lane: $0) }
        return [
            "displayTimeUnit": "ms",
            "otherData": ["start": .string(timeline.timestamp(at: .zero))],
            "traceEvents": .array([name("process_name", "Requests", lane: nil)] + names + events),
        ]
    }

    private func name(_ kind: String, _ name: String, lane: Int?) -> JSONValue {
        [
            "ph": "M", "name": .string(kind), "pid": 1, "tid": .integer(Int64((lane ?? -1) + 1)),
            "args": ["name": .string(name)],
        ]
    }

    /// A slice that others lie in.
    ///
    /// Whatever the clocks say, none reaches out of the one around it, or into the one before: viewers drop those.
    private struct Frame {
        let lane: Int
        let end: Int64
        var free: Int64

        mutating func take(_ begin: Duration, _ end: Duration) -> Range<Int64> {
            let begin = min(max(free, begin.wholeMicroseconds), self.end)
            free = min(max(begin, end.wholeMicroseconds), self.end)
            return begin..<free
        }
    }

    private mutating func add(_ entry: RequestTimeline.Entry) {
        let begin = entry.created.wholeMicroseconds
        let end = max(begin, (entry.ended ?? timeline.end).wholeMicroseconds)
        let lane = lanes.firstIndex { $0 <= begin } ?? lanes.count
        if lane == lanes.count { lanes.append(end) } else { lanes[lane] = end }
        add(
            "operation",
            entry.operation.description,
            begin..<end,
            lane,
            ["outcome": .string(entry.outcome?.description ?? "not over")]
        )
        var frame = Frame(lane: lane, end: end, free: begin)
        let turn = frame.take(entry.created, entry.started ?? entry.ended ?? timeline.end)
        if !turn.isEmpty { add("queue", "waiting for its turn", turn, lane) }
        for step in entry.steps { add(step, in: &frame) }
    }

    private mutating func add(_ step: RequestTimeline.Step, in frame: inout Frame) {
        switch step {
        case .attempt(let attempt):
            add(attempt, in: &frame)
        case .wait(let pause):
            let range = frame.take(pause.start, pause.end ?? timeline.end)
            let arguments: [String: JSONValue] = [
                "delay": .string(pause.delay.inWords), "reason": .string(pause.reason.name),
            ]
            add("retry", "waiting for the retry", range, frame.lane, arguments)
        case .authentication(let wait):
            let range = frame.take(wait.start, wait.end ?? timeline.end)
            let outcome = wait.isGranted.map { $0 ? "granted" : "refused" }
            add("authentication", "\(wait.step)", range, frame.lane, ["outcome": .string(outcome ?? "not over")])
        }
    }

    private mutating func add(_ attempt: RequestTimeline.Span, in frame: inout Frame) {
        let segments = attempt.segments(until: timeline.end)
        let duration = segments.last?.range.upperBound ?? .zero
        let range = frame.take(attempt.start, attempt.start + duration)
        var arguments: [String: JSONValue] = [
            "attempt": .integer(Int64(attempt.number)), "cause": .string("\(attempt.cause)"),
            "address": .string(Redaction.shownAddress(attempt.request.url.absoluteString).printable(upTo: 1024)),
        ]
        if let status = attempt.response?.status { arguments["status"] = .integer(Int64(status.code)) }
        if let error = attempt.error { arguments["error"] = .string(error.name) }
        add("attempt", "\(attempt.request)", range, frame.lane, arguments)
        var inner = Frame(lane: frame.lane, end: range.upperBound, free: range.lowerBound)
        for segment in segments where segment.activity != .unknown {
            let range = inner.take(attempt.start + segment.range.lowerBound, attempt.start + segment.range.upperBound)
            if !range.isEmpty { add("phase", segment.activity.title, range, frame.lane) }
        }
    }

    private mutating func add(
        _ category: String,
        _ name: String,
        _ range: Range<Int64>,
        _ lane: Int,
        _ arguments: [String: JSONValue] = [:]
    ) {
        events.append([
            "ph": "X", "cat": .string(category), "name": .string(name.printable(upTo: 256)), "pid": 1,
            "tid": .integer(Int64(lane + 1)), "ts": .integer(range.lowerBound), "dur": .integer(Int64(range.count)),
            "args": .object(arguments),
        ])
    }
}
