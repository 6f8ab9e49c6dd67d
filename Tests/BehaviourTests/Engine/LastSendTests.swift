// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// After a cancellation, completions are called only once nothing more is sent.
@Suite(.bounded) struct LastSendTests {
    enum Kind: CaseIterable {
        case plain, shared, nested
    }

    /// Sends an additional request before the first request.
    private struct Prelude: Interceptor {
        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            if request.url.path == home.path {
                _ = try await context.send(HTTPRequest(url: home.appending(path: "token")))
            }
        }
    }

    @Test(arguments: Kind.allCases) func nothingIsSentAfterCompletion(kind: Kind) async throws {
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

    /// A transport that calls the test each time its capabilities are read.
    private final class AskedTransport: HTTPTransport {
        private let wasAsked: @Sendable () -> Void
        private let willSend: @Sendable () -> Void

        init(wasAsked: @escaping @Sendable () -> Void, willSend: @escaping @Sendable () -> Void) {
            (self.wasAsked, self.willSend) = (wasAsked, willSend)
        }

        var capabilities: TransportCapabilities {
            wasAsked()
            return []
        }

        func send(
            _ request: TransportRequest,
            receive: @escaping @Sendable (TransferEvent) -> Void
        ) -> any TransferHandle {
            willSend()
            receive(.head(HTTPResponseHead(status: .ok)))
            receive(.end(nil))
            return Handle()
        }

        private final class Handle: TransferHandle {
            func cancel() {}
        }
    }

    @Test func cancellingDuringCapabilityCheckSendsNothing() async {
        for moment in 1... {
            let target = Locked<NetworkOperation<TextRequest>?>(nil)
            let (questions, sentAfterEnd) = (Locked(0), Locked(false))
            let transport = AskedTransport {
                let number = questions.withLock { questions in
                    questions += 1
                    return questions
                }
                if number == moment { target.withLock { $0 }?.cancel() }
            } willSend: {
                if target.withLock({ $0 })?.isCancelled == true { sentAfterEnd.withLock { $0 = true } }
            }
            let queue = TestQueue(transport)
            let operation = queue.makeOperation(for: TextRequest())
            target.withLock { $0 = operation }
            questions.withLock { $0 = 0 }

            queue.addOperation(operation)
            await operation.end()
            target.withLock { $0 = nil }

            #expect(!sentAfterEnd.withLock { $0 }, "question \(moment)")
            guard operation.isCancelled else { return #expect(moment > 1) }
        }
    }
}
