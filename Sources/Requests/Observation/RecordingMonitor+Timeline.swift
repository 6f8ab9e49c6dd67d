// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RecordingMonitor {
    /// The recorded transfers with their times and outcomes: a value that can be drawn.
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
    public struct Timeline: Sendable {
        /// The time at which the recording began.
        public internal(set) var start: Date
        /// The time at which this value was made; like all times here, since the start.
        public internal(set) var end: Duration
        /// The transfers, in the order of their beginnings: first requests, redirects and retries.
        public internal(set) var transfers: [Transfer] = []
        /// The number of older transfers that were dropped, because of the recorder's limit.
        public internal(set) var forgotten = 0

        /// One request that was passed to the transport.
        public struct Transfer: Sendable {
            /// The operation that sent it.
            public internal(set) var operation: OperationEvent.Info
            /// The number of the transfer in the operation, from 1.
            public let number: Int
            /// The byte count of the request's content, if it was known.
            public let contentLength: Int64?
            /// The time at which it began.
            public let start: Duration
            /// The time at which it ended; `nil` before its end.
            public internal(set) var end: Duration?
            /// The request and its outcome, without contents, and without credentials that are added later.
            public internal(set) var record: TransferRecord

            /// What was measured, limited to the observed period; for a transfer that isn't over, only its duration.
            func metrics(until now: Duration) -> TransferRecord.Metrics {
                let seen = max(.zero, (end ?? now) - start)
                var metrics = (end == nil ? nil : record.metrics) ?? TransferRecord.Metrics()
                metrics.end = min(max(.zero, metrics.end ?? seen), seen)
                return metrics
            }
        }
    }
}

extension RecordingMonitor.Timeline {
    /// The timeline as bars for a terminal, without secrets: a line for each transfer.
    ///
    /// ```
    /// 4 transfers, from 2026-11-21T10:00:00.005Z
    /// #1.1 “profile” GET https://example.com/users… +*>=<                      28.0 ms 302
    /// #1.2 “profile” redirect GET https://example.…       --                   10.0 ms 503
    /// #1.3 “profile” retry GET https://example.com…                   -         5.0 ms 200
    /// #2.1 GET https://example.com/users/1                             ----   not over
    /// . queue  ? name lookup  + connect  * TLS  > request  = wait  < response  - not known
    /// ```
    ///
    /// Below a request to another origin, a line has the names of the fields that stayed behind:
    /// ``TransferRecord/withheldHeaders``.
    ///
    /// `#1.2` is the second transfer of the operation whose ``OperationEvent/Info/id`` is 1. All bars have the same
    /// scale, from the first beginning to the last end; the last line is a legend. Bars of unfinished transfers reach
    /// to the end.
    ///
    /// - Parameter width: The number of columns; 120 by default, and at least 85.
    /// - Returns: Lines of at most that width, without a break behind the last.
    /// - Complexity: O(n) in the number of transfers.
    public func text(width: Int = 120) -> String {
        let width = min(max(85, width), 10_000)
        let labelColumns = width * 9 / 20
        let begin = transfers.first?.start ?? .zero
        let span = begin..<max(begin, transfers.map { $0.end ?? end }.max() ?? begin)
        let count = "\(transfers.count) transfer\(transfers.count == 1 ? "" : "s")"
        let title = "\(count)\(forgotten > 0 ? ", \(forgotten) forgotten" : ""), from \(date(at: begin).timestamp)"
        let rows = transfers.flatMap { transfer in
            let metrics = transfer.metrics(until: end)
            let bar = TransferRecord.Metrics.bar(
                of: metrics.periods.filter { !$0.range.isEmpty },
                from: transfer.start,
                in: span,
                columns: width - labelColumns - 32
            )
            let time = transfer.end == nil ? "not over" : metrics.end?.displayString ?? ""
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
    /// The time in ISO 8601, such as `2026-11-21T10:00:00.000Z`; of the years 1 to 9999.
    package var timestamp: String {
        let limits = -62_135_596_800.0...253_402_300_799
        let seconds = timeIntervalSince1970.isNaN ? 0 : timeIntervalSince1970
        // Milliseconds are cut off, and a binary fraction may be just below one.
        let date = Date(timeIntervalSince1970: min(max(seconds, limits.lowerBound), limits.upperBound) + 0.000_1)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Reads a time in ISO 8601, with or without a fraction of a second, in Greenwich or with an offset, such as
    /// `2026-11-21T11:00:00.000+01:00`; `nil` for any other text.
    package init?(timestamp: String) {
        let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        let all = timestamp.startIndex..<timestamp.endIndex
        // Parsing alone would ignore text behind the time.
        let times = styles.lazy.compactMap { try? $0.consuming(timestamp, startingAt: all.lowerBound, in: all) }
        guard let time = times.first(where: { $0.upperBound == all.upperBound }) else { return nil }
        self = time.output
    }
}
