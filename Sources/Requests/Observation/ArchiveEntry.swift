// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One exchange in the form of the HTTP archive, HAR 1.2; the form doesn't depend on the recorder.
package struct ArchiveEntry: Sendable {
    /// The time at which it began, such as `2026-11-21T10:00:00.000Z`.
    package var started: String
    package var method: HTTPMethod
    package var url: String
    package var requestHeaders: HTTPHeaders
    /// The content of the request; `nil` if it wasn't recorded.
    package var requestBody: Data?
    /// The byte count of the request's content; `nil` if it isn't known.
    package var requestBodySize: Int64?
    /// The head of the response; `nil` if none was received.
    package var response: HTTPResponseHead?
    /// The content of the response, decoded; `nil` if it wasn't recorded.
    package var responseBody: Data?
    /// The byte count of the content, decoded; `nil` if it isn't known.
    package var responseBodySize: Int64?
    package var error: RequestError.Code?
    /// The metrics of the exchange, if they are known.
    package var metrics: Metrics?
    /// Values for which the standard has no place, by names that begin with `_`.
    package var extras: [String: JSONValue] = [:]
    package var comment: String?
    var timings: ArchiveTimings

    /// Makes an entry without content.
    package init(
        started: String,
        method: HTTPMethod,
        url: String,
        headers: HTTPHeaders,
        metrics: Metrics?,
        failed: Bool
    ) {
        let segments = metrics?.segments(failed: failed) ?? []
        self.init(started: started, method: method, url: url, headers: headers, metrics: metrics, segments: segments)
    }

    init(
        started: String,
        method: HTTPMethod,
        url: String,
        headers: HTTPHeaders,
        metrics: Metrics?,
        segments: [RequestTimeline.Span.Segment]
    ) {
        self.started = started
        self.method = method
        self.url = url
        self.requestHeaders = headers
        self.metrics = metrics
        timings = ArchiveTimings(segments)
    }

    /// An archive of entries, in their order.
    package static func log(_ entries: [ArchiveEntry], redacts: Bool) -> JSONValue {
        [
            "log": [
                "version": "1.2",
                "creator": ["name": "Requests", "version": "1"],
                "entries": .array(entries.map { $0.json(redacts: redacts) }),
            ]
        ]
    }

    /// The entry as JSON; with `redacts`, without values that are secrets by their place or their name.
    func json(redacts: Bool) -> JSONValue {
        let address = redacts ? Redaction.address(url) : url
        var members: [String: JSONValue] = [
            "startedDateTime": .string(started),
            "time": timings.total,
            "request": request(String(address.prefix { $0 != "#" }), redacts),
            "response": response(redacts),
            "cache": [:],
            "timings": timings.value,
        ]
        if let comment { members["comment"] = .string(comment) }
        return .object(members.merging(extras) { first, _ in first })
    }

    private func request(_ address: String, _ redacts: Bool) -> JSONValue {
        var members: [String: JSONValue] = [
            "method": .string(method.rawValue),
            "url": .string(address),
            "httpVersion": version,
            "cookies": [],
            "headers": json(requestHeaders, redacts),
            "queryString": query(address),
            "headersSize": size(metrics?.requestHeadSize),
            "bodySize": size(requestBodySize ?? metrics?.requestBodySize),
        ]
        if let body = requestBody, !body.isEmpty {
            let type = requestHeaders[.contentType]
            let shown = redacts ? Redaction.content(body, of: requestHeaders) : body
            var content = ArchiveContent(shown, type: type).members
            // The standard has no base64 for requests; this is the name that it has in responses.
            content["_encoding"] = content.removeValue(forKey: "encoding")
            let size = requestBodySize ?? Int64(body.count)
            content["_missing"] = missing(of: size, from: shown.isEmpty ? shown : body).map(JSONValue.integer)
            members["postData"] = .object(content.merging(["mimeType": .string(type ?? "")]) { $1 })
        }
        return .object(members)
    }

    private func response(_ redacts: Bool) -> JSONValue {
        let headers = response?.headers ?? []
        let type = headers[.contentType]
        let length = metrics?.responseBodySize
        var content: [String: JSONValue] = [
            "size": size(responseBodySize ?? length),
            "mimeType": .string(type ?? "x-unknown"),
        ]
        if let body = responseBody, response != nil {
            let shown = redacts ? Redaction.content(body, type: type) : body
            content.merge(ArchiveContent(shown, type: type).members) { $1 }
            let whole = responseBodySize ?? Int64(body.count)
            let missing = missing(of: whole, from: shown.isEmpty ? shown : body)
            content["_missing"] = missing.map(JSONValue.integer)
            let (size, isTooLarge) = Int64(shown.count).addingReportingOverflow(missing ?? 0)
            content["size"] = .integer(isTooLarge ? .max : size)
        }
        var members: [String: JSONValue] = [
            "status": .integer(Int64(response?.status.code ?? 0)),
            "statusText": .string(response?.status.name ?? ""),
            "httpVersion": version,
            "cookies": [],
            "headers": json(headers, redacts),
            "content": .object(content),
            "redirectURL": .string(headers[fields: .location].first.map { value(of: $0, redacts) } ?? ""),
            "headersSize": size(metrics?.responseHeadSize),
            "bodySize": size(length),
        ]
        if let error { members["_error"] = .string(error.name) }
        return .object(members)
    }

    private func json(_ headers: HTTPHeaders, _ redacts: Bool) -> JSONValue {
        .array(headers.map { ["name": .string($0.name.rawValue), "value": .string(value(of: $0, redacts))] })
    }

    private func value(of field: HTTPField, _ redacts: Bool) -> String {
        redacts ? Redaction.value(of: field) : field.value
    }

    private func query(_ address: String) -> JSONValue {
        let pairs = AddressParts(address)?.query?.split(separator: "&") ?? []
        return .array(
            pairs.map { pair in
                let name = pair.prefix { $0 != "=" }
                return ["name": text(name), "value": text(pair.dropFirst(name.count + 1))]
            }
        )
    }

    private func text(_ encoded: Substring) -> JSONValue {
        .string(encoded.removingPercentEncoding ?? String(encoded))
    }

    /// The number of bytes behind the recorded ones; `nil` if all were recorded.
    private func missing(of size: Int64?, from body: Data?) -> Int64? {
        let missing = max(0, size ?? 0) - Int64(body?.count ?? 0)
        return missing > 0 ? missing : nil
    }

    private func size(_ bytes: Int64?) -> JSONValue {
        .integer(bytes ?? -1)
    }

    /// The version as in a request line, converted from that of ALPN if necessary.
    private var version: JSONValue {
        switch metrics?.networkProtocol {
        case "http/1.0": "HTTP/1.0"
        case "http/1.1": "HTTP/1.1"
        case "h2": "HTTP/2"
        case "h3": "HTTP/3"
        case let name: .string(name ?? "")
        }
    }
}

/// Content as in an HTTP archive: as text if that gives the same bytes again, else in base64.
struct ArchiveContent {
    let members: [String: JSONValue]

    init(_ data: Data, type: String?) {
        if let text = Self.text(data, type) {
            members = ["text": .string(text)]
        } else {
            members = ["text": .string(data.base64EncodedString()), "encoding": "base64"]
        }
    }

    private static func text(_ data: Data, _ type: String?) -> String? {
        // A reader would decode the text in the encoding that the type names, and get other bytes.
        let charset = type.flatMap { try? MediaType(parsing: $0) }?.charset
        if let charset, !["utf-8", "utf8"].contains(charset.lowercased()) { return nil }
        guard let text = String(utf8: data) else { return nil }
        // Some readers drop the mark at the beginning, and NUL is a sign of binary data.
        return text.unicodeScalars.first == "\u{FEFF}" || text.utf8.contains(0) ? nil : text
    }
}

/// The phases of an exchange as in an HTTP archive, in milliseconds; -1 for one that didn't happen or isn't known.
struct ArchiveTimings: Sendable {
    private var microseconds: [String: Int64] = ["send": 0, "wait": 0, "receive": 0]

    init(_ segments: [RequestTimeline.Span.Segment]) {
        for segment in segments {
            // The difference of two rounded ends, so that the rounded phases add up to the rounded whole.
            let duration = segment.range.upperBound.wholeMicroseconds - segment.range.lowerBound.wholeMicroseconds
            microseconds[Self.name(of: segment.activity), default: 0] += duration
            if segment.activity == .phase(.secureConnect) { microseconds["ssl"] = duration }
        }
    }

    var value: JSONValue {
        let names = ["blocked", "dns", "connect", "ssl", "send", "wait", "receive"]
        return .object(
            Dictionary(names.map { ($0, microseconds[$0].map(Self.milliseconds) ?? -1) }) { first, _ in first }
        )
    }

    /// The sum of all phases, except TLS, which is included in that of the connection.
    var total: JSONValue {
        Self.milliseconds(microseconds.filter { $0.key != "ssl" }.values.reduce(0, +))
    }

    private static func name(of activity: RequestTimeline.Span.Segment.Activity) -> String {
        switch activity {
        case .phase(.queue): "blocked"
        case .phase(.nameLookup): "dns"
        case .phase(.connect), .phase(.secureConnect): "connect"
        case .phase(.request): "send"
        case .phase(.response): "receive"
        case .phase(.wait), .failing, .unknown: "wait"
        }
    }

    private static func milliseconds(_ microseconds: Int64) -> JSONValue {
        .double(Double(microseconds) / 1000)
    }
}

// MARK: - HAR

extension RequestTimeline {
    /// The attempts as an HTTP archive, HAR 1.2, which the network tab of any browser opens.
    ///
    /// Each attempt is an entry, redirects and retries included, in the order of their beginnings. Unknown values are
    /// -1 or empty: contents aren't recorded, nor are addresses of servers. An attempt without a response has the
    /// status 0, as browsers write it, and its error in `_error`. `_operation`, `_attempt` and `_cause` identify an
    /// entry.
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
