// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// A challenge for credentials is a response like any other, and never blocks a request.
    @Suite(.bounded) struct ChallengeTests {
        static let challenges: [[String]] = [
            [], ["Basic realm=\"a\""], ["Bearer realm=\"a\", error=\"invalid_token\""], ["Bearer, Basic realm=\"a\""],
            ["Basic realm=\"a\"", "Bearer"], ["Digest realm=\"a\", nonce=\"b\", qop=\"auth\""], ["Negotiate"],
            ["Nonsense"],
        ]

        @Test(arguments: TransportUnderTest.all, challenges)
        func unauthorizedResponseIsReported(_ transport: TransportUnderTest, _ challenges: [String]) async throws {
            try await expectAnswer(.unauthorized, field: "WWW-Authenticate", challenges, over: transport)
        }

        @Test(arguments: TransportUnderTest.all, challenges)
        func proxyAuthenticationRequiredIsReported(
            _ transport: TransportUnderTest,
            _ challenges: [String]
        ) async throws {
            try await expectAnswer(
                .proxyAuthenticationRequired,
                field: "Proxy-Authenticate",
                challenges,
                over: transport
            )
        }

        @Test(arguments: TransportUnderTest.all, [HTTPMethod.get, .post, .head])
        func rejectedCredentialsReportResponse(_ transport: TransportUnderTest, _ method: HTTPMethod) async throws {
            let server = try MockServer { _ in
                .text("wrong", status: .unauthorized, headers: ["WWW-Authenticate": "Basic realm=\"a\""])
            }
            let url = try #require(URL(string: "http://user:wrong@127.0.0.1:\(server.port)/"))
            let body: HTTPBody = method == .post ? .data(Data("abc".utf8)) : .none

            let run = await transport.run(Call(url, method: method, body: body))

            #expect(run.error?.code == .unacceptableStatus)
            #expect(run.error?.response?.status == .unauthorized)
            #expect(run.error?.body == Data(method == .head ? "".utf8 : "wrong".utf8))
            #expect(server.requests.count == 1)
            #expect(server.requests.allSatisfy { $0.headers.contains(.authorization) })
        }

        @Test(arguments: TransportUnderTest.all)
        func challengeIsReturnedWithoutStatusValidation(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in
                .text("who are you?", status: .unauthorized, headers: ["WWW-Authenticate": "Basic realm=\"a\""])
            }

            let response = try await transport.send(Call(server.url) { $0.validatesStatus = false })

            #expect(response.status == .unauthorized)
            #expect(response.headers["WWW-Authenticate"] == "Basic realm=\"a\"")
            #expect(response.text == "who are you?")
        }

        private func expectAnswer(
            _ status: HTTPStatus,
            field: HTTPField.Name,
            _ challenges: [String],
            over transport: TransportUnderTest
        ) async throws {
            let fields = HTTPHeaders(challenges.map { HTTPField(field, $0) })
            let server = try MockServer { _ in .text("who are you?", status: status, headers: fields) }

            let run = await transport.run(Call(server.url))

            let error = try #require(run.error)
            #expect(error.code == .unacceptableStatus)
            #expect(error.response?.status == status)
            #expect(error.body == Data("who are you?".utf8))
            #expect(run.durationOfTransfer < .seconds(30))
            #expect(server.requests.count == 1)
        }
    }
}
