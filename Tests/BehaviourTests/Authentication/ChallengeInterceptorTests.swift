// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ChallengeInterceptorTests {
    /// Returns a server that sends a challenge, and responds with the user name and password that it receives.
    private func server(_ challenge: String, accepting: String = "") -> InMemoryTransport {
        InMemoryTransport { request in
            let given = request.headers[.authorization].flatMap { Authorization($0).basicCredentials }
            guard let given, "\(given.username):\(given.password)" == accepting || accepting.isEmpty else {
                return .status(.unauthorized, headers: [.wwwAuthenticate: challenge])
            }
            return .status(.ok, body: Data("\(given.username):\(given.password)".utf8))
        }
    }

    private func answering(
        _ user: String,
        _ password: String,
        _ asked: Recorder<String> = Recorder()
    )
        -> ChallengeInterceptor
    {
        ChallengeInterceptor { challenge, url in
            asked.record("\(challenge.realm ?? "no realm") at \(url.host ?? "")")
            return URLCredential(user: user, password: password, persistence: .none)
        }
    }

    private func run(
        _ transport: InMemoryTransport,
        _ interceptor: any Interceptor,
        _ request: WireRequest
    ) async
        -> Result<String, RequestError>?
    {
        let queue = TestQueue(transport) { $0.interceptors = [interceptor] }
        return await Probe(adding: request, to: queue).ended().first
    }

    @Test func challengeIsRetriedWithProvidedCredentials() async {
        let asked = Recorder<String>()
        let transport = server(#"Basic realm="kitchen""#)

        let result = await run(transport, answering("Aladdin", "open sesame", asked), WireRequest())

        #expect(result?.value == "Aladdin:open sesame")
        #expect(asked.elements == ["kitchen at example.com"])
        #expect(transport.requests.map { $0.headers.contains(.authorization) } == [false, true])
    }

    @Test(arguments: ["http://example.com", "http://example.com?a=b", "http://example.com/"])
    func challengeForURLWithoutPathIsHandled(_ address: String) async throws {
        let transport = server(#"Basic realm="kitchen""#)
        let client = HTTPClient(transport: transport) { $0.interceptors = [answering("a", "b")] }

        let text = try await client.send(HTTPRequest(url: try #require(URL(string: address)))).body

        #expect(String(decoding: text, as: UTF8.self) == "a:b")
    }

    @Test func findsBasicAmongSeveralChallenges() async {
        let transport = server(#"Negotiate abc==, bASIC realm="a, b", charset="UTF-8""#)

        #expect(await run(transport, answering("u", "p"), WireRequest())?.value == "u:p")
    }

    /// RFC 7617, 2.1: user name and password are normalized if the server expects UTF-8.
    @Test(arguments: [
        (#"Basic realm="r", charset="UTF-8""#, "\u{FC}"), (#"Basic realm="r", charset="utf-8""#, "\u{FC}"),
        (#"Basic realm="r""#, "u\u{308}"), (#"Basic realm="r", charset="latin1""#, "u\u{308}"),
    ]) func utf8CharsetNormalizesCredentials(challenge: String, name: String) async {
        let result = await run(server(challenge), answering("u\u{308}", "p"), WireRequest())

        #expect(result?.value.map { Array($0.utf8) } == Array("\(name):p".utf8))
    }

    @Test func rejectedCredentialsAreNotResent() async {
        let asked = Recorder<String>()
        let transport = server(#"Basic realm="r""#, accepting: "u:right")

        let result = await run(transport, answering("u", "wrong", asked), WireRequest())

        #expect(result?.error?.response?.status == .unauthorized)
        #expect(asked.count == 1 && transport.requests.count == 2)
    }

    @Test(arguments: [
        #"Digest realm="r", nonce="n", algorithm=SHA-1"#, #"Digest realm="r""#,
        #"Digest realm="r", nonce="n", qop="auth-conf""#, "Bearer", "", "Negotiate",
    ])
    func unsupportedChallengesAreIgnored(challenge: String) async {
        let asked = Recorder<String>()
        let transport = server(challenge)

        let result = await run(transport, answering("u", "p", asked), WireRequest())

        #expect(result?.error?.code == .unacceptableStatus)
        #expect(asked.count == 0 && transport.requests.count == 1)
    }

    @Test func nilCredentialsFailWithChallengeResponse() async {
        let transport = server(#"Basic realm="r""#)

        let result = await run(transport, ChallengeInterceptor { _, _ in nil }, WireRequest())

        #expect(result?.error?.response?.status == .unauthorized && transport.requests.count == 1)
    }

    @Test func explicitAuthorizationIsNotReplaced() async {
        let asked = Recorder<String>()
        let transport = server(#"Basic realm="r""#, accepting: "u:p")
        let request = WireRequest(http: HTTPRequest(url: home, headers: [.authorization: "Bearer old"]))

        #expect(await run(transport, answering("u", "p", asked), request)?.error?.code == .unacceptableStatus)
        #expect(asked.count == 0)
    }

    @Test func crossOriginRedirectChallengeIsIgnored() async {
        let asked = Recorder<String>()
        let transport = InMemoryTransport { request in
            request.url == home
                ? .status(.found, headers: [.location: "https://evil.com/"])
                : .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="example.com""#])
        }

        #expect(await run(transport, answering("u", "p", asked), WireRequest())?.error?.code == .unacceptableStatus)
        #expect(asked.count == 0)
    }

    @Test func challengeOutsideBaseURLOriginIsIgnored() async {
        let asked = Recorder<String>()
        let interceptor = answering("u", "p", asked)
        let queue = TestQueue(server(#"Basic realm="r""#)) {
            $0.baseURL = URL(string: "https://api.example.com")
            $0.interceptors = [interceptor]
        }

        let result = await Probe(adding: WireRequest(), to: queue).ended().first

        #expect(result?.error?.code == .unacceptableStatus && asked.count == 0)
    }

    @Test(arguments: [("a:b", "p"), ("u", "p\r\nX: y"), ("u\0", "p")])
    func credentialsInvalidInHeaderFieldFail(user: String, password: String) async {
        let transport = server(#"Basic realm="r""#)

        let result = await run(transport, answering(user, password), WireRequest())

        #expect(result?.error?.code == .invalidRequest && transport.requests.count == 1)
    }
}
