// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// The precedence of fields: session < client < implied by the body < explicit < interceptors < mandatory.
@Suite(.bounded) struct HTTPRequestBodyTests {
    private func types(
        client: HTTPHeaders = [],
        explicit: HTTPHeaders = [],
        body: HTTPBody,
        interceptor: (inout HTTPRequest) -> Void = { _ in }
    ) throws -> [String] {
        let url = try #require(URL(string: "https://example.com/"))
        var request = HTTPRequest(url: url, method: .post, headers: explicit, body: body)
        let implied = request.applyHeaders(of: client)
        interceptor(&request)
        try request.resolveBody(implied: implied)
        return request.headers[values: .contentType]
    }

    private let form = HTTPBody.multipart(MultipartForm(boundary: "b"))

    @Test func contentTypePrecedence() throws {
        #expect(try types(client: [.contentType: "client/x"], body: .none) == ["client/x"])
        #expect(try types(client: [.contentType: "client/x"], body: .text("")) == ["text/plain; charset=utf-8"])
        #expect(try types(client: [.contentType: "client/x"], body: .data(Data(), type: nil)) == ["client/x"])
        #expect(try types(explicit: [.contentType: "own/x"], body: .json([])) == ["own/x"])
        #expect(try types(body: .json([])) { $0.headers[.contentType] = "late/x" } == ["late/x"])
        #expect(try types(explicit: [.contentType: "own/x"], body: form) == ["multipart/form-data; boundary=b"])
        #expect(try types(body: form) { $0.headers[.contentType] = "late/x" } == ["multipart/form-data; boundary=b"])
    }

    @Test func absentBodyPreservesContentType() throws {
        #expect(try types(explicit: [.contentType: "own/x"], body: .none) == ["own/x"])
        #expect(try types(body: .none) == [])
    }

    @Test func bodyResolvingToNoneAddsNoFields() throws {
        let body = HTTPBody(headers: [.contentType: "a/b"], mandatoryHeaders: ["X-A": "1"]) { .none }

        #expect(try types(body: body) == [])
        #expect(try types(explicit: [.contentType: "own/x"], body: body) == ["own/x"])
    }

    @Test func replacedBodySetsItsContentType() throws {
        let packed = HTTPBody.data(Data("packed".utf8), type: nil)

        #expect(try types(body: .json([])) { $0.body = .text("") } == ["text/plain; charset=utf-8"])
        #expect(try types(body: form) { $0.body = .json([]) } == ["application/json"])
        #expect(try types(body: .json([])) { $0.body = packed } == ["application/json"])
        #expect(try types(body: form) { $0.body = packed } == ["multipart/form-data; boundary=b"])
        #expect(try types(explicit: [.contentType: "own/x"], body: .json([])) { $0.body = .text("") } == ["own/x"])
        #expect(try types(body: .none) { $0.body = .json([]) } == ["application/json"])
        #expect(try types(body: .json([])) { $0.headers.remove(.contentType) } == [])
    }

    @Test func interceptorsSeeBodyFields() throws {
        _ = try types(explicit: [.contentType: "own/x"], body: form) {
            #expect($0.headers[.contentType] == "multipart/form-data; boundary=b")
        }
        _ = try types(body: .json([])) { #expect($0.headers[.contentType] == "application/json") }
    }

    @Test func encodingErrorIsThrown() {
        #expect(throws: EncodingError.self) { try types(body: .json(Double.nan)) }
    }
}
