// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// What the `process` of a stream inherits from its caller, and its limits.
@Suite(.bounded) struct StreamScopeTests {
    @TaskLocal private static var trace = "none"

    private struct Traced: StreamRequest {
        typealias Success = String
        typealias Failure = RequestError

        var url = home
        var options = RequestOptions()
        var identifier: String { "traced" }

        func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: url)))
        }

        func process(_ stream: ResponseStream) async throws -> String {
            let count = try await stream.reduce(0) { $0 + $1.count }
            return "\(StreamScopeTests.trace) \(count)"
        }
    }

    /// A transport delivers on its own threads, which have no task-local values.
    @Test(arguments: [true, false])
    func processInheritsCallersTaskLocals(isAnsweredByAnInterceptor: Bool) async throws {
        let server = try MockServer { _ in .text("abc") }
        let queue = TestQueue(HTTPClient.defaultTransport) { environment in
            guard isAnsweredByAnInterceptor else { return }
            let answer = HTTPResponse(head: HTTPResponseHead(status: .ok), body: ResponseContent.data(Data("abc".utf8)))
            environment.interceptors = [.intercepting { _, _ in answer }]
        }

        let text = try await Self.$trace.withValue("mine") { try await queue.fetch(Traced(url: server.url)) }

        #expect(text == "mine 3")
    }

    @Test(arguments: [(3, nil), (2, .bodyTooLarge)] as [(Int, RequestError.Code?)])
    func streamBodySizeIsLimited(limit: Int, code: RequestError.Code?) async {
        var request = Traced()
        request.options.maximumBodySize = limit
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok, body: Data("abc".utf8)) })

        let probe = Probe(adding: request, to: queue)

        #expect(await probe.ended().map(\.error?.code) == [code])
    }

    /// Forgets operations.
    private final class Forgetful: RequestQueue {
        var operations: [Operation] { [] }
        func addOperation(_ operation: Operation) {}
    }

    @Test func streamThrowsIfQueueDropsOperation() async {
        await #expect(throws: RequestError.self) { try await Forgetful().stream(TextRequest()) }
    }

    @Test func cancelledTaskDoesNotEnqueueStream() async {
        let added = Locked(0)
        final class Counting: RequestQueue {
            let added: Locked<Int>
            init(_ added: Locked<Int>) { self.added = added }
            var operations: [Operation] { [] }
            func addOperation(_ operation: Operation) { added.withLock { $0 += 1 } }
        }
        let queue = Counting(added)

        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try? await queue.stream(TextRequest())
        }
        await task.value

        #expect(added.withLock { $0 } == 0)
    }
}
