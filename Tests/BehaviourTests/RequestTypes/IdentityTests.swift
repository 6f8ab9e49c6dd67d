// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct IdentityTests {
    private static let base = Get<User>("users", "1")

    @Test func identicalRequestsCompareEqual() {
        #expect(Get<User>("users", "1") == Get<User>("users", "1"))
        #expect(Post<User>("u").body { User() } == Post<User>("u").body { User() })
        #expect(Set([Self.base, Self.base]).count == 1)
    }

    static let others: [Get<User>] = [
        Get("users", "2"), base.method(.head), base.query(["a": "1"]), base.headers { Accept(.xml) },
        base.authenticated(with: .bearerToken("t")),
        base.authenticated(with: .basicAuth(username: "a:b", password: "c")),
        base.headers { .acceptLanguage("de") }, base.body(.text("x")), base.body(.json("x")),
        base.body(.data(Data("x".utf8))),
        base.headers {
            Header("a", value: "b")
            Header("c", value: "d")
        }, base.headers { Header("a", value: "bcd") },
    ]

    @Test func requestsWithDifferentContentAreDistinct() {
        #expect(Set(Self.others + [Self.base]).count == Self.others.count + 1)
    }

    @Test func fileAndStreamBodiesNeverCompareEqual() {
        let file = Self.base.body(.file(URL(filePath: "/dev/null")))
        let stream = Self.base.body(.stream(HTTPBody.Stream(InputStream(data: Data()))))

        #expect(file != file && stream != stream)
    }

    @Test func identifierContainsNoSecrets() {
        let request = Self.base.authenticated(with: .bearerToken("secret")).query(["token": "secret"])

        #expect(!request.identifier.contains("secret"))
        #expect(request.identifier.hasPrefix("GET users/1 "))
    }

    @Test func equalCoalescingRequestsShareTransfer() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport) { $0.baseURL = server }
        defer { queue.base.cancelAllOperations() }

        let operations = (0..<3).map { _ in queue.addRequest(Get<String>("motto").coalescing()) }
        let other = queue.addRequest(Get<String>("motto").coalescing().headers { .acceptLanguage("de") })
        try await transport.awaitTransfer(count: 2)
        for transfer in transport.transfers {
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            transfer.receive(.data(Data("hi".utf8)))
            transfer.receive(.end(nil))
        }

        for operation in operations + [other] { #expect(try await operation.value() == "hi") }
        #expect(transport.transfers.count == 2)
    }
}
