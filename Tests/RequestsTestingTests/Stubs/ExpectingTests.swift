// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ExpectingTests {
    private let request = ReceivedRequest(
        url: URL(string: "https://api.example.com:8443/users/1?page=1&token=hush")!,
        method: .post,
        headers: [.accept: "*/*", .authorization: "Bearer hush", "X-A": "1"],
        body: Data(#"{"name":"Bob","password":"hush"}"#.utf8)
    )

    @Test func returnsFirstMatchingRequest() throws {
        let requests = [ReceivedRequest(url: URL(string: "https://a/x")!), request, request]

        let found = try requests.expect(.post, "/users/{id}", .jsonBody(containing: ["name": "Bob"]))

        #expect(found["id"] == "1")
        try requests.expect(.header("X-A", "1"), .not(.header(.cookie)))
    }

    @Test func reportsNearestRequestWithCallSite() throws {
        let requests = [ReceivedRequest(url: URL(string: "https://a/x")!), request]

        let line: UInt = #line + 2
        let failure = #expect(throws: UnmetExpectations.self) {
            try requests.expect(
                .post,
                "/users/{id}",
                .header(.accept, "text/html"),
                .header(.authorization, "Bearer other"),
                .jsonBody(["name": "Ada", "password": "other"]),
                line: line
            )
        }

        #expect(
            failure?.description == """
                \(#fileID):\(line): no request matches: method POST, URI template /users/{id}, \
                header Accept with a specific value, header Authorization with a specific value, JSON body
                the closest of 2 requests: POST https://api.example.com:8443/users/1?page=…&token=…
                - the header Accept is */*, not text/html
                - the header Authorization has a different value
                - the JSON differs: name is "Bob", not "Ada", password has a different value
                """
        )
        let none = #expect(throws: UnmetExpectations.self) { try [ReceivedRequest]().expect(.any, line: 7) }
        #expect(none?.description == "\(#fileID):7: no request matches: any request\nthere were no requests")
    }

    @Test func expectWorksWithServersAndRecorders() async throws {
        let server = try MockServer { _ in .status(.ok) }
        let recorder = ExchangeRecorder()
        let client = HTTPClient(baseURL: server.url, transport: recorder)

        _ = try await HTTPRequest { request in
            request.path = "/users"
            request.query = ["page": "2"]
            request.method = .post
            request.body = .json(["name": "Ada"])
        }.fetch(on: client)

        for requests in [server.requests, recorder.exchanges.map(\.request)] {
            try requests.expect(.post, "/users{?page}", .query(["page": "2"]), .jsonBody(["name": "Ada"]))
            try requests.expect(.url(server.url("/users?page=2")))
        }
    }

    @Test func failureDescriptionIsShort() {
        var request = request
        request.body = Data("[\(Array(repeating: "1", count: 1000).joined(separator: ","))]".utf8)

        let failure = #expect(throws: UnmetExpectations.self) {
            try [request].expect(.jsonBody(encoding: Array(repeating: 2, count: 1000)))
        }

        #expect(failure?.description.utf8.count ?? .max < 1000)
    }
}
