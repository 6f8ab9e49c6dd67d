// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request and its response in the HTTP archive format (HAR 1.2), no matter which recorder captured them.
package struct ArchiveEntry: Sendable {
    package var started: Date
    package var method: HTTPMethod
    package var url: String
    package var requestHeaders: HTTPHeaders
    package var metrics: TransferRecord.Metrics
    /// The content of the request; `nil` if it wasn't recorded.
    package var requestBody: Data?
    /// The byte count of the request's content; `nil` if unknown.
    package var requestBodySize: Int64?
    /// The head of the response; `nil` if none was received.
    package var response: HTTPResponseHead?
    /// The decoded content of the response; `nil` if it wasn't recorded.
    package var responseBody: Data?
    /// The byte count of the decoded content; `nil` if unknown.
    package var responseBodySize: Int64?
    package var error: RequestError.Code?
    /// Additional members: a comment, and values that the standard doesn't define, under names that begin with `_`.
    package var extras: [String: JSONValue] = [:]

    /// Creates an entry without content.
    package init(started: Date, method: HTTPMethod, url: String, headers: HTTPHeaders, metrics: TransferRecord.Metrics)
    {
        self.started = started
        self.method = method
        self.url = url
        self.requestHeaders = headers
        self.metrics = metrics
    }

    /// Returns an archive of entries, in their order.
    package static func archive(_ entries: [ArchiveEntry], redacts: Bool) -> JSONValue {
        [
            "log": [
                "version": "1.2",
                "creator": ["name": "Requests", "version": "1"],
                "entries": .array(entries.map { $0.json(redacts: redacts) }),
            ]
        ]
    }

    /// Returns the entry as JSON; with `redacts`, without values whose position or name marks them as secrets.
    private func json(redacts: Bool) -> JSONValue {
        let timings = self.timings
        let members: [String: JSONValue] = [
            "startedDateTime": .string(started.timestamp),
            "time": Self.milliseconds(timings.filter { $0.key != "ssl" }.values.reduce(0, +)),
            "request": request(redacts),
            "response": response(redacts),
            "cache": [:],
            "timings": .object(
                Dictionary(uniqueKeysWithValues: Self.phases.map { ($0, timings[$0].map(Self.milliseconds) ?? -1) })
            ),
        ]
        return .object(members.merging(extras) { first, _ in first })
    }

    private func request(_ redacts: Bool) -> JSONValue {
        let address = String((redacts ? Redaction.address(url) : url).prefix { $0 != "#" })
        var members = message(requestHeaders, head: metrics.requestHeadSize, redacts)
        members["method"] = .string(method.rawValue)
        members["url"] = .string(address)
        let query = Query(percentEncoded: String(AddressParts(address)?.query ?? ""))
        members["queryString"] = .array(
            query.map { ["name": .string($0.name), "value": .string($0.value ?? "")] }
        )
        members["bodySize"] = .integer(requestBodySize ?? metrics.requestBodySize ?? -1)
        if let body = requestBody, !body.isEmpty {
            let type = requestHeaders[.contentType]
            let shown = redacts ? Redaction.content(body, of: requestHeaders) ?? Data() : body
            var content = Self.content(body, shown: shown, size: requestBodySize, type: type)
            let size = content.removeValue(forKey: "size")
            // Redacted content has a different length, so report the total of the shown and the missing bytes.
            if requestBodySize != nil { members["bodySize"] = size }
            content["mimeType"] = .string(type ?? "")
            // The standard defines `encoding` only for responses, so requests use a custom member.
            content["_encoding"] = content.removeValue(forKey: "encoding")
            members["postData"] = .object(content)
        }
        return .object(members)
    }

    private func response(_ redacts: Bool) -> JSONValue {
        let headers = response?.headers ?? []
        let type = headers[.contentType]
        var content: [String: JSONValue] = ["size": .integer(responseBodySize ?? metrics.responseBodySize ?? -1)]
        if let body = responseBody, response != nil {
            let shown = redacts ? Redaction.content(body, type: type) ?? Data() : body
            content = Self.content(body, shown: shown, size: responseBodySize, type: type)
        }
        content["mimeType"] = .string(type ?? "x-unknown")
        var members = message(headers, head: metrics.responseHeadSize, redacts)
        members["status"] = .integer(Int64(response?.status.code ?? 0))
        members["statusText"] = .string(response?.status.name ?? "")
        members["content"] = .object(content)
        members["redirectURL"] = .string(headers[fields: .location].first.map { Self.value(of: $0, redacts) } ?? "")
        members["bodySize"] = .integer(metrics.responseBodySize ?? -1)
        if let error { members["_error"] = .string(error.name) }
        return .object(members)
    }

    /// Returns the members that requests and responses have in common.
    private func message(_ headers: HTTPHeaders, head: Int64?, _ redacts: Bool) -> [String: JSONValue] {
        let fields = headers.map { field in
            ["name": .string(field.name.rawValue), "value": .string(Self.value(of: field, redacts))] as JSONValue
        }
        return [
            "httpVersion": .string(version), "cookies": [], "headers": .array(fields),
            "headersSize": .integer(head ?? -1),
        ]
    }

    private static func value(of field: HTTPField, _ redacts: Bool) -> String {
        redacts ? Redaction.value(of: field) : field.value
    }

    /// The HTTP version as in a request line, converted from its ALPN identifier if necessary.
    private var version: String {
        switch metrics.networkProtocol {
        case "http/1.0": "HTTP/1.0"
        case "http/1.1": "HTTP/1.1"
        case "h2": "HTTP/2"
        case "h3": "HTTP/3"
        case let name: name ?? ""
        }
    }

    // MARK: Content

    /// Returns content as text if the text encodes to the same bytes, and otherwise in base64.
    ///
    /// The result also includes the number of bytes that weren't recorded.
    private static func content(_ body: Data, shown: Data, size: Int64?, type: String?) -> [String: JSONValue] {
        var members: [String: JSONValue] =
            if let text = text(shown, type: type) {
                ["text": .string(text)]
            } else {
                ["text": .string(shown.base64EncodedString()), "encoding": "base64"]
            }
        // Omitted content counts as missing, and redacted content may have a different length than the original.
        let missing = max(0, max(0, size ?? Int64(body.count)) - Int64((shown.isEmpty ? shown : body).count))
        if missing > 0 { members["_missing"] = .integer(missing) }
        let (total, isTooLarge) = missing.addingReportingOverflow(Int64(shown.count))
        members["size"] = .integer(isTooLarge ? .max : total)
        return members
    }

    private static func text(_ data: Data, type: String?) -> String? {
        // A reader of the archive would encode the text in the charset of the type, and get different bytes.
        let charset = type.flatMap { try? MediaType(parsing: $0) }?.charset
        if let charset, !["utf-8", "utf8"].contains(charset.lowercased()) { return nil }
        guard let text = String(utf8: data) else { return nil }
        // Some readers drop a byte order mark at the beginning, and NUL indicates binary data.
        return text.unicodeScalars.first == "\u{FEFF}" || text.utf8.contains(0) ? nil : text
    }

    // MARK: Timings

    private static let phases = ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"]

    /// The duration in microseconds of each phase that occurred; the connection phase includes TLS.
    private var timings: [String: Int64] {
        var timings: [String: Int64] = ["send": 0, "wait": 0, "receive": 0]
        for (phase, range) in metrics.periods {
            // Round both ends before the subtraction, so that the rounded phases add up to the rounded total.
            let duration = range.upperBound.wholeMicroseconds - range.lowerBound.wholeMicroseconds
            let name =
                switch phase {
                case .queue: "blocked"
                case .domainLookup: "dns"
                case .connect, .secureConnection: "connect"
                case .request: "send"
                case .response: "receive"
                case .wait, nil: "wait"
                }
            timings[name, default: 0] += duration
            if phase == .secureConnection { timings["ssl"] = duration }
        }
        return timings
    }

    private static func milliseconds(_ microseconds: Int64) -> JSONValue {
        .double(Double(microseconds) / 1000)
    }
}

// MARK: - HAR

extension RecordingMonitor.Timeline {
    /// Returns the transfers as an HTTP archive (HAR 1.2), which the network tab of any browser can open.
    ///
    /// The entries are the transfers, including redirects and retries, in the order in which they started. Unknown
    /// values are -1 or empty, because contents and server addresses aren't recorded. A transfer without a response has
    /// the status 0, as in the archives of browsers, and its error in `_error`. The members `_operation`, `_attempt`
    /// and `_cause` identify an entry. The `comment` of a request to another origin names the header fields that were
    /// withheld.
    ///
    /// - Parameter revealsSecrets: Whether credentials, cookies and other secrets are shown; false by default.
    /// - Returns: JSON in UTF-8.
    /// - Complexity: O(n) in the number of transfers.
    public func har(revealingSecrets revealsSecrets: Bool = false) -> Data {
        let entries = transfers.map { transfer in
            let (request, record) = (transfer.record.request, transfer.record)
            var entry = ArchiveEntry(
                started: date(at: transfer.start),
                method: request.method,
                url: request.url.absoluteString,
                headers: request.headers,
                metrics: transfer.metrics(until: end)
            )
            entry.requestBodySize = entry.metrics.requestBodySize ?? transfer.contentLength
            (entry.response, entry.error) = (record.response, record.error?.code)
            entry.extras = [
                "_operation": .string(transfer.operation.description),
                "_attempt": .integer(Int64(transfer.number)),
                "_cause": .string("\(record.cause)"),
            ]
            let comments = [transfer.end == nil ? "unfinished" : nil, request.withheldText].compactMap(\.self)
            if !comments.isEmpty { entry.extras["comment"] = .string(comments.joined(separator: "; ")) }
            return entry
        }
        return ArchiveEntry.archive(entries, redacts: !revealsSecrets).serialized
    }
}
