// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The properties of a caller's `URLRequest`, which are all preserved.
@Suite(.bounded) struct HTTPRequestFoundationTests {
    struct Property: Sendable, CustomTestStringConvertible {
        let name: String
        let change: @Sendable (inout URLRequest) -> Void

        init(_ name: String, _ change: @escaping @Sendable (inout URLRequest) -> Void) {
            self.name = name
            self.change = change
        }

        var testDescription: String { name }
    }

    /// The properties that Foundation exposes, each with a value other than its default.
    static let properties = [
        Property("url") { $0.url = URL(string: "https://other.example/x?y=z") },
        Property("cachePolicy") { $0.cachePolicy = .returnCacheDataElseLoad },
        Property("timeoutInterval") { $0.timeoutInterval = 7 },
        Property("mainDocumentURL") { $0.mainDocumentURL = URL(string: "https://page.example") },
        Property("networkServiceType") { $0.networkServiceType = .background },
        Property("allowsCellularAccess") { $0.allowsCellularAccess = false },
        Property("httpMethod") { $0.httpMethod = "PATCH" },
        Property("allHTTPHeaderFields") { $0.allHTTPHeaderFields = ["X-A": "b"] },
        Property("httpBody") { $0.httpBody = Data("body".utf8) },
        Property("httpBodyStream") { $0.httpBodyStream = InputStream(data: Data("stream".utf8)) },
        Property("httpShouldHandleCookies") { $0.httpShouldHandleCookies = false },
    ]

    @Test func tableCoversAllURLRequestProperties() {
        let names = Mirror(reflecting: URLRequest(url: server)).children.compactMap(\.label)

        // Deprecated, and without an effect on platforms where Foundation exposes its properties.
        #expect(Set(Self.properties.map(\.name) + ["httpShouldUsePipelining"]).isSuperset(of: names))
    }

    private func shown(_ request: URLRequest) -> [String: String] {
        let pairs = Mirror(reflecting: request).children.map { label, value in
            // A converted stream is a different object.
            (label ?? "", label == "httpBodyStream" ? "\(request.httpBodyStream != nil)" : "\(value)")
        }
        return Dictionary(pairs) { $1 }
    }

    private func original(_ property: Property) -> URLRequest {
        var request = URLRequest(url: server)
        request.httpMethod = "POST"
        request.allHTTPHeaderFields = [:]
        property.change(&request)
        return request
    }

    @Test(arguments: properties) func urlRequestPropertiesRoundTrip(property: Property) throws {
        let original = original(property)

        let result = try URLRequest(HTTPRequest(original))

        #expect(shown(result) == shown(original))
    }

    @Test(arguments: properties) func modifierChangesProperty(property: Property) async throws {
        var request = HTTPRequest(url: server, method: .post)
        let context = InterceptorChain.Context(identifier: "", attempt: 1)

        try await ClosureInterceptor.modifyingURLRequest { property.change(&$0) }.adapt(&request, context: context)

        #expect(try shown(URLRequest(request)) == shown(original(property)))
    }

    @Test(arguments: [nil, Duration.seconds(10)])
    func modifierCanSetSixtySecondTimeout(timeout: Duration?) async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let client = HTTPClient(transport: transport) { $0.timeout = .seconds(5) }
        var request = Get<Data>().modified { $0.http.url = server }
        request.http.timeout = timeout

        _ = try await client.fetch(request.modifyingURLRequest { $0.timeoutInterval = 60 })
        _ = try await client.fetch(
            request.modifyingURLRequest { #expect($0.timeoutInterval == (timeout == nil ? 5 : 10)) }
        )

        #expect(transport.requests.map(\.transportRequest?.timeout) == [.seconds(60), timeout ?? .seconds(5)])
    }

    // MARK: Cookies

    private struct Quiet: DataRequest {
        typealias Success = Data
        let identifier = "quiet"
        let handlesCookies: Bool
        func makeURLRequest(completion: @escaping BuildCompletion) {
            var request = URLRequest(url: server)
            request.httpShouldHandleCookies = handlesCookies
            completion(.success(request))
        }
    }

    @Test func httpShouldHandleCookiesIsRespected() async throws {
        let jar = CookieJar()
        let transport = InMemoryTransport { _ in .status(.ok, headers: ["Set-Cookie": "b=2"]) }
        let client = HTTPClient(transport: transport) { $0.cookies = jar }
        jar.store([try #require(SetCookie(parsing: "a=1"))], from: server)

        _ = try await client.fetch(Quiet(handlesCookies: false))
        let kept = jar.cookies(for: server).map(\.name)
        _ = try await client.fetch(Quiet(handlesCookies: true))

        #expect(kept == ["a"])
        #expect(transport.requests.map { $0.headers[.cookie] } == [nil, "a=1"])
    }

    @Test func modifierCanDisableCookies() async throws {
        let jar = CookieJar()
        let transport = InMemoryTransport { _ in .status(.ok) }
        let client = HTTPClient(transport: transport) { $0.cookies = jar }
        jar.store([try #require(SetCookie(parsing: "a=1"))], from: server)

        _ = try await client.fetch(
            Get<Data>().modified { $0.http.url = server }.modifyingURLRequest { $0.httpShouldHandleCookies = false }
        )

        #expect(transport.requests.map { $0.headers[.cookie] } == [nil])
    }

    // MARK: Bodies

    private func read(_ request: URLRequest) throws -> Data {
        let stream = try #require(request.httpBodyStream)
        stream.open()
        defer { stream.close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 1024)
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return data }
            data += buffer[..<count]
        }
    }

    @Test func convertsFileBodiesStreamsAndForms() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "a.txt")
        try Data("from disk".utf8).write(to: file)
        let post = Post<Data>("uploads")
        let form = HTTPBody.multipart(boundary: "b") { $0.add(.file(file), for: "f") }

        let ofFile = try post.body(.file(file)).toURLRequest(baseURL: server)
        let ofStream = try post.body(.stream(HTTPBody.Stream { InputStream(data: Data("live".utf8)) }))
            .toURLRequest(baseURL: server)
        let ofForm = try post.body(form).toURLRequest(baseURL: server)

        #expect(try read(ofFile) == Data("from disk".utf8) && read(ofStream) == Data("live".utf8))
        #expect(try String(decoding: read(ofForm), as: UTF8.self).contains("from disk"))
        #expect(ofForm.value(forHTTPHeaderField: "Content-Type") == "multipart/form-data; boundary=b")
    }

    @Test func fileLengthSurvivesRoundTrip() async throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "a.txt")
        try Data("from disk".utf8).write(to: file)
        let link = folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let form = HTTPBody.multipart(boundary: "b") { $0.add(.file(file), for: "f") }
        let transport = InMemoryTransport { _ in .status(.ok) }
        let client = HTTPClient(transport: transport)

        for body in [HTTPBody.file(file), .file(link), form] {
            let request = try Post<Data>("uploads").body(body).toURLRequest(baseURL: server)
            let length = try #require(request.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) })
            _ = try await client.fetch(HTTPRequest(request))

            #expect(transport.requests.last.map { Int64($0.body.count) } == length)
        }
        #expect(transport.requests.map(\.body.count).prefix(2) == [9, 9])
        #expect(transport.requests.allSatisfy { !$0.headers.contains(.contentLength) })
    }

    @Test(arguments: ["/no/such/file", "/", "/dev/null"])
    func unreadableFileFails(path: String) {
        let body = HTTPBody.file(URL(filePath: path))

        #expect(throws: InvalidValue.self) { try Post<Data>("a").body(body).toURLRequest(baseURL: server) }
        #expect(throws: InvalidValue.self) { try URLRequest(HTTPRequest(url: server, body: body)) }
    }

    @Test func lazyBodyIsEncodedWithContentType() throws {
        let request = try URLRequest(HTTPRequest(url: server, method: .post, body: .form(["a": "b"])))

        #expect(request.httpBody == Data("a=b".utf8))
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
    }

    @Test func conversionKeepsBodyContentType() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "a.csv")
        try Data("a,b".utf8).write(to: file)
        let data = Data("a,b".utf8)
        let bodies: [(HTTPBody, String?)] = [
            (.data(data, type: "text/csv"), "text/csv"), (.data(data, type: nil), nil),
            (.file(file, type: "text/csv"), "text/csv"),
            (.stream(HTTPBody.Stream { InputStream(data: data) }, type: "text/csv"), "text/csv"),
            (.text("a"), "text/plain; charset=utf-8"), (.json(["a": 1]), "application/json"),
            (.form(["a": "b"]), "application/x-www-form-urlencoded"),
            (.multipart(boundary: "b") { $0.add("c", for: "d") }, "multipart/form-data; boundary=b"),
            (HTTPBody(.data(data), headers: [.contentType: "a/b"]), "a/b"),
            (HTTPBody(.data(data), mandatoryHeaders: [.contentType: "a/b"]), "a/b"), (.none, nil),
        ]

        for (body, type) in bodies {
            let request = HTTPRequest(url: server, method: .post, body: body)
            let described = try URLRequest(request).value(forHTTPHeaderField: "Content-Type")
            let built = try request.toURLRequest().value(forHTTPHeaderField: "Content-Type")
            let own = try URLRequest(request.settingHeader(HTTPField(.contentType, "x/y")))

            #expect(described == type && built == type, "\(body)")
            if body.mandatoryHeaders.isEmpty { #expect(own.value(forHTTPHeaderField: "Content-Type") == "x/y") }
        }
    }
}
