// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ChainingTests {
    @Test func requestIsCreatedFromPreviousResult() async throws {
        let queue = TestQueue(isSuspended: true)

        let first = queue.addRequest(TextRequest(identifier: "first"))
        let second = queue.addRequest(after: first) { TextRequest(identifier: "after \($0)") }

        #expect(second.request == nil)
        queue.base.isSuspended = false
        #expect(try await second.value() == "hello")
        #expect(second.request?.identifier == "after hello")
    }

    @Test func requestIsCreatedFromMixedResults() async throws {
        let queue = TestQueue()

        let text = queue.addRequest(TextRequest())
        let data = queue.addRequest(UntypedRequest())
        let done = queue.addRequest(ResponseTests.Deletion(shouldEnforceNoContent: false))
        let last = queue.addRequest(after: text, data, done) { text, data, _ in
            TextRequest(identifier: "\(text) \(data.count)")
        }
        _ = try await last.value()

        #expect(last.request?.identifier == "hello 5")
    }

    @Test func failedDependencyPreventsDependentRequest() async {
        let transport = InMemoryTransport { _ in .status(.notFound) }
        let queue = TestQueue(transport)
        let first = queue.addRequest(TextRequest())

        let second = queue.addRequest(after: first) { _ in
            Issue.record("made")
            return TextRequest()
        }
        await second.end()

        #expect(second.result?.error?.code == .dependencyFailed)
        #expect((second.result?.error?.underlying as? RequestError)?.code == .unacceptableStatus)
        #expect(transport.requests.count == 1)
    }

    @Test func cancellationPropagatesAlongChain() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport, isSuspended: true)
        let first = queue.addRequest(TextRequest())
        let second = queue.addRequest(after: first) { _ in TextRequest() }
        let third = queue.addRequest(after: second) { _ in TextRequest() }

        first.cancel()
        queue.base.isSuspended = false
        await third.end()

        #expect(second.result?.error?.code == .dependencyFailed)
        #expect((third.result?.error?.underlying as? RequestError)?.code == .cancelled)
        #expect(transport.requests.isEmpty)
    }

    @Test func closureErrorFailsDependentRequest() async {
        let queue = TestQueue()
        let first = queue.addRequest(TextRequest())

        let typed = queue.addRequest(after: first) { _ throws -> TextRequest in throw SampleError() }
        let untyped = queue.addRequest(after: first) { _ throws -> UntypedRequest in throw SampleError() }
        let custom = queue.addRequest(
            after: first,
            mapError: { error in
                .sample((error as? SampleError)?.name ?? "?")
            },
            make: { _ throws -> CustomFailureRequest in throw SampleError() }
        )
        for operation in [typed, untyped, custom] as [Operation] { await operation.end() }

        #expect(typed.result?.error?.underlying as? SampleError == SampleError())
        #expect(untyped.result?.error as? SampleError == SampleError())
        #expect(custom.result?.error == .sample("sample"))
    }

    @Test func chainReleasesFinishedRequests() async {
        let census = Census()
        let queue = TestQueue()
        var last = queue.addRequest(TextRequest(life: census.life()))
        for _ in 0..<20 {
            let next = census.life()
            last = queue.addRequest(after: last) { _ in TextRequest(life: next) }
        }
        await last.end()
        last = queue.addRequest(TextRequest())

        await census.extinction()
        await last.end()
    }

    @Test func plainDependenciesAffectOnlyOrder() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(500) })
        let first = queue.addRequest(TextRequest(identifier: "first"))

        let second = queue.addRequest(TextRequest(identifier: "second"), dependencies: [first], priority: .high)
        await second.end()

        #expect(first.isFinished && second.result?.error?.code == .unacceptableStatus)
        #expect(second.queuePriority == .high)
    }
}
