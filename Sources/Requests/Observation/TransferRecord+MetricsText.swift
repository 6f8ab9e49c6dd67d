// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension TransferRecord.Metrics {
    /// Returns the phases of the transfer as bars, one below the other, with their durations.
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
    /// - Parameter width: The number of columns, at least 40; `nil`, the default, is 80, or more if the last line needs
    ///   them.
    /// - Returns: Lines of that width, without a trailing line break.
    public func text(width: Int? = nil) -> String {
        let columns = min(max(40, width ?? max(80, connectionSummary.unicodeScalars.count + 24)), 10_000) - 24
        let total = periods.last?.range.upperBound ?? .zero
        func line(_ title: String, _ bar: String, _ time: Duration) -> String {
            title.fitted(to: 13) + bar + time.displayString.fitted(to: 11, alignedRight: true)
        }
        let lines = periods.map { period in
            let bar = Self.bar(of: [period], in: .zero..<total, columns: columns)
            return line(Self.key(of: period.phase).title, bar, period.range.upperBound - period.range.lowerBound)
        }
        return (lines + [line("total", connectionSummary.fitted(to: columns), total)]).joined(separator: "\n")
    }

    private var connectionSummary: String {
        let reuse = isReusedConnection.map { $0 ? "reused connection" : "new connection" }
        let sent = requestBodySize.map { "\($0.counting("byte")) sent" }
        let received = responseBodySize.map { "\($0.counting("byte")) received" }
        return [networkProtocol?.shortened(to: 16), reuse, sent, received].compactMap { $0 }.joined(separator: ", ")
    }
}

// MARK: - Bars

extension TransferRecord.Metrics {
    typealias Period = (phase: Phase?, range: Range<Duration>)

    /// The known phases in their order, without gaps or overlaps.
    ///
    /// Each phase starts where the previous phase ends. The phase is `nil` for a period of which only the end is known.
    var periods: [Period] {
        let total = max(.zero, end ?? .zero)
        var begin = Duration.zero
        return Phase.allCases.compactMap { phase in
            guard let range = self[phase] else { return nil }
            let finish = max(begin, min(range.upperBound, total))
            defer { begin = finish }
            return (phase == .response && responseStart == nil ? nil : phase, begin..<finish)
        }
    }

    /// Returns periods as a bar, in which each period has at least one column.
    static func bar(
        of periods: [Period],
        from start: Duration = .zero,
        in span: Range<Duration>,
        columns: Int
    ) -> String {
        let length = span.upperBound - span.lowerBound
        func column(of time: Duration) -> Int {
            guard length > .zero else { return 0 }
            return Int(min(max(0, (start + time - span.lowerBound) / length), 1) * Double(columns))
        }
        var cells: [Character] = Array(repeating: " ", count: columns)
        for period in periods {
            let first = min(column(of: period.range.lowerBound), columns - 1)
            let last = max(column(of: period.range.upperBound), first + 1)
            for index in first..<last { cells[index] = key(of: period.phase).glyph }
        }
        return String(cells)
    }

    /// The legend of the bars: each character with the title of its phase.
    static var legend: String {
        let keys = (Phase.allCases as [Phase?] + [nil]).map(key(of:))
        return keys.map { "\($0.glyph) \($0.title)" }.joined(separator: "  ")
    }

    private static func key(of phase: Phase?) -> (glyph: Character, title: String) {
        switch phase {
        case .queue: (".", "queue")
        case .domainLookup: ("?", "name lookup")
        case .connect: ("+", "connect")
        case .secureConnection: ("*", "TLS")
        case .request: (">", "request")
        case .wait: ("=", "wait")
        case .response: ("<", "response")
        case nil: ("-", "unknown")
        }
    }
}

// MARK: - Formatting

extension String {
    /// Returns the string in exactly `columns` columns of a terminal, truncated or padded if necessary.
    ///
    /// Each Unicode scalar counts as one column, even if a terminal draws it wider.
    func fitted(to columns: Int, alignedRight: Bool = false) -> String {
        let count = unicodeScalars.count
        if count > columns { return String(unicodeScalars.prefix(max(0, columns - 1))) + (columns > 0 ? "…" : "") }
        let padding = String(repeating: " ", count: columns - count)
        return alignedRight ? padding + self : self + padding
    }
}

extension Duration {
    /// The duration for display: milliseconds below ten seconds, otherwise seconds, with one decimal digit.
    var displayString: String {
        let microseconds = wholeMicroseconds
        let isLong = microseconds.magnitude >= 10_000_000
        let tenths = (microseconds.magnitude + (isLong ? 50_000 : 50)) / (isLong ? 100_000 : 100)
        return "\(microseconds < 0 && tenths > 0 ? "-" : "")\(tenths / 10).\(tenths % 10) \(isLong ? "s" : "ms")"
    }

    /// The duration in microseconds, limited to thirty thousand years, because it may come from a server, and overflow
    /// traps.
    var wholeMicroseconds: Int64 {
        let limit = Duration.seconds(1_000_000_000_000)
        let components = Swift.min(Swift.max(self, .zero - limit), limit).components
        return components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
