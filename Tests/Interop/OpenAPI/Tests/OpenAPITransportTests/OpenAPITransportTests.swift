// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import HTTPTypes
import OpenAPIRuntime
import OpenAPITransport
import Requests
import RequestsTesting
import Testing

/// Requests as a generated client sends them.
@Suite struct OpenAPITransportTests {
    private typealias Body = OpenAPIRuntime.HTTPBody

    private struct Broken: Error {}

    private let transport = OpenAPITransport(HTTPClient())

    private func send(
        _ method: HTTPTypes.HTTPRequest.Method,
        _ path: String,
        _ fields: HTTPTypes.HTTPFields = [:],
        body: Body? = nil,
        to server: MockServer
    ) async throws -> (HTTPTypes.HTTPResponse, Body?) {
        let request = HTTPTypes.HTTPRequest(
            method: method,
            scheme: nil,
            authority: nil,
            path: path,
            headerFields: fields
        )
        return try await transport.send(request, body: body, baseURL: server.url("/v1"), operationID: "test")
    }

    @Test func requestAndResponseAreWhatTheyWere() async throws {
        let server = try MockServer { .text($0.text, status: .notFound, headers: ["X-Twice": "a"]) }

        let (response, body) = try await send(
            .put,
            "/pets/%2F?limit=1&tags=a%20b",
            [.contentType: "text/plain", .accept: "a/b"],
            body: "hello",
            to: server
        )
        let text = try await String(collecting: #require(body), upTo: 100)

        let request = try #require(server.requests.first)
        #expect(request.target == "/v1/pets/%2F?limit=1&tags=a%20b" && request.method == .put)
        #expect(request.headers[.contentType] == "text/plain" && request.headers[.accept] == "a/b")
        #expect(request.headers[.contentLength] == "5")
        #expect(response.status == .notFound && text == "hello")
        #expect(response.headerFields[try #require(HTTPTypes.HTTPField.Name("X-Twice"))] == "a")
    }

    /// The response begins before the body of the request has ended, and is read before it has ended itself.
    @Test(.timeLimit(.minutes(1))) func bothBodiesAreStreamed() async throws {
        let gate = Gate()
        let server = try MockServer()
        server.route(.post, "/v1/films", .text("begin, end").held(by: gate, after: 5).early)
        let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        continuation.yield([1, 2, 3])

        let upload = Body(chunks.map { $0[...] }, length: .unknown, iterationBehavior: .single)
        let (response, body) = try await send(.post, "/films", body: upload, to: server)
        #expect(response.status == .ok)
        var download = try #require(body).makeAsyncIterator()
        #expect(try await download.next().map { String(decoding: $0, as: UTF8.self) } == "begin")
        continuation.yield([4, 5, 6])
        gate.open()
        continuation.finish()

        #expect(try await download.next().map { String(decoding: $0, as: UTF8.self) } == ", end")
    }

    @Test(arguments: [IterationBehavior.multiple, .single])
    func bodyIsSentAgainIfItCanBe(_ behavior: IterationBehavior) async throws {
        let server = try MockServer {
            $0.path == "/v1/a" ? .redirect(to: "/v1/b", status: .temporaryRedirect) : .text($0.text)
        }
        let chunks = [[UInt8]("ab".utf8)[...], [UInt8]("c".utf8)[...]].async
        let body = Body(chunks, length: .known(3), iterationBehavior: behavior)

        guard behavior == .multiple else {
            let error = await #expect(throws: RequestError.self) { try await send(.put, "/a", body: body, to: server) }
            #expect(error?.code == .bodyNotReplayable)
            return
        }
        let (_, answer) = try await send(.put, "/a", body: body, to: server)

        #expect(try await String(collecting: #require(answer), upTo: 100) == "abc")
        #expect(server.requests.map(\.text) == ["abc", "abc"])
    }

    @Test func errorOfTheBodyIsTheReason() async throws {
        let server = try MockServer { _ in .text("") }
        let chunks = AsyncThrowingStream<ArraySlice<UInt8>, any Error> { $0.finish(throwing: Broken()) }

        let error = await #expect(throws: RequestError.self) {
            try await send(.put, "/a", body: Body(chunks, length: .unknown), to: server)
        }

        #expect(error?.underlying is Broken && server.requests.isEmpty)
    }
}

extension Array where Element: Sendable {
    /// The elements as an asynchronous sequence, which can be iterated again.
    fileprivate var async: AsyncElements { AsyncElements(elements: self) }

    fileprivate struct AsyncElements: AsyncSequence, Sendable {
        let elements: [Element]

        func makeAsyncIterator() -> Iterator { Iterator(rest: elements[...]) }

        struct Iterator: AsyncIteratorProtocol {
            var rest: ArraySlice<Element>

            mutating func next() async -> Element? { rest.popFirst() }
        }
    }
}
