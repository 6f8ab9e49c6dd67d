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
        let archive = HTTPArchive(self, redacts: !revealsSecrets)
        return archive.log.serialized
    }
}

/// A timeline in the form of the HTTP archive.
private struct HTTPArchive {
    private let timeline: RequestTimeline
    private let redacts: Bool

    init(_ timeline: RequestTimeline, redacts: Bool) {
        self.timeline = timeline
        self.redacts = redacts
    }

    var log: JSONValue {
        let attempts = timeline.entries.flatMap { entry in
            entry.steps.compactMap { step -> (RequestTimeline.Entry, RequestTimeline.Span)? in
                guard case .attempt(let span) = step else { return nil }
                return (entry, span)
            }
        }
        let ordered = attempts.enumerated().sorted { ($0.element.1.start, $0.offset) < ($1.element.1.start, $1.offset) }
        return [
            "log": [
                "version": "1.2",
                "creator": ["name": "Requests", "version": "1"],
                "entries": .array(ordered.map { entry(of: $0.element.0, $0.element.1) }),
            ]
        ]
    }

    private func entry(of entry: RequestTimeline.Entry, _ span: RequestTimeline.Span) -> JSONValue {
        let timings = Timings(span, until: timeline.end)
        var members: [String: JSONValue] = [
            "startedDateTime": .string(timeline.timestamp(at: span.start)),
            "time": timings.total,
            "request": request(span),
            "response": response(span),
            "cache": [:],
            "timings": timings.value,
            "_operation": .string(entry.operation.description),
            "_attempt": .integer(Int64(span.number)),
            "_cause": .string("\(span.cause)"),
        ]
        if span.end == nil { members["comment"] = "not over" }
        return .object(members)
    }

    private func request(_ span: RequestTimeline.Span) -> JSONValue {
        let url = span.request.url.absoluteString
        let address = redacts ? Redaction.address(url) : url
        return [
            "method": .string(span.request.method.rawValue),
            "url": .string(String(address.prefix { $0 != "#" })),
            "httpVersion": version(span),
            "cookies": [],
            "headers": headers(span.request.headers),
            "queryString": query(address),
            "headersSize": size(span.metrics?.requestHeadSize),
            "bodySize": size(span.metrics?.requestBodySize ?? span.contentLength),
        ]
    }

    private func response(_ span: RequestTimeline.Span) -> JSONValue {
        let head = span.response
        let headers = head?.headers ?? []
        let length = span.metrics?.responseBodySize
        var members: [String: JSONValue] = [
            "status": .integer(Int64(head?.status.code ?? 0)),
            "statusText": .string(head?.status.name ?? ""),
            "httpVersion": version(span),
            "cookies": [],
            "headers": self.headers(headers),
            "content": [
                "size": size(length),
                "mimeType": .string(headers[.contentType] ?? "x-unknown"),
            ],
            "redirectURL": .string(headers[fields: .location].first.map(value) ?? ""),
            "headersSize": size(span.metrics?.responseHeadSize),
            "bodySize": size(length),
        ]
        if let error = span.error { members["_error"] = .string(error.name) }
        return .object(members)
    }

    private func headers(_ headers: HTTPHeaders) -> JSONValue {
        .array(headers.map { ["name": .string($0.name.rawValue), "value": .string(value(of: $0))] })
    }

    private func value(of field: HTTPField) -> String {
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

    private func size(_ bytes: Int64?) -> JSONValue {
        .integer(bytes ?? -1)
    }

    /// The version as it stands in a request line, where that of ALPN isn't already.
    private func version(_ span: RequestTimeline.Span) -> JSONValue {
        switch span.metrics?.networkProtocol {
        case "http/1.0": "HTTP/1.0"
        case "http/1.1": "HTTP/1.1"
        case "h2": "HTTP/2"
        case "h3": "HTTP/3"
        case let name: .string(name ?? "")
        }
    }
}

/// The phases of an attempt as the archive has them, in milliseconds; -1 for one that didn't happen or isn't known of.
private struct Timings {
    private var microseconds: [String: Int64] = ["send": 0, "wait": 0, "receive": 0]

    init(_ span: RequestTimeline.Span, until now: Duration) {
        for segment in span.segments(until: now) {
            // Of two rounded ends, so that the rounded phases add up to the rounded whole.
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

    /// The sum of all phases, but for that of TLS, which is in that of the connection already.
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
