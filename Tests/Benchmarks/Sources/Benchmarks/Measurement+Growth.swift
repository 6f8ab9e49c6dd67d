// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

// The same work for a thousand pieces and for ten thousand: more than about ten times the time isn't linear.
extension Measurement {
    static let growth: [Measurement] = growing(1_000) + growing(10_000)

    private static func growing(_ count: Int) -> [Measurement] {
        let names = (0..<count).map { "name\($0)" }
        return [
            grows("headers", count) { () -> Int in
                var headers = HTTPHeaders()
                for name in names { headers.add("value", for: HTTPField.Name(name)) }
                return headers.count
            },
            grows("headers-merge", count) { () -> Int in
                let headers = HTTPHeaders(names.map { HTTPField(HTTPField.Name($0), "value") })
                return headers.merging(headers).count
            },
            grows("query", count) { () -> Int in
                let query = Query(names.map { Query.Item($0, value: "a b") })
                return Query(percentEncoded: query.percentEncoded).count
            },
            grows("query-encodable", count) { try QueryEncoder().encode(["list": names]).count },
            grows("query-dictionary", count) {
                try QueryEncoder().encode(Dictionary(uniqueKeysWithValues: names.map { ($0, 1 as Any?) })).count
            },
            grows("form", count) { try HTTPBody.form(["list": names]).data()?.count ?? 0 },
            grows("template", count) { () -> Int in
                let template: URITemplate = "/{?list*}"
                return try template.expand(["list": names]).utf8.count
            },
            grows("template-variables", count) { () -> Int in
                let template = try URITemplate(names.map { "{\($0)}" }.joined())
                let values = names.map { ($0, URITemplate.Value.string("x")) }
                return try template.expand(URITemplate.Variables(Dictionary(uniqueKeysWithValues: values))).utf8.count
            },
            grows("multipart", count) { () -> Int in
                try HTTPBody.multipart { form in
                    for name in names { form.add("value", for: name) }
                }.resolved().length.map(Int.init) ?? 0
            },
            grows("media-type", count) { () -> Int in
                let text = "text/plain" + names.map { "; \($0)=value" }.joined()
                return try MediaType(parsing: text).rawValue.utf8.count
            },
            grows("request", count) { () -> Int in
                var request = HTTPRequest("https://example.com/" + names.joined(separator: "/"))
                request.query = Query(names.map { Query.Item($0, value: "a b") })
                for name in names { request.headers.add("value", for: HTTPField.Name(name)) }
                return try request.toURLRequest().url?.absoluteString.utf8.count ?? 0
            },
        ]
    }

    private static func grows(_ name: String, _ count: Int, _ work: @escaping @Sendable () throws -> Int) -> Measurement
    {
        Measurement(name: "\(name)-\(count)") {
            // One run warms up, and each needs a result.
            guard try work() > 0 else { throw CocoaError(.coderInvalidValue) }
            let rounds = 20
            return try Usage.measure(count: rounds) { for _ in 0..<rounds { _ = try work() } }
        }
    }
}
