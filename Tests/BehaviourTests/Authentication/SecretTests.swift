// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The origins that receive the secrets of a request, even if interceptors change the request.
@Suite(.bounded) struct SecretTests {
    /// Redirects to another origin.
    private let leaving = InMemoryTransport { request in
        request.url.host == "example.com"
            ? .status(.found, headers: [.location: "https://abroad.example/"]) : .status(.ok)
    }
    private let answering = InMemoryTransport { _ in .status(.ok) }

    private static let token: HTTPField.Name = "X-Mine"

    private static let changes: [@Sendable (inout HTTPRequest) -> Void] = [
        { $0.headers[token] = ($0.headers[token] ?? "") + "-v2" },
        { $0.headers.set($0.headers[token, default: ""] + "-v2", for: token) },
        { $0.headers.merge([token: $0.headers[token, default: ""] + "-v2"]) },
        { request in
            let value = request.headers[token, default: ""]
            request.headers[token] = nil
            request.headers.add(value + "-v2", for: token)
        },
        { $0.headers = [token: $0.headers[token, default: ""] + "-v2"] },
    ]

    // MARK: Redirects

    @Test(arguments: changes.indices) func secretChangedByInterceptorStaysSecret(_ index: Int) async {
        let queue = TestQueue(leaving) { $0.interceptors = [.adapting { Self.changes[index](&$0) }] }
        var request = HTTPRequest(url: home)
        request.authentication = .header(Self.token, "hush")

        await queue.addRequest(request).end()

        #expect(leaving.requests.map { $0.headers[Self.token] } == ["hush-v2", nil])
    }

    @Test func secretChangedByURLRequestModifierStaysSecret() async {
        let queue = TestQueue(leaving) {
            $0.interceptors = [.modifyingURLRequest { $0.setValue("hush-v2", forHTTPHeaderField: "X-Mine") }]
        }
        var request = HTTPRequest(url: home)
        request.authentication = .header(Self.token, "hush")

        await queue.addRequest(request).end()

        #expect(leaving.requests.map { $0.headers[Self.token] } == ["hush-v2", nil])
    }

    @Test func requestInheritsClientHeaderSensitivity() async {
        let queue = TestQueue(leaving) {
            $0.headers = HTTPHeaders([HTTPField(HTTPField.Name("X-Mine", isSensitive: true), "client's")])
        }

        await queue.addRequest(HTTPRequest(url: home, headers: [Self.token: "own"])).end()

        #expect(leaving.requests.map { $0.headers[Self.token] } == ["own", nil])
    }

    // MARK: Interceptors that lead elsewhere

    private func sent(
        _ interceptors: [any Interceptor],
        for request: HTTPRequest = HTTPRequest("x")
    ) async -> ReceivedRequest? {
        let queue = TestQueue(answering) {
            $0.baseURL = home
            $0.headers = [.authorization: "Bearer client", "X-Client": "1"]
            $0.sensitiveHeaders = [Self.token]
            $0.interceptors = interceptors
        }
        await queue.addRequest(request).end()
        return answering.requests.last
    }

    static let elsewhere: [@Sendable (inout HTTPRequest) -> Void] = [
        { $0.host = "mirror.example" }, { $0.scheme = "http" }, { $0.port = 8443 },
        { $0.url = URL(string: "https://mirror.example/x") ?? home },
    ]

    @Test(arguments: elsewhere.indices) func clientSecretsAreDroppedAtOtherOrigins(_ index: Int) async {
        let sent = await sent([.adapting { Self.elsewhere[index](&$0) }])

        #expect(sent?.headers[.authorization] == nil && sent?.headers["X-Client"] == nil)
    }

    static let here: [@Sendable (inout HTTPRequest) -> Void] = [
        { $0.path = "/other" }, { $0.query = ["a": 1] }, { $0.port = 443 }, { $0.host = "EXAMPLE.com" },
        { $0.url = URL(string: "relative") ?? home },
    ]

    @Test(arguments: here.indices) func clientSecretsAreSentWithinOrigin(_ index: Int) async {
        let sent = await sent([.adapting { Self.here[index](&$0) }])

        #expect(sent?.headers[.authorization] == "Bearer client")
    }

    @Test func interceptorCredentialIsDroppedAtOtherOrigin() async {
        let credential = AuthenticationInterceptor(
            TokenAuthenticator { _ in "fresh" },
            credential: "fetched",
            origins: sampleOrigins
        )

        let before = await sent([credential, .adapting { $0.host = "mirror.example" }])
        let after = await sent([.adapting { $0.host = "mirror.example" }, credential])

        #expect(before?.headers[.authorization] == nil && after?.headers[.authorization] == nil)
    }

    @Test func requestSecretsAreSentToChangedHost() async {
        var request = HTTPRequest("x")
        request.headers[.authorization] = "Bearer own"
        request.authentication = .header(Self.token, "own")

        let sent = await sent([.adapting { $0.host = "mirror.example" }], for: request)

        #expect(sent?.headers[.authorization] == "Bearer own" && sent?.headers[Self.token] == "own")
    }

    @Test func secretSetForNewOriginIsSent() async {
        let sent = await sent([
            .adapting {
                $0.host = "mirror.example"
                $0.headers[.authorization] = "Bearer mirror"
            }
        ])

        #expect(sent?.headers[.authorization] == "Bearer mirror")
    }
}

extension HTTPHeaders {
    fileprivate subscript(name: HTTPField.Name, default value: String) -> String { self[name] ?? value }
}
