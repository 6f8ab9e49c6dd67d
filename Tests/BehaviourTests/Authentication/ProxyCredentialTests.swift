// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// A transport that, like `URLSession`, can't send credentials to a proxy.
private final class ProxylessTransport: HTTPTransport {
    let base: InMemoryTransport

    init(_ respond: @escaping @Sendable (ReceivedRequest) -> StubResponse) {
        base = InMemoryTransport { request in
            request.headers.contains(.proxyAuthorization)
                ? .failure(RequestError(.unsupported, phase: .sending)) : respond(request)
        }
    }

    var capabilities: TransportCapabilities { base.capabilities.subtracting(.proxyAuthorization) }

    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle { base.send(request, receive: receive) }
}

/// The credentials that each proxy receives.
@Suite(.bounded) struct ProxyCredentialTests {
    private static let challenge: HTTPHeaders = [.proxyAuthenticate: #"Basic realm="proxy""#]
    private let asked = Recorder<String>()

    private var interceptor: ChallengeInterceptor {
        ChallengeInterceptor(
            proxy: { [asked] challenge, _ in
                asked.record(challenge.realm ?? "")
                return URLCredential(user: "u", password: "p", persistence: .none)
            },
            { _, _ in nil }
        )
    }

    /// Responds like a proxy that requires credentials: with a 407 over HTTP, and by refusing the tunnel for HTTPS.
    private static func proxy(_ request: ReceivedRequest) -> StubResponse {
        guard !request.headers.contains(.proxyAuthorization) else { return .status(.ok) }
        guard request.url.scheme == "https" else {
            return .status(.proxyAuthenticationRequired, headers: challenge)
        }
        let head = HTTPResponseHead(status: .proxyAuthenticationRequired, headers: challenge)
        return .failure(RequestError(.proxyRefused, phase: .sending, response: head))
    }

    @Test(arguments: ["http", "https"])
    func unsupportedTransportIgnoresProxyChallenge(scheme: String) async throws {
        let transport = ProxylessTransport(Self.proxy)
        let interceptor = interceptor
        let client = HTTPClient(transport: transport) { $0.interceptors = [interceptor] }
        let url = try #require(URL(string: "\(scheme)://example.com/"))

        for _ in 1...2 {
            let operation = client.addRequest(HTTPRequest(url: url))
            await operation.end()

            #expect(operation.result?.error?.response?.status == .proxyAuthenticationRequired)
        }

        #expect(asked.count == 0 && transport.base.requests.count == 2)
    }

    @Test(arguments: ["http", "https"])
    func proxyPasswordIsNotSentToOtherProxy(scheme: String) async throws {
        let interceptor = interceptor
        let transports = (0..<2).map { _ in InMemoryTransport(Self.proxy) }
        let url = try #require(URL(string: "\(scheme)://example.com/"))

        for transport in transports {
            let client = HTTPClient(transport: transport) { $0.interceptors = [interceptor] }
            for _ in 1...2 { #expect(try await client.send(HTTPRequest(url: url)).status == .ok) }
        }

        for transport in transports {
            #expect(transport.requests.map { $0.headers.contains(.proxyAuthorization) } == [false, true, true])
        }
        #expect(asked.count == 2)
    }

    @Test func capabilitiesReflectProxyAuthorization() {
        #expect(!URLSessionTransport(configuration: .ephemeral).capabilities.contains(.proxyAuthorization))
        #expect(!URLSession.shared.capabilities.contains(.proxyAuthorization))
        #expect(InMemoryTransport { _ in .status(.ok) }.capabilities.contains(.proxyAuthorization))
    }
}
