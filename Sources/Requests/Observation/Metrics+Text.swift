// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Metrics {
    /// The phases of the attempt as bars, one below the other, with what each took.
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
    /// - Parameter width: How many columns there are; 80 by default, and at least 40.
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
