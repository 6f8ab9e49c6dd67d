// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RecordingMonitor {
    /// The recorded transfers, with their times and outcomes.
    ///
    /// A ``RecordingMonitor`` creates a timeline, which can be drawn in two ways: ``text(width:)`` for a terminal or a
    /// log, and ``har(revealingSecrets:)`` for the network tab of a browser.
    ///
    /// ```swift
    /// print(recorder.timeline.text())
    /// try recorder.timeline.har().write(to: folder.appending(path: "requests.har"))
    /// ```
    ///
    /// A timeline contains the requests without their contents, but with their secrets. The drawings omit secrets.
    public struct Timeline: Sendable {
        /// The time at which the recording began.
        public internal(set) var start: Date
        /// The time at which this value was created, relative to ``start`` like all times here.
        public internal(set) var end: Duration
        /// The transfers in the order in which they started, including redirects and retries.
        public internal(set) var transfers: [Transfer] = []
        /// The number of older transfers that were dropped because of the recorder's limit.
        public internal(set) var droppedCount = 0

        /// A request that was passed to the transport.
        public struct Transfer: Sendable {
            /// The operation that sent the request.
            public internal(set) var operation: OperationEvent.Info
            /// The number of the transfer in the operation, starting at 1.
            public let number: Int
            /// The byte count of the request's content, if it was known.
            public let contentLength: Int64?
            /// The time at which the transfer started.
            public let start: Duration
            /// The time at which the transfer ended; `nil` for a running transfer.
            public internal(set) var end: Duration?
            /// The request and its outcome, without contents, and without credentials that are added later.
            public internal(set) var record: TransferRecord

            /// Returns the metrics, limited to the observed period; for an unfinished transfer, only the duration.
            func metrics(until now: Duration) -> TransferRecord.Metrics {
                let observed = max(.zero, (end ?? now) - start)
                var metrics = (end == nil ? nil : record.metrics) ?? TransferRecord.Metrics()
                metrics.end = min(max(.zero, metrics.end ?? observed), observed)
                return metrics
            }
        }
    }
}

extension RecordingMonitor.Timeline {
    /// Returns the timeline as bars for a terminal, one line per transfer, without secrets.
    ///
    /// ```
    /// 4 transfers, from 2026-11-21T10:00:00.005Z
    /// #1.1 “profile” GET https://example.com/users… +*>=<                      28.0 ms 302
    /// #1.2 “profile” redirect GET https://example.…       --                   10.0 ms 503
    /// #1.3 “profile” retry GET https://example.com…                   -         5.0 ms 200
    /// #2.1 GET https://example.com/users/1                             ---- unfinished
    /// . queue  ? name lookup  + connect  * TLS  > request  = wait  < response  - unknown
    /// ```
    ///
    /// Below a request to another origin, a line lists the header fields that were withheld
    /// (``TransferRecord/withheldHeaders``).
    ///
    /// `#1.2` is the second transfer of the operation whose ``OperationEvent/Info/id`` is 1. All bars have the same
    /// scale, from the first start to the last end. The last line is a legend. The bars of unfinished transfers extend
    /// to the end.
    ///
    /// - Parameter width: The number of columns; 120 by default, and at least 85.
    /// - Returns: Lines of at most that width, without a trailing line break.
    /// - Complexity: O(n) in the number of transfers.
    public func text(width: Int = 120) -> String {
        let width = min(max(85, width), 10_000)
        let labelColumns = width * 9 / 20
        let begin = transfers.first?.start ?? .zero
        let span = begin..<max(begin, transfers.map { $0.end ?? end }.max() ?? begin)
        let count = transfers.count.counting("transfer")
        let title = "\(count)\(droppedCount > 0 ? ", \(droppedCount) dropped" : ""), from \(date(at: begin).timestamp)"
        let rows = transfers.flatMap { transfer in
            let metrics = transfer.metrics(until: end)
            let bar = TransferRecord.Metrics.bar(
                of: metrics.periods.filter { !$0.range.isEmpty },
                from: transfer.start,
                in: span,
                columns: width - labelColumns - 32
            )
            let time = transfer.end == nil ? "unfinished" : metrics.end?.displayString ?? ""
            let label = transfer.label.fitted(to: labelColumns)
            let line = "\(label) \(bar)\(time.fitted(to: 11, alignedRight: true))\(transfer.result)"
            let note = transfer.record.request.withheldText.map { "     \($0)".shortened(to: width - 1) }
            return [line, note].compactMap(\.self)
        }
        return ([title] + rows + [TransferRecord.Metrics.legend]).joined(separator: "\n")
    }

    func date(at time: Duration) -> Date { start.addingTimeInterval(time / .seconds(1)) }
}

extension RecordingMonitor.Timeline.Transfer {
    fileprivate var label: String {
        let tag = operation.tag.map { " “\($0.shortened())”" } ?? ""
        let cause = record.cause == .initial ? "" : " \(record.cause)"
        return "#\(operation.id).\(number)\(tag)\(cause) \(record.request)".shortened(to: 256)
    }

    fileprivate var result: String {
        let result = record.error?.code.name ?? record.response.map { "\($0.status.code)" }
        return result.map { " " + $0.shortened(to: 18) } ?? ""
    }
}

// MARK: - Timestamp

extension Date {
    /// The time in ISO 8601, such as `2026-11-21T10:00:00.000Z`, limited to the years 1 to 9999.
    package var timestamp: String {
        let limits = -62_135_596_800.0...253_402_300_799
        let seconds = timeIntervalSince1970.isNaN ? 0 : timeIntervalSince1970
        // Add a tenth of a millisecond, because the format truncates, and a binary fraction may be just below a
        // millisecond.
        let date = Date(timeIntervalSince1970: min(max(seconds, limits.lowerBound), limits.upperBound) + 0.000_1)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Parses a time in ISO 8601; `nil` for any other string.
    ///
    /// The string may have a fraction of a second, and an offset from UTC, such as `2026-11-21T11:00:00.000+01:00`.
    package init?(timestamp: String) {
        let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        let all = timestamp.startIndex..<timestamp.endIndex
        // By itself, the parser would ignore text after the time.
        let times = styles.lazy.compactMap { try? $0.consuming(timestamp, startingAt: all.lowerBound, in: all) }
        guard let time = times.first(where: { $0.upperBound == all.upperBound }) else { return nil }
        self = time.output
    }
}
