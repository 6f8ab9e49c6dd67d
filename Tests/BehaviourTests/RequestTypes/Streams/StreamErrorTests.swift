// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Errors thrown from a loop contain as much detail as those of `fetch`.
@Suite(.bounded) struct StreamErrorTests {
    /// A loop over the content of a response; returns what it has read.
    struct Loop: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let read: @Sendable (HTTPClient, Recorder<String>) async throws -> Void

        init(_ name: String, _ read: @escaping @Sendable (HTTPClient, Recorder<String>) async throws -> Void) {
            (testDescription, self.read) = (name, read)
        }
    }

    private struct Joining: StreamRequest {
        typealias Success = Void
        typealias Failure = RequestError

        let read: Recorder<String>
        var identifier: String { "joining" }

        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }

        func process(_ stream: ResponseStream) async throws {
            for try await chunk in stream { read.record(String(decoding: chunk, as: UTF8.self)) }
        }
    }

    static let loops = [
        Loop("chunks") { client, read in
            for try await chunk in try await client.stream(HTTPRequest(url: home)) {
                read.record(String(decoding: chunk, as: UTF8.self))
            }
        },
        Loop("lines") { client, read in
            for try await line in try await client.stream(HTTPRequest(url: home)).lines { read.record(line) }
        },
        Loop("JSON lines") { client, read in
            for try await value in try await client.stream(HTTPRequest(url: home)).jsonLines(Int.self) {
                read.record("\(value)")
            }
        },
        Loop("results") { client, read in
            for try await value in try await client.stream(HTTPRequest(url: home)).jsonLines(Int.self).results {
                read.record("\(try value.get())")
            }
        },
        Loop("events of a stream") { client, read in
            for try await event in try await client.stream(HTTPRequest(url: home)).serverSentEvents {
                read.record(event.data)
            }
        },
        Loop("events of a client") { client, read in
            for try await event in client.serverSentEvents(HTTPRequest(url: home), reconnection: .never) {
                read.record(event.data)
            }
        },
        Loop("a request's own loop") { client, read in try await client.fetch(Joining(read: read)) },
    ]

    private func error(
        of loop: Loop,
        _ response: StubResponse,
        read: Recorder<String> = Recorder(),
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) async -> RequestError? {
        let client = HTTPClient(transport: InMemoryTransport { _ in response }, configure)
        do {
            try await loop.read(client, read)
            return nil
        } catch {
            return error as? RequestError
        }
    }

    private func expectFacts(_ error: RequestError?, _ status: HTTPStatus? = .ok) {
        #expect(error?.request?.url == home)
        #expect(error?.response?.status == status)
        #expect(error?.transfers.map(\.request.url) == [home])
        #expect(error.map { "\($0)" }?.contains("example.com/recipes/1") == true)
    }

    static func content(_ text: String) -> StubResponse {
        .chunked([Data(text.utf8)], headers: [.contentType: "text/event-stream"])
    }

    @Test(arguments: loops) func connectionLossInIterationMatchesFetchError(_ loop: Loop) async throws {
        let response = Self.content("data").reset(after: 4)
        let client = HTTPClient(transport: InMemoryTransport { _ in response })
        let fetched = await #expect(throws: RequestError.self) { try await client.fetch(Get<Data>(home)) }

        let error = await error(of: loop, response)

        #expect(error?.code == .connectionLost && error?.phase == fetched?.phase)
        #expect(error?.transfers.first?.error?.code == .connectionLost)
        expectFacts(error)
    }

    @Test(arguments: loops, [0, 1, 8]) func loopThrowsConnectionLossAfterHead(_ loop: Loop, count: Int) async {
        let response = Self.content(String("1\n2\n3\n4\n".prefix(count))).reset(after: count)

        #expect(await error(of: loop, response)?.code == .connectionLost)
    }

    /// A consumer may be content with what it has.
    @Test func processCanRecoverFromConnectionLoss() async throws {
        struct Lenient: StreamRequest {
            typealias Success = Int
            typealias Failure = RequestError
            var identifier: String { "lenient" }
            func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
            func process(_ stream: ResponseStream) async throws -> Int {
                var count = 0
                do {
                    for try await chunk in stream { count += chunk.count }
                } catch {}
                return count
            }
        }
        let client = HTTPClient(transport: InMemoryTransport { _ in Self.content("12345678").reset(after: 8) })

        #expect(try await client.fetch(Lenient()) == 8)
    }

    @Test(arguments: loops[2...3]) func invalidLineErrorIncludesRequest(_ loop: Loop) async {
        let error = await error(of: loop, Self.content("1\nx\n"))

        #expect(error?.code == .decoding && error?.underlying is DecodingError)
        expectFacts(error)
    }

    @Test(arguments: [loops[1], loops[2], loops[4], loops[5]])
    func oversizedElementErrorIncludesRequest(_ loop: Loop) async {
        let error = await error(of: loop, Self.content("data: " + String(repeating: "x", count: 1 << 21) + "\n\n"))

        #expect(error?.code == .bodyTooLarge)
        expectFacts(error)
    }

    @Test func invalidEventErrorIncludesRequest() async {
        let loop = Loop("decoded events") { client, _ in
            for try await event in client.serverSentEvents(HTTPRequest(url: home)) { _ = try event.decode(Int.self) }
        }

        let error = await error(of: loop, Self.content("data: x\n\n"))

        #expect(error?.code == .decoding)
        expectFacts(error)
    }

    @Test func secondLoopErrorIncludesRequest() async throws {
        let client = HTTPClient(transport: InMemoryTransport { _ in Self.content("1\n") })
        let stream = try await client.stream(HTTPRequest(url: home))
        for try await _ in stream {}

        let error = await #expect(throws: RequestError.self) { for try await _ in stream {} }

        #expect(error?.code == .alreadyConsumed)
        expectFacts(error)
    }

    @Test(arguments: loops) func cancellingTaskCancelsLoop(_ loop: Loop) async throws {
        let gate = Gate()
        let response = Self.content("1\n2\n").held(by: gate, after: 0)
        let began = Gate()
        let client = HTTPClient(
            transport: InMemoryTransport { _ in
                began.open()
                return response
            }
        )
        let task = Task { try await loop.read(client, Recorder()) }
        try await began.wait()
        task.cancel()

        let error = await #expect(throws: RequestError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        gate.open()
    }

    @Test func mockStreamErrorIncludesResponse() async {
        let stream = ResponseStream([Data("x\n".utf8)], head: HTTPResponseHead(status: .created))

        let error = await #expect(throws: RequestError.self) { for try await _ in stream.jsonLines(Int.self) {} }

        #expect(error?.code == .decoding && error?.response?.status == .created)
    }

    /// Events may be the result of the operation that they refer to.
    @Test func keptEventsDoNotRetainOperation() async throws {
        struct Collecting: StreamRequest {
            typealias Success = [ServerSentEvent]
            typealias Failure = RequestError
            var identifier: String { "collecting" }
            func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
            func process(_ stream: ResponseStream) async throws -> [ServerSentEvent] {
                try await stream.serverSentEvents.reduce(into: []) { $0.append($1) }
            }
        }
        struct Keeping: StreamRequest {
            typealias Success = ResponseStream
            typealias Failure = RequestError
            var identifier: String { "keeping" }
            func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
            func process(_ stream: ResponseStream) async throws -> ResponseStream {
                for try await _ in stream {}
                return stream
            }
        }
        final class Sentinel: Sendable {}
        weak var sentinel: Sentinel?
        do {
            let held = Sentinel()
            sentinel = held
            let client = HTTPClient(
                transport: InMemoryTransport { _ in
                    withExtendedLifetime(held) { Self.content("data: x\n\n") }
                }
            ) { $0.interceptors = [.adapting { _ in withExtendedLifetime(held) {} }] }
            let events = try await client.fetch(Collecting())
            let error = #expect(throws: RequestError.self) { try events[0].decode(Int.self) }
            expectFacts(error)
            _ = try await client.fetch(Keeping())
        }

        try await eventually { sentinel == nil }
    }

    @Test func circularPagingErrorIncludesRequest() async {
        let client = HTTPClient(
            transport: InMemoryTransport { _ in .text("[]", headers: ["Link": "</recipes/1>; rel=next"]) }
        )

        let error = await #expect(throws: RequestError.self) {
            for try await _ in client.pages(HTTPRequest(url: home)) {}
        }

        #expect(error?.code == .pagingFailed)
        expectFacts(error)
    }

    @Test func nextPageErrorIncludesRequest() async {
        let client = HTTPClient(transport: InMemoryTransport { _ in .text("[]") })

        let error = await #expect(throws: RequestError.self) {
            for try await _ in client.pages(TextRequest(), by: .following { _ in throw SampleError() }) {}
        }

        #expect(error?.underlying is SampleError)
        expectFacts(error)
    }

    // MARK: Rejected responses

    static let eventLoops = loops[4...5]

    @Test(arguments: eventLoops, ["application/json", "text/html; charset=utf-8", "text/plain", "nonsense"])
    func wrongContentTypeErrorIncludesBody(_ loop: Loop, type: String) async {
        let reason = Data(#"{"error": {"message": "quota"}}"#.utf8)

        let error = await error(of: loop, .status(.ok, headers: [.contentType: type], body: reason))

        #expect(error?.code == .unacceptableContentType && error?.body == reason)
        expectFacts(error)
    }

    @Test(arguments: eventLoops) func wrongContentTypeErrorBodyIsLimited(_ loop: Loop) async {
        let page = StubResponse.status(.ok, headers: [.contentType: "text/html"], body: Data(count: 1 << 20))

        let error = await error(of: loop, page) { $0.maximumErrorBodySize = 1000 }

        #expect(error?.code == .unacceptableContentType && error?.body.count == 1000)
    }

    @Test(arguments: eventLoops, [HTTPStatus.forbidden, .internalServerError])
    func unacceptableStatusErrorIncludesBody(_ loop: Loop, status: HTTPStatus) async {
        let error = await error(of: loop, .status(status, body: Data("why".utf8)))

        #expect(error?.code == .unacceptableStatus && error?.body == Data("why".utf8))
        expectFacts(error, status)
    }

    /// A server may begin the body of an error, and then stall or drop the connection.
    @Test(arguments: eventLoops, [HTTPStatus.ok, .forbidden])
    func stalledErrorBodyKeepsOriginalError(_ loop: Loop, status: HTTPStatus) async throws {
        let refused = StubResponse.status(status, headers: [.contentType: "application/json"], body: Data("quota".utf8))
        for response in [refused.stalled(after: 2), refused.reset(after: 2)] {
            let error = await error(of: loop, response) { $0.timeout = .seconds(100) }

            #expect(error?.code == (status == .ok ? .unacceptableContentType : .unacceptableStatus))
            #expect(error?.body == Data("qu".utf8))
            expectFacts(error, status)
        }
    }

    @Test func unrequestedPartialContentFailsStream() async {
        let part = StubResponse.status(.partialContent, headers: [.contentRange: "bytes 0-1/4"], body: Data("1\n".utf8))

        let error = await error(of: Self.loops[0], part)

        #expect(error?.code == .badResponse)
    }

    @Test func cancellingDuringErrorBodyThrowsCancelled() async throws {
        let gate = Gate()
        let response = StubResponse.status(.ok, headers: [.contentType: "application/json"], body: Data("quota".utf8))
        let client = HTTPClient(transport: InMemoryTransport { _ in response.held(by: gate, after: 2) })
        let stream = try await client.stream(HTTPRequest(url: home))
        let task = Task { for try await _ in stream.serverSentEvents {} }
        task.cancel()

        let error = await #expect(throws: RequestError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        gate.open()
    }

    /// A request that accepts any status still wants events.
    @Test func eventStreamRequiresSuccessStatus() async {
        let client = HTTPClient(
            transport: InMemoryTransport { _ in
                .status(.notFound, headers: [.contentType: "text/event-stream"], body: Data("data: a\n\n".utf8))
            }
        )
        let error = await #expect(throws: RequestError.self) {
            for try await _ in client.serverSentEvents(HTTPRequest(url: home).acceptingAnyStatus()) {}
        }

        #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
    }

    @Test(arguments: [HTTPStatus.ok, .created, .accepted, .nonAuthoritativeInformation, 299])
    func successStatusesCanCarryEvents(_ status: HTTPStatus) async throws {
        let client = HTTPClient(
            transport: InMemoryTransport { _ in
                .status(status, headers: [.contentType: "text/event-stream"], body: Data("data: a\n\n".utf8))
            }
        )
        let post = HTTPRequest(url: home, method: .post)

        let direct = try await client.serverSentEvents(post).reduce(into: []) { $0.append($1.data) }
        let streamed = try await client.stream(post).serverSentEvents.reduce(into: []) { $0.append($1.data) }

        #expect(direct == ["a"] && streamed == ["a"])
    }

    /// The API's reason, decoded as its error type.
    @Test func rejectedEventsThrowAPIError() async {
        struct APIError: Error, Decodable { let message: String }
        let reason = Data(#"{"message": "quota"}"#.utf8)
        let client = HTTPClient(
            transport: InMemoryTransport { _ in
                .status(.tooManyRequests, headers: [.contentType: "application/json"], body: reason)
            }
        ) { $0.validators = [.errors(APIError.self)] }

        let error = await #expect(throws: RequestError.self) {
            for try await _ in client.serverSentEvents(HTTPRequest(url: home, method: .post)) {}
        }

        #expect((error?.underlying as? APIError)?.message == "quota")
    }

    // MARK: Event identifiers

    /// Without this, one unsendable identifier would end the stream permanently.
    @Test(arguments: ["a\u{1}b", "a\u{7F}", String(repeating: "a", count: 1 << 16 + 1)])
    func unsendableEventIDIsSkipped(_ id: String) async throws {
        let transport = InMemoryTransport.answering([
            Self.content("id: 7\nretry: 0\ndata: a\n\nid: \(id)\ndata: b\n\n"), Self.content("data: c\n\n"),
            .status(.noContent),
        ])
        let client = HTTPClient(transport: transport)

        var events: [ServerSentEvent] = []
        for try await event in client.serverSentEvents(HTTPRequest(url: home)) { events.append(event) }

        #expect(events.map(\.data) == ["a", "b", "c"] && events.map(\.id) == ["7", id, "7"])
        #expect(transport.requests.map { $0.headers[.lastEventID] } == [nil, "7", "7"])
    }
}
