// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// The configuration of an injected session takes effect.
    @Suite(.bounded) struct InjectedSessionTests {
        @Test(arguments: TransportUnderTest.configurable)
        func sessionHeadersFollowRequestHeaders(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }

            _ = try await transport.send(Call(server.url, headers: ["X-Both": "request"])) {
                $0.httpAdditionalHeaders = ["X-App": "session", "x-both": "session"]
            }

            let request = try #require(server.requests.first)
            #expect(request.headers[values: "X-App"] == ["session"])
            #expect(request.headers[values: "X-Both"] == ["request"])
        }

        @Test(arguments: TransportUnderTest.configurable)
        func sessionTimeoutIsTheFallback(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .never }

            let error = await #expect(throws: RequestError.self) {
                try await transport.send(Call(server.url)) { $0.timeoutIntervalForRequest = 0.2 }
            }

            #expect(error?.code == .timedOut)
        }

        @Test(arguments: TransportUnderTest.configurable)
        func headerInjectionBySessionIsRejected(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .noContent }

            await #expect(throws: RequestError.self) {
                try await transport.send(Call(server.url)) { $0.httpAdditionalHeaders = ["X-A": "a\r\nX-Injected: b"] }
            }

            #expect(server.connectionCount == 0)
        }

        // On Apple platforms an injected session adds its headers itself, for any address.
        @Test(
            arguments: TransportUnderTest.configurable.filter { $0 == .configuration || $0.runsOverURLSessionOfLinux }
        )
        func sessionSecretsStayWithinOrigin(_ transport: TransportUnderTest) async throws {
            let home = try MockServer()
            let abroad = try MockServer()
            home.route(.get, "/a", .redirect(to: "/b"))
            home.route(.get, "/b", .redirect(to: abroad.url("/c").absoluteString))
            abroad.route(.get, "/c", .redirect(to: home.url("/d").absoluteString))
            home.route(.get, "/d", .text("back"))

            let response = try await transport.send(Call(home.url("/a"))) {
                $0.httpAdditionalHeaders = ["Authorization": "Bearer secret", "X-App": "session"]
            }

            #expect(response.text == "back")
            #expect(home.requests.map { $0.headers[.authorization] } == ["Bearer secret", "Bearer secret", nil])
            #expect(abroad.requests.map { $0.headers[.authorization] } == [nil])
            #expect(home.requests.map { $0.headers["X-App"] } == ["session", "session", nil])
            #expect(abroad.requests.map { $0.headers["X-App"] } == [nil])
        }

        @Test(arguments: TransportUnderTest.configurable)
        func sessionCookiesAreSentAndStored(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .status(.ok, headers: [.setCookie: "flavour=plain; Path=/"]) }
            let queue = OperationQueue()
            let session = transport.makeSession { configuration in
                let cookie = HTTPCookie(properties: [.domain: "127.0.0.1", .path: "/", .name: "size", .value: "large"])
                if let cookie { configuration.httpCookieStorage?.setCookie(cookie) }
            }

            _ = try await queue.fetch(Call(server.url("/1")), session: session)
            _ = try await queue.fetch(Call(server.url("/2")), session: session)
            _ = try await queue.fetch(Call(server.url("/3"), headers: [.cookie: "own=1"]), session: session)

            let cookies = server.requests.map { request in
                Set((request.headers[.cookie] ?? "").components(separatedBy: "; "))
            }
            #expect(cookies == [["size=large"], ["size=large", "flavour=plain"], ["own=1"]])
        }

        @Test(arguments: TransportUnderTest.configurable)
        func requestCanDisableSessionCookies(
            _ transport: TransportUnderTest
        ) async throws {
            let server = try MockServer { .status(.ok, headers: [.setCookie: "from=\($0.path.dropFirst()); Path=/"]) }
            let queue = OperationQueue()
            let session = transport.makeSession()
            let without: (inout RequestOptions) -> Void = { $0.usesCookies = false }

            _ = try await queue.fetch(Call(server.url("/1"), options: without), session: session)
            _ = try await queue.fetch(Call(server.url("/2")), session: session)
            _ = try await queue.fetch(Call(server.url("/3"), options: without), session: session)
            _ = try await queue.fetch(Call(server.url("/4")), session: session)

            #expect(server.requests.map { $0.headers[.cookie] } == [nil, nil, nil, "from=2"])
        }

        @Test(
            arguments: TransportUnderTest.configurable.filter { $0 == .configuration || $0.runsOverURLSessionOfLinux }
        )
        func sessionSecretsIgnoreCachedCrossOriginRedirect(_ transport: TransportUnderTest) async throws {
            let home = try MockServer()
            let abroad = try MockServer { _ in .text("abroad", headers: [.cacheControl: "no-store"]) }
            home.route(
                .get,
                "/a",
                .status(
                    .movedPermanently,
                    headers: [.location: abroad.url("/c").absoluteString, .cacheControl: "max-age=60"]
                )
            )
            let session = transport.makeSession { $0.httpAdditionalHeaders = ["Authorization": "Bearer secret"] }
            let client = HTTPClient(transport: session) { $0.cache = ResponseCache() }

            for _ in 0..<2 { _ = try await client.fetch(Call(home.url("/a"))) }

            #expect(home.requests.map { $0.headers[.authorization] } == ["Bearer secret"])
            #expect(abroad.requests.map { $0.headers[.authorization] } == [nil, nil])
        }

        @Test(arguments: TransportUnderTest.configurable)
        func protocolClassesReplaceNetwork(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("network") }

            let stubber = HTTPStubber()
            stubber.stub().respond(with: .text("stub", status: .accepted))

            let response = try await transport.send(Call(server.url), stubber.install)

            #expect(response.status == .accepted)
            #expect(response.text == "stub")
            #expect(server.connectionCount == 0)
        }
    }
}
