// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct RequestMatchingTests {
    @Test func requestEqualityUsesTypeAndIdentifier() {
        var options = RequestOptions()
        options.timeout = .seconds(1)

        #expect(TextRequest(identifier: "1") == TextRequest(identifier: "1", options: options))
        #expect(TextRequest(identifier: "1") != TextRequest(identifier: "2"))
        #expect(Set([TextRequest(identifier: "1"), TextRequest(identifier: "1", options: options)]).count == 1)
        #expect(AnyHashable(TextRequest(identifier: "1")) != AnyHashable(WireRequest(identifier: "1")))
    }

    @Test func findsUnfinishedOperationOfEqualRequest() async {
        let queue = TestQueue(isSuspended: true)
        let operation = queue.addRequest(TextRequest(identifier: "1"))

        #expect(queue.requestCurrentlyExecuting(TextRequest(identifier: "1")) === operation)
        #expect(queue.requestCurrentlyExecuting(TextRequest(identifier: "2")) == nil)
        #expect(queue.requestCurrentlyExecuting(WireRequest(identifier: "1")) == nil)
        queue.base.isSuspended = false
        await operation.end()
        #expect(queue.requestCurrentlyExecuting(TextRequest(identifier: "1")) == nil)
    }

    @Test func cancelsRequestsMatchingPredicate() {
        let queue = TestQueue(isSuspended: true)
        let texts = (0..<3).map { queue.addRequest(TextRequest(identifier: "\($0)")) }
        let wire = queue.addRequest(WireRequest())
        let deferred = queue.addRequest(after: wire) { _ in TextRequest() }
        let plain = BlockOperation {}
        queue.addOperation(plain)

        queue.cancelRequests { $0 is TextRequest && $0.identifier != "1" }

        #expect(texts.map(\.isCancelled) == [true, false, true])
        #expect(!wire.isCancelled && !deferred.isCancelled && !plain.isCancelled)
        queue.base.cancelAllOperations()
    }

    final class LoudOperation: DataOperation<LoudRequest>, @unchecked Sendable {
        override func process(_ response: HTTPResponse<Data>) throws -> String {
            try super.process(response).uppercased()
        }
    }

    struct LoudRequest: DataRequest {
        typealias Success = String
        typealias OperationType = LoudOperation
        let identifier = "loud"
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
        func processData(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
    }

    @Test func requestCanProvideItsOwnOperation() async throws {
        let operation: LoudOperation = TestQueue().addRequest(LoudRequest())

        #expect(try await operation.value() == "HELLO")
    }

    @Test func cancellingFetchTaskCancelsOperation() async {
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent))
        let task = Task { try await queue.fetch(TextRequest()) }
        await sent.first(1)

        task.cancel()

        let result = await task.result
        #expect((result.error as? RequestError)?.code == .cancelled)
    }
}
