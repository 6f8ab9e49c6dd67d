// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// A server that requires `Digest`, and computes the expected response independently (RFC 7616, 3.4).
private final class DigestServer: Sendable {
    struct State: Sendable {
        var nonce = 1
        /// The nonce counts received with the current nonce.
        var counts: Set<String> = []
        var nextNonce: String?
        /// The nonce of the last challenge, from which session keys are derived.
        var challengeNonce = ""
    }

    let algorithm: String
    let protection: String
    let isProxy: Bool
    let state = Locked(State())

    init(_ algorithm: String = "SHA-256", _ protection: String = "auth", isProxy: Bool = false) {
        (self.algorithm, self.protection, self.isProxy) = (algorithm, protection, isProxy)
    }

    private func digest(_ text: String) -> String {
        let digest: Data =
            switch algorithm.replacing("-sess", with: "") {
            case "MD5": MD5.digest(of: text.utf8)
            case "SHA-256": SHA256.digest(of: text.utf8)
            case "SHA-512": SHA512.digest(of: text.utf8)
            default: SHA512.digest256(of: text.utf8)
            }
        return digest.map { String(format: "%02x", $0) }.joined()
    }

    private func challenge(isStale: Bool) -> StubResponse {
        let nonce = state.withLock { state in
            state.challengeNonce = "\(state.nonce)"
            return state.nonce
        }
        let text = """
            Digest realm="r", nonce="\(nonce)", qop="\(protection)", algorithm=\(algorithm)\(isStale ? ", stale=true" : "")
            """
        return .status(
            isProxy ? .proxyAuthenticationRequired : .unauthorized,
            headers: [isProxy ? .proxyAuthenticate : .wwwAuthenticate: text]
        )
    }

    /// Invalidates the nonce.
    func grow() {
        state.withLock { ($0.nonce, $0.counts) = ($0.nonce + 1, []) }
    }

    func answer(_ request: ReceivedRequest) -> StubResponse {
        guard let sent = request.headers[isProxy ? .proxyAuthorization : .authorization] else {
            return challenge(isStale: false)
        }
        let values = Authorization(sent).parameters
        func value(_ name: String) -> String { values.first { $0.name.lowercased() == name }?.value ?? "" }
        let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        let target = request.url.path(percentEncoded: true) + query
        var secret = digest("u:r:p")
        if algorithm.hasSuffix("-sess") {
            let nonce = state.withLock { $0.challengeNonce }
            secret = digest("\(secret):\(nonce):\(value("cnonce"))")
        }
        var what = "\(request.method.rawValue):\(target)"
        if protection == "auth-int" {
            what += ":" + digest(request.text)
        }
        let expected = digest(
            "\(secret):\(value("nonce")):\(value("nc")):\(value("cnonce")):\(protection):\(digest(what))"
        )
        guard value("response") == expected, value("uri") == target else { return challenge(isStale: false) }
        let isNew = state.withLock { state in
            "\(state.nonce)" == value("nonce") && state.counts.insert(value("nc")).inserted
        }
        guard isNew else { return challenge(isStale: true) }
        let next = state.withLock { $0.nextNonce }
        if let next { state.withLock { ($0.nonce, $0.counts, $0.nextNonce) = (Int(next) ?? 0, [], nil) } }
        return .status(
            .ok,
            headers: next.map { [.authenticationInfo: "nextnonce=\"\($0)\""] } ?? [:],
            body: Data("hello".utf8)
        )
    }
}

@Suite(.bounded) struct DigestChallengeTests {
    private let asked = Recorder<String>()

    private func makeClient(_ server: DigestServer, password: String = "p") -> (HTTPClient, InMemoryTransport) {
        let transport = InMemoryTransport { server.answer($0) }
        let provide: ChallengeInterceptor.Provider = { [asked] challenge, _ in
            asked.record(challenge.scheme)
            return URLCredential(user: "u", password: password, persistence: .none)
        }
        let client = HTTPClient(transport: transport) {
            $0.interceptors = [ChallengeInterceptor(proxy: server.isProxy ? provide : nil, provide)]
        }
        return (client, transport)
    }

    private func get(_ path: String, _ client: HTTPClient) async throws -> String {
        let url = try #require(URL(string: "https://api.example.com\(path)"))
        return String(decoding: try await client.send(HTTPRequest(url: url)).body, as: UTF8.self)
    }

    @Test(
        arguments: [
            "MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess", "SHA-512",
        ],
        ["auth", "auth-int"]
    )
    func supportsAllDigestAlgorithms(algorithm: String, protection: String) async throws {
        let server = DigestServer(algorithm, protection)
        let (client, transport) = makeClient(server)
        let url = try #require(URL(string: "https://api.example.com/a?b=c"))

        let response = try await client.send(HTTPRequest(url: url, method: .put, body: .text("content")))

        #expect(response.status == .ok && transport.requests.count == 2)
        #expect(response.transfers.map(\.cause) == [.initial, .challenge])
    }

    @Test func laterRequestsAuthenticatePreemptively() async throws {
        let (client, transport) = makeClient(DigestServer())

        for path in ["/a", "/b/c", "/?d=e"] { #expect(try await get(path, client) == "hello") }

        #expect(transport.requests.count == 4 && asked.count == 1)
    }

    @Test func concurrentRequestsUseDistinctNonceCounts() async throws {
        let (client, transport) = makeClient(DigestServer())
        _ = try await get("/", client)

        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 1...20 { group.addTask { try await get("/\(number)", client) } }
            for try await text in group { #expect(text == "hello") }
        }

        #expect(transport.requests.count == 22)
    }

    @Test(arguments: ["SHA-256", "SHA-256-sess"])
    func staleNonceDoesNotCallProvider(algorithm: String) async throws {
        let server = DigestServer(algorithm)
        let (client, transport) = makeClient(server)
        _ = try await get("/", client)
        server.grow()

        #expect(try await get("/", client) == "hello")
        #expect(transport.requests.count == 4 && asked.count == 1)
    }

    @Test func concurrentStaleNoncesDoNotCallProvider() async throws {
        let server = DigestServer()
        let (client, _) = makeClient(server)
        _ = try await get("/", client)
        server.grow()

        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 1...20 { group.addTask { try await get("/\(number)", client) } }
            for try await text in group { #expect(text == "hello") }
        }

        #expect(asked.count == 1)
    }

    @Test(arguments: ["SHA-256", "MD5-sess", "SHA-256-sess"])
    func nextNonceIsUsed(algorithm: String) async throws {
        let server = DigestServer(algorithm)
        let (client, transport) = makeClient(server)
        server.state.withLock { $0.nextNonce = "7" }

        for _ in 1...3 { #expect(try await get("/", client) == "hello") }
        #expect(transport.requests.count == 4)
        #expect(transport.requests.last?.headers[.authorization]?.contains(#"nonce="7""#) == true)
    }

    @Test func wrongPasswordCallsProviderForEachRequest() async throws {
        let (client, transport) = makeClient(DigestServer(), password: "wrong")

        for _ in 1...2 {
            let operation = client.addRequest(HTTPRequest(url: server))
            await operation.end()
            #expect(operation.result?.error?.response?.status == .unauthorized)
        }

        #expect(asked.count == 2 && transport.requests.count <= 5)
    }

    @Test func digestIsPreferredOverBasic() async throws {
        let digest = DigestServer()
        let transport = InMemoryTransport { request in
            guard !request.headers.contains(.authorization) else { return digest.answer(request) }
            let text = #"Basic realm="b", Digest realm="r", nonce="1", qop="auth", algorithm=SHA-256"#
            return .status(.unauthorized, headers: [.wwwAuthenticate: text])
        }
        let client = HTTPClient(transport: transport) {
            $0.interceptors = [
                ChallengeInterceptor { _, _ in URLCredential(user: "u", password: "p", persistence: .none) }
            ]
        }

        #expect(try await get("/", client) == "hello")
    }

    @Test(arguments: [
        (["MD5", "SHA-256"], "SHA-256"), (["SHA-256", "MD5"], "SHA-256"), (["MD5", "MD5-sess"], "MD5"),
        (["MD5-sess", "SHA-256-sess", "MD5"], "SHA-256-sess"), (["MD5", "SHA-256", "SHA-512-256"], "SHA-512-256"),
        (["SHA-1", "MD5"], "MD5"), (["SHA-256-sess", "SHA-256"], "SHA-256-sess"),
    ])
    func choosesStrongestDigestAlgorithm(offered: [String], chosen: String) async throws {
        let transport = InMemoryTransport { request in
            let texts = offered.map { #"Digest realm="r", nonce="n", qop="auth", algorithm=\#($0)"# }
            return request.headers.contains(.authorization)
                ? .status(.ok)
                : .status(.unauthorized, headers: HTTPHeaders(texts.map { HTTPField(.wwwAuthenticate, $0) }))
        }
        let client = HTTPClient(transport: transport) {
            $0.interceptors = [
                ChallengeInterceptor { _, _ in URLCredential(user: "u", password: "p", persistence: .none) }
            ]
        }

        _ = try await get("/", client)

        let sent = try #require(transport.requests.last?.headers[.authorization])
        #expect(Authorization(sent).parameters.first { $0.name == "algorithm" }?.value == chosen)
    }

    @Test func proxyChallengeUsesProxyProvider() async throws {
        let server = DigestServer("MD5", "auth", isProxy: true)
        let (client, transport) = makeClient(server)
        let url = try #require(URL(string: "http://api.example.com/a"))

        for _ in 1...2 { #expect(try await client.send(HTTPRequest(url: url)).status == .ok) }

        #expect(transport.requests.map { $0.headers.contains(.proxyAuthorization) } == [false, true, true])
        #expect(!transport.requests.contains { $0.headers.contains(.authorization) })
    }

    @Test func proxyCredentialsAreNotSentThroughTunnel() async throws {
        let proxy = DigestServer("MD5", "auth", isProxy: true)
        let (client, transport) = makeClient(proxy)
        let url = try #require(URL(string: "http://api.example.com/a"))
        _ = try await client.send(HTTPRequest(url: url))

        let operation = client.addRequest(HTTPRequest(url: server))
        await operation.end()

        #expect(operation.result?.error?.response?.status == .proxyAuthenticationRequired)
        #expect(transport.requests.last?.headers.contains(.proxyAuthorization) == false)
    }

    /// Returns a client whose server can switch its scheme, and sends a new challenge each time.
    private func fickle(_ scheme: String) -> (HTTPClient, InMemoryTransport, Locked<String>) {
        let digest = DigestServer()
        let asks = Locked(scheme)
        let transport = InMemoryTransport { request in
            if asks.withLock({ $0 }) == "Digest" { return digest.answer(request) }
            return request.headers[.authorization]?.hasPrefix("Basic") == true
                ? .status(.ok, body: Data("hello".utf8))
                : .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="other""#])
        }
        let client = HTTPClient(transport: transport) {
            $0.interceptors = [
                ChallengeInterceptor { _, _ in URLCredential(user: "u", password: "p", persistence: .none) }
            ]
        }
        return (client, transport, asks)
    }

    @Test(arguments: [("http", 401), ("https", 200)])
    func preventsDowngradeToBasicOverHTTP(scheme: String, status: Int) async throws {
        let (client, transport, asks) = fickle("Digest")
        let request = HTTPRequest(url: try #require(URL(string: "\(scheme)://api.example.com/")))
        _ = try await client.send(request)
        asks.withLock { $0 = "Basic" }

        let operation = client.addRequest(request)
        await operation.end()

        #expect(operation.transfers.last?.response?.status.code == status)
        #expect(
            transport.requests.contains { $0.headers[.authorization]?.hasPrefix("Basic") == true } == (status == 200)
        )
    }

    @Test func digestReplacesBasicOverHTTP() async throws {
        let (client, transport, asks) = fickle("Basic")
        let request = HTTPRequest(url: try #require(URL(string: "http://api.example.com/a/b")))
        _ = try await client.send(request)
        asks.withLock { $0 = "Digest" }
        _ = try await client.send(request)
        let before = transport.requests.count

        _ = try await client.send(request)

        #expect(
            transport.requests.dropFirst(before).allSatisfy { $0.headers[.authorization]?.hasPrefix("Digest") == true }
        )
        #expect(transport.requests.count == before + 1)
    }

    @Test func tunnelIsRetriedWithProxyCredentials() async throws {
        let head = HTTPResponseHead(
            status: .proxyAuthenticationRequired,
            headers: [.proxyAuthenticate: #"Basic realm="proxy""#]
        )
        let transport = InMemoryTransport { request in
            request.headers[.proxyAuthorization] == "Basic dTpw"
                ? .status(.ok)
                : .failure(RequestError(.proxyRefused, phase: .sending, response: head))
        }
        let client = HTTPClient(transport: transport) {
            $0.interceptors = [
                ChallengeInterceptor(proxy: { _, _ in URLCredential(user: "u", password: "p", persistence: .none) }) {
                    _,
                    _ in nil
                }
            ]
        }

        for _ in 1...2 { _ = try await client.send(HTTPRequest(url: server)) }
        let other = client.addRequest(HTTPRequest(url: server), session: InMemoryTransport { _ in .status(.ok) })
        _ = try await other.value()

        #expect(transport.requests.map { $0.headers.contains(.proxyAuthorization) } == [false, true, true])
        #expect(other.transfers.first?.request.headers.contains(.proxyAuthorization) == false)
    }

    @Test func digestCoversEachRedirectTarget() async throws {
        let digest = DigestServer()
        let transport = InMemoryTransport { request in
            let script = digest.answer(request)
            guard request.headers.contains(.authorization), request.url.path == "/a" else { return script }
            return .status(.found, headers: [.location: "/b"])
        }
        let client = HTTPClient(transport: transport) {
            $0.interceptors = [
                ChallengeInterceptor { _, _ in URLCredential(user: "u", password: "p", persistence: .none) }
            ]
        }

        #expect(try await get("/a", client) == "hello")
        #expect(transport.requests.map(\.url.path) == ["/a", "/a", "/b"])
    }

    @Test func oneShotStreamIsNotResent() async throws {
        let (client, transport) = makeClient(DigestServer())
        let body = HTTPBody.stream(HTTPBody.Stream(InputStream(data: Data("a".utf8))))

        let operation = client.addRequest(HTTPRequest(url: server, method: .put, body: body))
        await operation.end()

        #expect(operation.result?.error?.response?.status == .unauthorized && transport.requests.count == 1)
    }

    @Test func digestDoesNotInvalidateCache() async throws {
        let digest = DigestServer()
        let transport = InMemoryTransport { request in
            request.headers.contains(.authorization)
                ? .status(.ok, headers: [.cacheControl: "max-age=60"]) : digest.answer(request)
        }
        let client = HTTPClient(transport: transport) {
            $0.cache = ResponseCache()
            $0.interceptors = [
                ChallengeInterceptor { _, _ in URLCredential(user: "u", password: "p", persistence: .none) }
            ]
        }

        for _ in 1...3 { _ = try await get("/", client) }

        #expect(transport.requests.count == 2)
    }
}
