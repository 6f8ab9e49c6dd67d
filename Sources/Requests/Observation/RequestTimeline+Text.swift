// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RequestTimeline {
    /// The timeline as bars for a terminal, without secrets: a row per operation, and below it one per attempt and
    /// wait.
    ///
    /// ```
    /// 2 operations, from 2026-11-21T10:00:00.000Z
    /// #1 GetUser “profile”                .---------------------------         100.0 ms success
    ///   1 GET https://example.com/users/1  ?+*>==<<                             28.0 ms 302
    ///   2 redirect GET https://example.c…          ---                          10.0 ms 503
    ///     wait                                        ~~~~~~~~~~~~~~            50.0 ms unacceptableStatus
    ///   3 retry GET https://example.com/b                           --           5.0 ms 200
    /// ```
    ///
    /// A wait for a credential is drawn like one for a retry. All bars have the same scale, from the first event to the
    /// last; the last line is a legend. Bars of unfinished operations reach to the end.
    ///
    /// - Parameter width: The number of columns; 120 by default, and at least 60.
    /// - Returns: Lines of at most that width, without a break behind the last.
    /// - Complexity: O(n) in the number of attempts.
    public func text(width: Int = 120) -> String {
        TimelineText(self, width: width).lines.joined(separator: "\n")
    }
}

/// Draws a timeline in columns: the operation, its times, its duration, its outcome.
private struct TimelineText {
    private(set) var lines: [String] = []
    private let labelColumns: Int
    private let barColumns: Int
    private let span: Range<Duration>

    private static let timeColumns = 11
    private static let resultColumns = 19

    init(_ timeline: RequestTimeline, width: Int) {
        let width = min(max(60, width), 10_000)
        labelColumns = width * 7 / 20
        barColumns = width - labelColumns - 1 - Self.timeColumns - Self.resultColumns
        let first = timeline.entries.map(\.created).min() ?? .zero
        let last = timeline.entries.map { $0.ended ?? timeline.end }.max() ?? first
        span = first..<max(first, last)
        addTitle(timeline)
        for entry in timeline.entries { add(entry, until: timeline.end) }
        addLegend(width: width)
    }

    private mutating func addTitle(_ timeline: RequestTimeline) {
        let count = timeline.entries.count
        let forgotten = timeline.forgotten > 0 ? ", \(timeline.forgotten) forgotten" : ""
        lines.append(
            "\(count) operation\(count == 1 ? "" : "s")\(forgotten), from \(timeline.timestamp(at: span.lowerBound))"
        )
    }

    private mutating func add(_ entry: RequestTimeline.Entry, until now: Duration) {
        let end = entry.ended ?? now
        var bar = TextBar(columns: barColumns, span: span)
        let turn = entry.started ?? end
        if turn > entry.created { bar.paint(entry.created..<turn, ".") }
        if let started = entry.started { bar.paint(started..<max(started, end), "-") }
        add("\(entry.operation)", bar, entry.ended.map { $0 - entry.created }, entry.outcome?.description)
        if entry.forgottenSteps > 0 { lines.append("  (\(entry.forgottenSteps) older steps forgotten)") }
        if let leader = entry.leader {
            lines.append(String("  (shares \(leader))".fitted(to: labelColumns).trimmingSpaces))
        }
        for step in entry.steps { add(step, until: end) }
    }

    private mutating func add(_ step: RequestTimeline.Step, until now: Duration) {
        var bar = TextBar(columns: barColumns, span: span)
        switch step {
        case .attempt(let attempt):
            for segment in attempt.segments(until: now) where segment.duration > .zero {
                let range = (attempt.start + segment.range.lowerBound)..<(attempt.start + segment.range.upperBound)
                bar.paint(range, segment.activity.glyph)
            }
            let cause = attempt.cause == .initial ? "" : "\(attempt.cause) "
            let result = attempt.error?.name ?? attempt.response.map { "\($0.status.code)" }
            add("  \(attempt.number) \(cause)\(attempt.request)", bar, attempt.duration, result)
        case .wait(let pause):
            bar.paint(pause.start..<max(pause.start, pause.end ?? now), "~")
            add("    wait", bar, pause.end.map { $0 - pause.start }, pause.reason.name)
        case .authentication(let wait):
            bar.paint(wait.start..<max(wait.start, wait.end ?? now), "@")
            let result = wait.isGranted.map { $0 ? "granted" : "refused" }
            add("    \(wait.step)", bar, wait.end.map { $0 - wait.start }, result)
        }
    }

    private mutating func add(_ label: String, _ bar: TextBar, _ time: Duration?, _ result: String?) {
        let time = (time?.inWords ?? "not over").fitted(to: Self.timeColumns, alignedRight: true)
        let result = (result ?? "").fitted(to: Self.resultColumns - 1)
        let line = "\(label.printable(upTo: 256).fitted(to: labelColumns)) \(bar.text)\(time) \(result)"
        lines.append(String(line.trimmingSpaces))
    }

    /// The legend, in the necessary number of lines.
    private mutating func addLegend(width: Int) {
        let activities =
            Metrics.Phase.allCases.map { RequestTimeline.Span.Segment.Activity.phase($0) } + [.failing, .unknown]
        let items = activities.map { "\($0.glyph) \($0.title)" } + ["~ until the retry", "@ credential"]
        var line = ""
        for item in items {
            if line.utf8.count + item.utf8.count + 2 > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? item : "  \(item)"
        }
        lines.append(line)
    }
}

extension String {
    fileprivate var trimmingSpaces: Substring {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return text
    }
}

// MARK: - Text

extension Metrics {
    /// The phases of the attempt as bars, one below the other, with their durations.
    ///
    /// ```
    /// queue        .                                        1.0 ms
    /// name lookup   ??                                      2.0 ms
    /// connect         ++++                                  3.0 ms
    /// TLS                 *****                             4.0 ms
    /// request                  >>>>>>>                      5.0 ms
    /// wait                            ========              6.0 ms
    /// response                                <<<<<<<<<     7.0 ms
    /// total        http/1.1, 0 bytes sent, 1234 bytes …    28.0 ms
    /// ```
    ///
    /// - Parameter width: The number of columns; 80 by default, and at least 40.
    /// - Returns: Lines of that width, without a break behind the last.
    public func text(width: Int = 80) -> String {
        let columns = min(max(40, width), 10_000) - Self.titleColumns - Self.timeColumns
        let segments = segments()
        let end = segments.last?.range.upperBound ?? .zero
        var lines = segments.map { segment in
            var bar = TextBar(columns: columns, span: .zero..<end)
            bar.paint(segment.range, segment.activity.glyph)
            return Self.line(segment.activity.title, bar.text, segment.duration.inWords)
        }
        lines.append(Self.line("total", connection.fitted(to: columns), end.inWords))
        return lines.joined(separator: "\n")
    }

    private static let titleColumns = 13
    private static let timeColumns = 11

    private static func line(_ title: String, _ bar: String, _ time: String) -> String {
        title.fitted(to: titleColumns) + bar + time.fitted(to: timeColumns, alignedRight: true)
    }

    private var connection: String {
        let reuse = isReusedConnection.map { $0 ? "kept connection" : "new connection" }
        let sent = requestBodySize.map { "\($0) bytes sent" }
        let received = responseBodySize.map { "\($0) bytes received" }
        return [networkProtocol?.printable(upTo: 16), reuse, sent, received].compactMap { $0 }.joined(separator: ", ")
    }
}

/// A period of time as a number of columns of text.
struct TextBar {
    private var cells: [UInt8]
    private let span: Range<Duration>

    /// - Parameters:
    ///   - columns: The number of columns; at least one.
    ///   - span: The period that they stand for.
    init(columns: Int, span: Range<Duration>) {
        cells = Array(repeating: UInt8(ascii: " "), count: max(1, columns))
        self.span = span
    }

    /// Fills the columns of a period, at least one, and replaces their content.
    mutating func paint(_ range: Range<Duration>, _ glyph: Unicode.Scalar) {
        let first = min(column(of: range.lowerBound), cells.count - 1)
        let last = max(column(of: range.upperBound), first + 1)
        for index in first..<last { cells[index] = UInt8(ascii: glyph) }
    }

    private func column(of time: Duration) -> Int {
        let length = span.upperBound - span.lowerBound
        guard length > .zero else { return 0 }
        let share = min(max(0, (time - span.lowerBound) / length), 1)
        return Int((share * Double(cells.count)).rounded(.down))
    }

    var text: String { String(decoding: cells, as: UTF8.self) }
}

extension RequestTimeline.Span.Segment.Activity {
    /// The character of its bars; ASCII, whose width is the same on every terminal.
    var glyph: Unicode.Scalar {
        switch self {
        case .phase(.queue): "."
        case .phase(.nameLookup): "?"
        case .phase(.connect): "+"
        case .phase(.secureConnect): "*"
        case .phase(.request): ">"
        case .phase(.wait): "="
        case .phase(.response): "<"
        case .failing: "x"
        case .unknown: "-"
        }
    }

    /// A short title.
    var title: String {
        switch self {
        case .phase(.queue): "queue"
        case .phase(.nameLookup): "name lookup"
        case .phase(.connect): "connect"
        case .phase(.secureConnect): "TLS"
        case .phase(.request): "request"
        case .phase(.wait): "wait"
        case .phase(.response): "response"
        case .failing: "failing"
        case .unknown: "under way"
        }
    }
}

// MARK: - Words

extension Duration {
    /// The duration for display: milliseconds below ten seconds, seconds above, with one digit behind the point.
    var inWords: String {
        let microseconds = wholeMicroseconds
        let isLong = microseconds.magnitude >= 10_000_000
        let tenths = (microseconds.magnitude + (isLong ? 50_000 : 50)) / (isLong ? 100_000 : 100)
        return "\(microseconds < 0 && tenths > 0 ? "-" : "")\(tenths / 10).\(tenths % 10) \(isLong ? "s" : "ms")"
    }

    /// The duration in microseconds, limited to thirty thousand years: it may come from a server, and arithmetic traps.
    var wholeMicroseconds: Int64 {
        let limit = Duration.seconds(1_000_000_000_000)
        let components = Swift.min(Swift.max(self, .zero - limit), limit).components
        return components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
