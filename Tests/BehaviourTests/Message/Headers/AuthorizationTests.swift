// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct AuthorizationTests {
    @Test(
        arguments: [
            (.bearer("mF_9.B5f-4.1JqM"), "Bearer mF_9.B5f-4.1JqM"), (.oauth("1|x"), "OAuth 1|x"),
            // RFC 7617, 2 and 2.1.
            (.basic(username: "Aladdin", password: "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            (.basic(username: "test", password: "123£"), "Basic dGVzdDoxMjPCow=="),
            (.basic(username: "", password: ""), "Basic Og=="),
            (
                Authorization("Digest username=\"a b\", algorithm=MD5"),
                "Digest username=\"a b\", algorithm=MD5"
            ),
            (Authorization("Anything goes"), "Anything goes"),
        ] as [(Authorization, String)]
    )
    func serializesCredentials(authorization: Authorization, text: String) throws {
        #expect(try authorization.validated().rawValue == text)
    }

    @Test(
        arguments: [
            .bearer(""), .bearer("a b"), .bearer("a\r\nX-Evil: 1"), .bearer("a\0"), .bearer("ä"), .oauth("\n"),
            .basic(username: "a:b", password: "secret"), .basic(username: "a\n", password: "secret"),
            .basic(username: "a", password: "secret\0"), Authorization(scheme: "a b", token: "secret"),
            Authorization(scheme: "", token: "secret"), Authorization(scheme: "X\r\nY", token: "secret"),
            Authorization("secret\r\nX: y"),
        ] as [Authorization]
    )
    func invalidCredentialsAreRejectedAndRedacted(_ authorization: Authorization) {
        let error = #expect(throws: InvalidValue.self) { try authorization.validated() }

        #expect(error?.kind == .headerValue)
        #expect(error.map { "\($0)".contains("secret") } == false)
    }

    @Test(arguments: [
        Authorization.bearer("hush"), .basic(username: "hush", password: "hush"), Authorization("hush"),
        Authorization("Digest a=hush"),
    ])
    func descriptionsRedactSecret(_ authorization: Authorization) {
        var dumped = ""
        dump(authorization, to: &dumped)

        let texts = [
            "\(authorization)", String(reflecting: authorization), dumped, "\(HTTPField.authorization(authorization))",
        ]

        #expect(texts.allSatisfy { !$0.contains("hush") && !$0.contains("aHVzaD") && $0.contains("<redacted>") })
    }

    @Test func parsesCredentials() throws {
        let basic = try #require(Authorization("basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==").basicCredentials)
        #expect(basic == ("Aladdin", "open sesame"))
        #expect(Authorization.basic(username: "a", password: "b:c").basicCredentials?.password == "b:c")
        #expect(Authorization.bearer("x").basicCredentials == nil && Authorization("Basic !").basicCredentials == nil)
        #expect(Authorization.bearer("x").token == "x" && Authorization.bearer("x").scheme == "Bearer")
        let digest = Authorization("Digest username=\"a, b\", qop=auth")
        #expect(digest.parameters == [.init("username", "a, b"), .init("qop", "auth")] && digest.token == nil)
        #expect(Authorization("").scheme.isEmpty && Authorization("").token == nil)
    }
}
