// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestTimeline {
    /// The attempts as an HTTP archive, HAR 1.2, which the network tab of any browser opens.
    ///
    /// An entry is an attempt, redirects and retries included, in the order in which they began. What isn't known is -1
    /// there, or empty: contents aren't recorded, nor are addresses of servers. An attempt without a response has the
    /// status 0, as browsers write it, and its error in `_error`. `_operation`, `_attempt` and `_cause` say where an
    /// entry belongs.
    ///
    /// - Parameter revealsSecrets: Whether credentials, cookies and the like are shown; false by default.
    /// - Returns: JSON in UTF-8.
    /// - Complexity: O(n log n) in the number of attempts.
    public func har(revealingSecrets revealsSecrets: Bool = false) -> Data {
        ArchiveEntry.log(archiveEntries, redacts: !revealsSecrets).serialized
    }

    private var archiveEntries: [ArchiveEntry] {
        let attempts = entries.flatMap { entry in
            entry.steps.compactMap { step -> (Entry, Span)? in
                guard case .attempt(let span) = step else { return nil }
                return (entry, span)
            }
        }
        return attempts.enumerated()
            .sorted { ($0.element.1.start, $0.offset) < ($1.element.1.start, $1.offset) }
            .map { archiveEntry(of: $0.element.0, $0.element.1) }
    }

    private func archiveEntry(of entry: Entry, _ span: Span) -> ArchiveEntry {
        var result = ArchiveEntry(
            started: timestamp(at: span.start),
            method: span.request.method,
            url: span.request.url.absoluteString,
            headers: span.request.headers,
            metrics: span.metrics,
            segments: span.segments(until: end)
        )
        result.requestBodySize = span.metrics?.requestBodySize ?? span.contentLength
        result.response = span.response
        result.error = span.error
        result.extras = [
            "_operation": .string(entry.operation.description),
            "_attempt": .integer(Int64(span.number)),
            "_cause": .string("\(span.cause)"),
        ]
        if span.end == nil { result.comment = "not over" }
        return result
    }
}
