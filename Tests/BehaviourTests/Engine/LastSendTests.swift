// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// After a cancellation, a completion is called only when nothing is sent any more.
@Suite(.bounded) struct LastSendTests {
    enum Kind: CaseIterable {
        case plain, shared, nested
    }

    /// Sends a request of its own before the first one.
    private struct Prelude: Interceptor {
        func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
            if request.url.path == home.path {
                _ = try await context.send(HTTPRequest(url: home.appending(path: "token")))
            }
        }
    }

    @Test(arguments: Kind.allCases) func nothingIsSentOnceACompletionIsCalled(kind: Kind) async throws {
        let (announced, completed, over) = (Gate(), Gate(), Gate())
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) {
            $0.monitors = [
                .events { event, _ in
                    switch event {
                    case .transferStarted(let transfer)
                    where kind != .nested || transfer.request.url.lastPathComponent == "token":
                        announced.open()
                        try? completed.wait()
                    case .transferEnded: over.open()
                    default: break
                    }
                }
            ]
            if kind == .nested { $0.interceptors = [Prelude()] }
        }
        let probe = Probe(TextRequest(), on: queue, coalescing: kind == .shared)
        probe.operation.addCompletion(on: .global()) { _ in completed.open() }
        // With this number, the others are still being called when the first one has run.
        for _ in 0..<20_000 { probe.operation.addCompletion(on: .global()) { _ in } }
        queue.addOperation(probe.operation)

        try await announced.wait()
        DispatchQueue.global().async { probe.operation.cancel() }
        try await over.wait()

        #expect(transport.requests.isEmpty)
    }
}
