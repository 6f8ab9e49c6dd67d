// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension OverLoopback {
    /// A client over real sockets, with all that it keeps between requests.
    @Suite(.bounded) struct ClientTests {
        static let transports = TransportUnderTest.only(.standard, .configuration)

        // MARK: A configuration

        @Test func configurationProtocolClassesAndHeadersApply() async throws {
            let server = try MockServer { _ in .text("server") }
            let configuration = URLSessionConfiguration.ephemeral
            let stubber = HTTPStubber()
            stubber.stub(.path("/stub")).respond(with: .text("stub"))
            stubber.install(in: configuration)
            configuration.httpAdditionalHeaders = ["X-Configured": "1", "X-Both": "configuration"]
            let client = HTTPClient(baseURL: server.url, configuration: configuration) {
                $0.headers["X-Environment"] = "1"
                $0.headers["X-Both"] = "environment"
            }

            let stubbed = try await client.fetch(Call(server.url("/stub")))
            stubber.unhandledMode = .passThrough
            let served = try await client.fetch(Call(server.url("/other")))

            #expect(String(decoding: stubbed, as: UTF8.self) == "stub")
            #expect(stubber.requests.first?.headers["X-Configured"] == "1")
            #expect(String(decoding: served, as: UTF8.self) == "server")
            #expect(server.requests.map(\.path) == ["/other"])
            let request = try #require(server.requests.first)
            #expect(request.headers[values: "X-Configured"] == ["1"])
            #expect(request.headers[values: "X-Environment"] == ["1"])
            #expect(request.headers[values: "X-Both"] == ["environment"])
        }

        @Test func cacheSeparatesUsersByConfiguration() async throws {
            let server = try MockServer { request in
                .text(request.headers[.authorization] ?? "", headers: [.cacheControl: "max-age=60"])
            }
            let cache = ResponseCache()
            var seen: [String] = []

            for user in ["Bearer ada", "Bearer bob", "Bearer ada"] {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.httpAdditionalHeaders = ["Authorization": user]
                let client = HTTPClient(configuration: configuration) { $0.cache = cache }
                seen.append(try await client.send(Call(server.url)).text)
            }

            #expect(seen == ["Bearer ada", "Bearer bob", "Bearer ada"] && server.requests.count == 2)
        }

        @Test func cacheSeparatesUsersByConfigurationCookies() async throws {
            let server = try MockServer { request in
                let user = request.path.dropFirst("/login-".count)
                return request.path.hasPrefix("/login-")
                    ? .status(.noContent, headers: [.setCookie: "who=\(user); Path=/", .cacheControl: "no-store"])
                    : .text(request.headers[.cookie] ?? "", headers: [.cacheControl: "max-age=60"])
            }
            let client = HTTPClient(configuration: .ephemeral) { $0.cache = ResponseCache() }
            var seen: [String] = []

            for user in ["ada", "bob"] {
                _ = try await client.fetch(Call(server.url("/login-\(user)")))
                seen.append(try await client.send(Call(server.url("/me"))).text)
            }

            #expect(seen == ["who=ada", "who=bob"])
        }

        private func cookie(_ value: String) -> StubResponse {
            .status(.noContent, headers: [.setCookie: "who=\(value); Path=/"])
        }

        @Test func configuredClientsIgnoreProcessCookies() async throws {
            // Other tests have cookies for this host, which all servers share.
            let server = try MockServer { _ in
                .status(.noContent, headers: [.setCookie: "unshared=ada; Path=/"])
            }
            let clients = [HTTPClient(configuration: .default), HTTPClient(configuration: .default)]

            for client in clients + clients { _ = try await client.fetch(Call(server.url)) }

            #expect(server.requests.map { $0.headers[.cookie] } == [nil, nil, "unshared=ada", "unshared=ada"])
            #expect(HTTPCookieStorage.shared.cookies?.contains { $0.name == "unshared" } != true)
        }

        @Test func clientUsesConfigurationCookies() async throws {
            let server = try MockServer { _ in cookie("ada") }
            let configuration = URLSessionConfiguration.ephemeral
            let client = HTTPClient(configuration: configuration)

            for _ in 0..<2 { _ = try await client.fetch(Call(server.url)) }
            _ = try await client.fetch(Call(server.url) { $0.usesCookies = false })

            #expect(server.requests.map { $0.headers[.cookie] } == [nil, "who=ada", nil])
            #expect(configuration.httpCookieStorage?.cookies(for: server.url)?.map(\.value) == ["ada"])
        }

        private static let refusals: [@Sendable (URLSessionConfiguration) -> Void] = [
            { $0.httpCookieStorage = nil }, { $0.httpShouldSetCookies = false }, { $0.httpCookieAcceptPolicy = .never },
        ]

        @Test(arguments: refusals.indices, [true, false])
        func configurationCanDisableCookies(_ index: Int, isEphemeral: Bool) async throws {
            let server = try MockServer { _ in cookie("ada") }
            let configuration: URLSessionConfiguration = isEphemeral ? .ephemeral : .default
            Self.refusals[index](configuration)
            let client = HTTPClient(configuration: configuration)

            for _ in 0..<2 { _ = try await client.fetch(Call(server.url)) }

            #expect(server.requests.map { $0.headers[.cookie] } == [nil, nil])
        }

        @Test func clientCanDisableCookies() async throws {
            let server = try MockServer { _ in cookie("ada") }
            let client = HTTPClient(configuration: .ephemeral) { $0.cookies = nil }

            for _ in 0..<2 { _ = try await client.fetch(Call(server.url)) }

            #expect(server.requests.map { $0.headers[.cookie] } == [nil, nil])
        }

        // MARK: After the release

        // On Linux, the process shares the default transport, whose connections stay open for later requests.
        private static let closing: [TransportUnderTest] = [.configuration]

        @Test(arguments: closing)
        func releasedClientClosesItsConnections(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("hi") }
            weak var weakClient: HTTPClient?
            weak var weakJar: CookieJar?
            do {
                let client = transport.client()
                let jar = CookieJar()
                client.configure { $0.cookies = jar }
                (weakClient, weakJar) = (client, jar)
                for _ in 0..<3 { _ = try await client.fetch(Call(server.url)) }
            }

            try await server.awaitConnections(open: 0)

            #expect(weakClient == nil && weakJar == nil)
        }

        @Test(arguments: transports)
        func releasedClientCompletesRunningRequests(_ transport: TransportUnderTest) async throws {
            let gate = Gate()
            let server = try MockServer { _ in StubResponse.text("hi").held(by: gate) }
            weak var weakClient: HTTPClient?
            let operations = {
                let client = transport.client(maxConcurrentRequests: 2)
                weakClient = client
                return (0..<4).map { _ in client.addRequest(Call(server.url)) }
            }()
            try await server.awaitRequests(2)

            #expect(weakClient == nil)
            gate.open()

            for operation in operations { #expect(try await operation.value() == Data("hi".utf8)) }
        }

        #if os(Linux)
        @Test(.tags(.alone), arguments: transports)
        func manyClientsLeakNoDescriptors(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("hi") }
            func live() async throws {
                let client = transport.client()
                _ = try await client.fetch(Call(server.url))
            }

            for _ in 0..<5 { try await live() }
            // Clients that are about to end still have descriptors: of several rounds, one must leave few.
            var left: [Int] = []
            repeat {
                if transport != .standard { try await server.awaitConnections(open: 0) }
                let before = Usage.descriptors
                for _ in 0..<40 { try await live() }
                if transport != .standard { try await server.awaitConnections(open: 0) }
                left.append(Usage.descriptors - before)
            } while left.last.map { $0 >= 30 } == true && left.count < 5

            #expect(left.contains { $0 < 30 }, "\(left)")
        }
        #endif

        // MARK: Cookies

        @Test(arguments: transports)
        func cookiesAreStoredAndSentPerClient(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { request in
                switch request.path {
                case "/login": .text("in", headers: [.setCookie: "session=1; Path=/; HttpOnly"])
                case "/area/set": .status(.noContent, headers: [.setCookie: "area=2"])
                case "/logout": .status(.noContent, headers: [.setCookie: "session=; Max-Age=0; Path=/"])
                default: .text(request.headers[values: .cookie].joined(separator: "|"))
                }
            }
            let client = transport.client()
            func seen(_ path: String, on client: HTTPClient) async throws -> String {
                String(decoding: try await client.fetch(Call(server.url(path))), as: UTF8.self)
            }

            #expect(try await seen("/", on: client) == "")
            _ = try await client.fetch(Call(server.url("/login")))
            #expect(try await seen("/", on: client) == "session=1")
            _ = try await client.fetch(Call(server.url("/area/set")))
            #expect(try await seen("/area/x", on: client) == "area=2; session=1")
            #expect(try await seen("/elsewhere", on: client) == "session=1")
            #expect(try await seen("/", on: transport.client()) == "")
            let without = Call(server.url("/")) { $0.usesCookies = false }
            #expect(try await client.fetch(without) == Data())
            _ = try await client.fetch(Call(server.url("/logout")))
            #expect(try await seen("/", on: client) == "")
        }

        @Test(arguments: transports)
        func multipleCookiesOfOneResponseAreStored(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { request in
                request.path == "/set"
                    ? .status(
                        .noContent,
                        headers: [
                            .setCookie: "a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT", .setCookie: "b=2",
                            .setCookie: "c=\"3,4\"",
                        ]
                    )
                    : .text(request.headers[.cookie] ?? "")
            }
            let client = transport.client()

            _ = try await client.fetch(Call(server.url("/set")))

            let sent = String(decoding: try await client.fetch(Call(server.url("/get"))), as: UTF8.self)
            #expect(sent == "a=1; b=2; c=\"3,4\"")
        }

        // MARK: Cache

        @Test(arguments: transports)
        func storedResponseIsRevalidatedWithEntityTag(_ transport: TransportUnderTest) async throws {
            let version = Locked(1)
            let server = try MockServer { request in
                let tag = "\"v\(version.withLock { $0 })\""
                let headers: HTTPHeaders = [.eTag: tag, .cacheControl: "no-cache"]
                return request.headers[.ifNoneMatch] == tag
                    ? .status(.notModified, headers: headers)
                    : .text("content \(tag)", headers: headers)
            }
            let client = transport.client()
            client.configure { $0.cache = ResponseCache() }

            let first = try await client.send(Call(server.url))
            let second = try await client.send(Call(server.url))
            version.withLock { $0 = 2 }
            let third = try await client.send(Call(server.url))

            try #require(server.requests.count == 3)
            #expect([first, second, third].map(\.text) == ["content \"v1\"", "content \"v1\"", "content \"v2\""])
            #expect([first, second, third].map(\.status) == [.ok, .ok, .ok])
            #expect(server.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"v1\"", "\"v1\""])
            let raw = String(decoding: server.requests[1].rawBytes, as: UTF8.self)
            #expect(raw.contains("If-None-Match: \"v1\"\r\n"))
        }

        @Test(arguments: transports)
        func freshResponseIsNotRevalidated(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { request in
                .text(
                    "for \(request.headers[.authorization] ?? "all")",
                    headers: [.cacheControl: "private, max-age=60"]
                )
            }
            let client = transport.client()
            client.configure { $0.cache = ResponseCache() }
            func seen(_ headers: HTTPHeaders = []) async throws -> String {
                try await client.send(Call(server.url, headers: headers)).text
            }

            let seen = [
                try await seen(), try await seen(), try await seen([.authorization: "Bearer a"]),
                try await seen([.authorization: "Bearer b"]), try await seen([.authorization: "Bearer a"]),
            ]

            #expect(seen == ["for all", "for all", "for Bearer a", "for Bearer b", "for Bearer a"])
            #expect(server.requests.count == 3)
        }

        #if os(Linux)
        // MARK: Compressed content

        @Test(arguments: transports)
        func errorBodyIsDecodedAndLimited(_ transport: TransportUnderTest) async throws {
            let text = Data(#"{"error": "no such recipe"}"#.utf8)
            let large = Deflate.gzip(Data(repeating: 0x61, count: 60_000))
            let server = try MockServer { request in
                request.path == "/large"
                    ? .data(large, status: .badRequest, headers: [.contentEncoding: "gzip"])
                    : .data(Deflate.gzip(text), status: .notFound, headers: [.contentEncoding: "gzip"])
            }
            let client = transport.client()
            client.configure { $0.maximumErrorBodySize = 1000 }

            let small = await #expect(throws: RequestError.self) { try await client.fetch(Call(server.url("/"))) }
            let cut = await #expect(throws: RequestError.self) { try await client.fetch(Call(server.url("/large"))) }

            #expect(small?.code == .unacceptableStatus && small?.body == text)
            #expect(cut?.response?.status == .badRequest && cut?.body == Data(repeating: 0x61, count: 1000))
        }

        @Test(
            .tags(.alone),
            arguments: transports,
            Scale.pick([1 << 20], whole: [1 << 20, RequestEnvironment().maximumBodySize])
        )
        func compressionBombInErrorBodyFailsAtLimit(_ transport: TransportUnderTest, limit: Int) async throws {
            // Content grows by doubling, and the allocator may keep all that it has outgrown.
            let most = 2 * limit + (64 << 20)
            let bomb = Deflate.gzipBomb(of: 2 * most)
            let server = try MockServer { _ in
                .data(bomb, status: .internalServerError, headers: [.contentEncoding: "gzip"])
            }

            let isBounded = await Usage.isBelow(most) {
                let run = await transport.run(Call(server.url) { $0.maximumBodySize = limit })
                #expect(run.error?.code == .bodyTooLarge)
                #expect(run.error.map { $0.body.count <= 64 << 10 } == true)
            }

            // Not seen where memory can't be measured well, as under a sanitizer.
            withKnownIssue(
                "Foundation decodes all of the content before it delivers the first bytes",
                isIntermittent: true
            ) {
                #expect(isBounded)
            } when: {
                transport.runsOverURLSessionOfLinux
            }
        }

        @Test(.tags(.alone), arguments: transports.filter { $0 == .standard })
        func redirectBodyIsLimited(_ transport: TransportUnderTest) async throws {
            let bomb = Deflate.gzipBomb(of: 20 << 20)
            let server = try MockServer { request in
                request.path == "/next"
                    ? .text("next")
                    : .data(bomb, status: .found, headers: [.contentEncoding: "gzip", .location: "/next"])
            }
            let client = transport.client()
            client.configure { $0.maximumBodySize = 1 << 20 }

            let isBounded = await Usage.isBelow(64 << 20) {
                let result = await client.addRequest(Call(server.url("/"))).outcomeOfAll()
                #expect(result.value == Data("next".utf8))
            }

            #expect(isBounded)
        }

        @Test(arguments: transports)
        func compressedRedirectBodyIsSkipped(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { request in
                let content = Deflate.gzip(Data("moved or not".utf8))
                return request.path == "/next"
                    ? .data(content, headers: [.contentEncoding: "gzip"])
                    : .data(content, status: .found, headers: [.contentEncoding: "gzip", .location: "/next"])
            }

            let response = try await transport.client().send(Call(server.url("/")))

            #expect(response.text == "moved or not" && response.url == server.url("/next"))
        }
        #endif
    }
}

extension TransportUnderTest {
    /// Returns a separate client over this transport.
    fileprivate func client(
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount
    ) -> HTTPClient {
        // A configuration has cookies besides those of the client, so they are removed.
        HTTPClient(maxConcurrentRequests: maxConcurrentRequests, transport: makeSession { $0.httpCookieStorage = nil })
    }
}

extension NetworkOperation<Call> {
    fileprivate func outcomeOfAll() async -> (value: Data?, error: RequestError?) {
        do { return (try await value(), nil) } catch { return (nil, error) }
    }
}
