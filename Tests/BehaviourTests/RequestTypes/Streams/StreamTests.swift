// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct StreamTests {
    /// Joins the chunks, until the terminating string has arrived.
    private struct Joining: StreamRequest {
        typealias Success = String
        typealias Failure = RequestError

        var identifier = "joining"
        var options = RequestOptions()
        var until: String?

        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }

        func process(_ stream: ResponseStream) async throws -> String {
            var text = ""
            for try await chunk in stream {
                text += String(decoding: chunk, as: UTF8.self)
                if let until, text.hasSuffix(until) { break }
            }
            return text
        }
    }

    private static let pieces = ["a", "b", "c"].map { Data($0.utf8) }

    @Test func processBuildsValueFromChunks() async throws {
        let queue = TestQueue(InMemoryTransport { _ in .chunked(Self.pieces) })

        #expect(try await queue.fetch(Joining()) == "abc")
    }

    @Test func unacceptableStatusKeepsErrorBody() async {
        let transport = InMemoryTransport { _ in .status(.notFound, body: Data("no log".utf8)) }
        let operation = TestQueue(transport).addRequest(Joining())
        await operation.end()

        #expect(operation.result?.error?.code == .unacceptableStatus)
        #expect(operation.result?.error?.body == Data("no log".utf8))
    }

    /// The content of a 3xx isn't streamed, because the redirect might be followed.
    @Test func partiallyReadContentFailsStream() async throws {
        let queue = TestQueue(InMemoryTransport { _ in .status(.multipleChoices, body: Data(count: 200_000)) })
        var request = Joining()
        request.options.validatesStatus = false

        await #expect { try await queue.fetch(request) } throws: { ($0 as? RequestError)?.code == .rejected }
    }

    @Test func errorStatusIsRetriedConsumedStreamIsNot() async throws {
        let refused = InMemoryTransport.answering([.status(.serviceUnavailable), .chunked(Self.pieces)])
        let queue = TestQueue(refused) { $0.retry = RetryPolicy(backoff: .none) }
        #expect(try await queue.fetch(Joining()) == "abc" && refused.requests.count == 2)

        let steps = ManualTransport()
        let broken = TestQueue(steps) { $0.retry = RetryPolicy(backoff: .none) }.addRequest(Joining())
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.data(Self.pieces[0]))
        transfer.receive(.end(RequestError(.connectionLost, phase: .receiving)))
        await broken.end()

        #expect(broken.result?.error?.code == .connectionLost && steps.transfers.count == 1)
    }

    private struct Held: StreamRequest {
        typealias Success = Int
        typealias Failure = RequestError

        let identifier = "held"
        let gate: Gate
        let errors: Recorder<RequestError.Code>

        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }

        func process(_ stream: ResponseStream) async throws -> Int {
            do {
                try? await gate.wait()
                return try await stream.reduce(0) { $0 + $1.count }
            } catch let error as RequestError {
                errors.record(error.code)
                throw error
            }
        }
    }

    /// The transport reports the cancellation, which is only a consequence.
    @Test func slowConsumerFailsWithBufferFull() async throws {
        let steps = ManualTransport()
        let request = Held(gate: Gate(), errors: Recorder())
        let operation = TestQueue(steps).addRequest(request)
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        for _ in 0..<5 { transfer.receive(.data(Data(count: 1 << 20))) }
        try await transfer.awaitCancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
        request.gate.open()
        await operation.end()

        #expect(operation.result?.error?.code == .bufferFull)
        #expect(await request.errors.first(1) == [.bufferFull])
    }

    @Test func returningEarlyCancelsTransfer() async throws {
        let steps = ManualTransport()
        let operation = TestQueue(steps).addRequest(Joining(until: "b"))
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        for piece in Self.pieces { transfer.receive(.data(piece)) }

        #expect(try await operation.value() == "ab")
        try await transfer.awaitCancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
        await operation.end()
    }

    @Test func cancellationEndsConsumer() async throws {
        let steps = ManualTransport()
        let operation = TestQueue(steps).addRequest(Joining())
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))

        operation.cancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
        await operation.end()

        #expect(operation.result?.error?.code == .cancelled)
    }

    @Test func callerCanReadReturnedStream() async throws {
        let queue = TestQueue(InMemoryTransport { _ in .chunked(Self.pieces) })

        let stream = try await queue.stream(HTTPRequest(url: home))
        let text = try await stream.reduce(into: "") { $0 += String(decoding: $1, as: UTF8.self) }

        #expect(stream.status == .ok && text == "abc")
        for operation in queue.operations { await operation.end() }
    }

    @Test func contentBeforeFailureIsDelivered() async throws {
        let steps = ManualTransport()
        let queue = TestQueue(steps)
        let waiting = Task { try await queue.stream(HTTPRequest(url: home)) }
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        let stream = try await waiting.value
        let operations = queue.operations
        for piece in Self.pieces { transfer.receive(.data(piece)) }
        transfer.receive(.end(RequestError(.connectionLost, phase: .receiving)))
        for operation in operations { await operation.end() }

        var text = ""
        await #expect {
            for try await chunk in stream { text += String(decoding: chunk, as: UTF8.self) }
        } throws: { error in
            (error as? RequestError)?.code == .connectionLost
        }

        #expect(text == "abc")
    }

    @Test func releasingStreamCancelsTransfer() async throws {
        let steps = ManualTransport()
        let queue = TestQueue(steps)
        let waiting = Task { try await queue.stream(HTTPRequest(url: home)).status }
        let transfer = try await steps.awaitTransfer()

        transfer.receive(.head(HTTPResponseHead(status: .ok)))

        #expect(try await waiting.value == .ok)
        try await transfer.awaitCancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
        for operation in queue.operations { await operation.end() }
    }

    @Test func unacceptableStatusThrowsFromStream() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(.notFound) })

        await #expect { try await queue.stream(HTTPRequest(url: home)) } throws: { error in
            (error as? RequestError)?.code == .unacceptableStatus
        }
    }

    @Test func streamsAreNeitherCachedNorShared() async throws {
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: [.cacheControl: "max-age=3600"], body: Data("abc".utf8))
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }
        var request = Joining()
        request.options.coalesce = true

        for _ in 1...2 { #expect(try await queue.fetch(request) == "abc") }

        #expect(transport.requests.count == 2)
    }
}
