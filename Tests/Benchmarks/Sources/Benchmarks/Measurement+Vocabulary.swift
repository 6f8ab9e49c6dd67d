// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// The parts of a request, and the same with Foundation alone, as written by hand.
extension Measurement {
    static let vocabulary = templates + headers + queries + forms + multipart + urlRequests

    private static func often<Value>(_ name: String, _ work: @escaping @Sendable () throws -> Value) -> Measurement {
        Measurement(name: name) { try Usage.measureOften { keep(try work()) } }
    }

    /// Uses a value, so that the optimiser can't remove its computation.
    @inline(never) @_optimize(none)
    private static func keep<Value>(_ value: Value) {}

    // MARK: Addresses

    private static let base = URL(string: "https://api.example.com/v1")!

    private static let templates: [Measurement] = {
        let template: URITemplate = "/users/{user}/posts{?page,tags*}"
        let user = "jürgen mayer"
        return [
            often("template-expand-ours") {
                try template.expand(["user": user, "page": 2, "tags": ["a", "b c"]])
            },
            often("template-expand-foundation") {
                var components = URLComponents()
                components.path = "/users/\(user)/posts"
                components.queryItems = [
                    URLQueryItem(name: "page", value: "2"), URLQueryItem(name: "tags", value: "a"),
                    URLQueryItem(name: "tags", value: "b c"),
                ]
                return components.string
            },
            often("template-parse-ours") { try URITemplate(String(template.description)) },
        ]
    }()

    // MARK: Headers

    private static let fields = [
        ("Host", "api.example.com"), ("User-Agent", "Recipes/2.1"), ("Accept", "application/json"),
        ("Accept-Language", "en-GB, en;q=0.9"), ("Content-Type", "application/json"), ("X-Request-ID", "0123456789"),
        ("If-None-Match", "\"xyzzy\""), ("Cache-Control", "no-cache"), ("Authorization", "Bearer abc"),
        ("X-Last", "here"),
    ]

    private static let headers: [Measurement] = {
        let names = fields.map { HTTPField.Name($0.0) }
        let ours = HTTPHeaders(fields.map { HTTPField(HTTPField.Name($0.0), $0.1) })
        var theirs = URLRequest(url: base)
        for (name, value) in fields { theirs.setValue(value, forHTTPHeaderField: name) }
        let request = theirs
        return [
            often("headers-look-up-ours") { (ours["content-type"], ours["X-Last"], ours["X-Missing"]) },
            often("headers-look-up-foundation") {
                (
                    request.value(forHTTPHeaderField: "content-type"), request.value(forHTTPHeaderField: "X-Last"),
                    request.value(forHTTPHeaderField: "X-Missing")
                )
            },
            often("headers-build-ours") {
                var headers = HTTPHeaders()
                for (name, field) in zip(names, fields) { headers.set(field.1, for: name) }
                return headers
            },
            often("headers-build-foundation") {
                var request = URLRequest(url: base)
                for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
                return request
            },
        ]
    }()

    // MARK: Queries and forms

    private struct Search: Codable {
        struct Page: Codable {
            var number = 2
            var size = 50
        }
        var text = "pancakes & crêpes"
        var tags = ["sweet", "quick"]
        var page = Page()
        var isVegan = false
        var maximum = 12.5
    }

    private static let pairs = (0..<10).map { ("name\($0)", "a value & grün \($0)") }
    private static let query = Query(pairs.map { Query.Item($0.0, value: $0.1) })
    private static let items = pairs.map { URLQueryItem(name: $0.0, value: $0.1) }

    private static let queries: [Measurement] = {
        let text = query.percentEncoded
        let search = Search()
        let encoder = QueryEncoder()
        return [
            often("query-print-ours") { query.percentEncoded },
            often("query-print-foundation") {
                var components = URLComponents()
                components.queryItems = items
                return components.percentEncodedQuery
            },
            often("query-read-ours") { Query(percentEncoded: text) },
            often("query-read-foundation") {
                var components = URLComponents()
                components.percentEncodedQuery = text
                return components.queryItems
            },
            often("query-encodable-ours") { try encoder.encode(search).percentEncoded },
            // Foundation has no query encoder; its JSON encoder is the nearest.
            often("query-encodable-foundation") { try JSONEncoder().encode(search) },
            often("query-dictionary-ours") {
                try encoder.encode(["text": "pancakes & crêpes", "tags": ["sweet", "quick"], "page": 2]).percentEncoded
            },
            often("query-dictionary-foundation") {
                let object: [String: Any] = ["text": "pancakes & crêpes", "tags": ["sweet", "quick"], "page": 2]
                return try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
            },
        ]
    }()

    private static let forms: [Measurement] = {
        let search = Search()
        return [
            often("form-items-ours") { try HTTPBody.form(query).data() },
            often("form-items-foundation") {
                var components = URLComponents()
                components.queryItems = items
                return components.percentEncodedQuery?.replacingOccurrences(of: "%20", with: "+").data(using: .utf8)
            },
            often("form-encodable-ours") { try HTTPBody.form(search).data() },
            often("form-encodable-foundation") { try JSONEncoder().encode(search) },
        ]
    }()

    // MARK: Multipart

    private static let multipart: [Measurement] = {
        let file = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        return [
            often("multipart-fields-ours") {
                var form = MultipartForm()
                for (name, value) in pairs { form.add(value, for: name) }
                return try HTTPBody.multipart(form).data()
            },
            often("multipart-fields-foundation") {
                let boundary = UUID().uuidString
                var data = Data()
                for (name, value) in pairs {
                    data += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n".utf8
                    data += Data(value.utf8) + "\r\n".utf8
                }
                return data + "--\(boundary)--\r\n".utf8
            },
            often("multipart-megabyte-ours") { try sent(.multipart { $0.add(.data(file), for: "file") }) },
            often("multipart-megabyte-foundation") {
                let boundary = UUID().uuidString
                var data = Data()
                data += "--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n".utf8
                data += file
                data += "\r\n--\(boundary)--\r\n".utf8
                return try sent(.data(data))
            },
        ]
    }()

    /// Reads a body as a transport does, in pieces of 64 KiB, and returns the byte count.
    private static func sent(_ body: HTTPBody) throws -> Int {
        let stream: InputStream
        switch try body.resolved().content {
        case .stream(let source): stream = try source.open()
        case .data(let data): stream = InputStream(data: data)
        case .none, .file: return 0
        }
        stream.open()
        defer { stream.close() }
        var count = 0
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 65_536) { buffer in
            guard let start = buffer.baseAddress else { return }
            var read = stream.read(start, maxLength: buffer.count)
            while read > 0 {
                count += read
                read = stream.read(start, maxLength: buffer.count)
            }
            if read < 0 { throw CocoaError(.fileReadUnknown) }
        }
        return count
    }

    // MARK: Requests

    private static let urlRequests: [Measurement] = [
        often("request-ours") {
            try HTTPRequest("/users/1").addingHeader(HTTPField("X-Request-ID", "1")).query(["page": 2, "q": "a b"])
                .toURLRequest(baseURL: base)
        },
        often("request-typed-ours") {
            try Get<Todo>("users", "1").addingHeader(HTTPField("X-Request-ID", "1")).query(["page": 2, "q": "a b"])
                .toURLRequest(baseURL: base)
        },
        often("request-foundation") {
            var components = URLComponents(url: base, resolvingAgainstBaseURL: true)!
            components.path += "/users/1"
            components.queryItems = [URLQueryItem(name: "page", value: "2"), URLQueryItem(name: "q", value: "a b")]
            var request = URLRequest(url: components.url!)
            request.setValue("application/json", forHTTPHeaderField: "Accept")
            request.setValue("1", forHTTPHeaderField: "X-Request-ID")
            return request
        },
    ]
}
