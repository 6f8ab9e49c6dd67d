// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// The examples of RFC 7616, 3.9, and RFC 2617, 3.5.
@Suite(.bounded) struct DigestSessionTests {
    private func challenge(_ text: String) throws -> Authorization.Challenge {
        try #require(Authorization.Challenge.list(parsing: text).first)
    }

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func rfcExampleProducesExpectedResponse(algorithm: String, response: String) throws {
        let challenge = try challenge(
            """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """
        )
        let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        var session = try #require(
            DigestSession(challenge, user: "Mufasa", password: "Circle of Life", clientNonce: clientNonce)
        )

        let answer = session.authorization(for: .get, "/dir/index.html", content: nil)

        #expect(
            answer.rawValue == """
                Digest username="Mufasa", realm="http-auth@example.org", \
                nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", response="\(response)", \
                algorithm=\(algorithm), opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", qop=auth, nc=00000001, \
                cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
                """
        )
    }

    /// The example with `userhash`. The standard's digests are truncated SHA-512 (erratum 4897); these are OpenSSL's.
    @Test func userHashIsSentIfServerRequestsIt() throws {
        let challenge = try challenge(
            """
            Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, \
            nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", charset=UTF-8, userhash=true
            """
        )
        let clientNonce = "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm"
        var session = try #require(
            DigestSession(
                challenge,
                user: "Ja\u{308}s\u{F8}n Doe",
                password: "Secret, or not?",
                clientNonce: clientNonce
            )
        )

        let parameters = session.authorization(for: .get, "/doe.json", content: nil).parameters

        #expect(
            parameters[named: "username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"
        )
        #expect(
            parameters[named: "response"] == "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c"
        )
        #expect(parameters[named: "userhash"] == "true")
    }

    @Test func rfc2069ChallengeOmitsQop() throws {
        let challenge = try challenge(#"Digest realm="r", nonce="n""#)
        var session = try #require(DigestSession(challenge, user: "u", password: "p", clientNonce: "c"))
        let (one, two) = (MD5.digest(of: "u:r:p".utf8).hexadecimal, MD5.digest(of: "GET:/".utf8).hexadecimal)

        let parameters = session.authorization(for: .get, "/", content: nil).parameters

        #expect(parameters[named: "response"] == MD5.digest(of: "\(one):n:\(two)".utf8).hexadecimal)
        #expect(parameters[named: "qop"] == nil && parameters[named: "nc"] == nil)
    }

    @Test func nonceCountRestartsWithNewNonce() throws {
        let challenge = try challenge(#"Digest realm="r", nonce="n", qop="auth""#)
        var session = try #require(DigestSession(challenge, user: "u", password: "p", clientNonce: "c"))
        func count() -> String? { session.authorization(for: .get, "/", content: nil).parameters[named: "nc"] }

        #expect([count(), count()] == ["00000001", "00000002"])
        session.renew("m")
        #expect([count(), count()] == ["00000001", "00000002"])
    }

    /// RFC 7616, 3.4.2: the key uses the nonce of the challenge, and only another challenge begins another session.
    @Test func sessionKeySurvivesNonceRenewal() throws {
        func text(_ nonce: String, _ more: String) -> String {
            "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=MD5-sess, opaque=\"\(more)\""
        }
        func digest(_ text: String) -> String { MD5.digest(of: text.utf8).hexadecimal }
        func expected(key: String, nonce: String) -> String {
            let secret = digest("\(digest("u:r:p")):\(key):c")
            return digest("\(secret):\(nonce):00000001:c:auth:\(digest("GET:/"))")
        }
        var session = try #require(
            DigestSession(try challenge(text("n", "a")), user: "u", password: "p", clientNonce: "c")
        )
        func answer() -> [HTTPField.Parameter] { session.authorization(for: .get, "/", content: nil).parameters }

        #expect(answer()[named: "response"] == expected(key: "n", nonce: "n"))
        session.renew("m")
        #expect(answer()[named: "response"] == expected(key: "n", nonce: "m"))
        session = try #require(session.restarted(by: try challenge(text("o", "b"))))
        let answer = answer()
        #expect(answer[named: "response"] == expected(key: "o", nonce: "o") && answer[named: "opaque"] == "b")
        #expect(session.restarted(by: try challenge(#"Digest realm="other", nonce="n""#)) == nil)
    }

    @Test func quotesAndNonASCIINamesAreEncoded() throws {
        let challenge = try challenge(#"Digest realm="a \"b\"", nonce="n", qop="auth", charset=UTF-8"#)
        var session = try #require(DigestSession(challenge, user: "J\u{E4}s", password: "p", clientNonce: "c"))

        let answer = session.authorization(for: .get, "/", content: nil).rawValue

        #expect(answer.contains("username*=UTF-8''J%C3%A4s") && answer.contains(#"realm="a \"b\"""#))
    }

    @Test func descriptionHidesPassword() throws {
        let session = try #require(
            DigestSession(
                try challenge(#"Digest realm="a", nonce="n""#),
                user: "u",
                password: "hunter2",
                clientNonce: "c"
            )
        )

        var dumped = ""
        dump(session, to: &dumped)
        #expect(!"\(session) \(String(reflecting: session)) \(dumped)".contains("hunter2"))
    }
}
