// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Once a monitor or a completion gets an operation's result, nothing more is sent, and all get the same result.
@Suite(.bounded) struct EndOrderRaceTests {
    /// Sends an additional request before each request.
    private struct Prelude: Interceptor {
        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            _ = try await context.send(HTTPRequest(url: home.appending(path: "token")))
        }
    }

    @Test func transferIsCancelledBeforeMonitorIsNotified() async throws {
        let (transport, cancels) = (ManualTransport(), Recorder<Int>())
        let queue = TestQueue(transport) {
            $0.monitors = [
                .events { event, _ in
                    if case .operationEnded = event { cancels.record(transport.transfers[0].cancelCount) }
                }
            ]
        }
        let probe = Probe(adding: TextRequest(), to: queue)
        let transfer = try await transport.awaitTransfer()
        // A cancel reaches the transfer as soon as a pause does: then the transport has returned its handle.
        probe.operation.pause()
        try await transfer.awaitPause()

        probe.operation.cancel()
        #expect(cancels.elements == [1])

        transfer.receive(.end(nil))
        await probe.operation.end()
    }

    // Only in at least one of ten rounds: the transport may still be returning its handle, which is cancelled later.
    @Test func nestedRequestsStopBeforeCompletion() async throws {
        let cancels = Recorder<Int>()
        for _ in 0..<10 {
            let transport = ManualTransport()
            let queue = TestQueue(transport) { $0.interceptors = [Prelude()] }
            let probe = Probe(TextRequest(), on: queue)
            probe.operation.addCompletion(on: .global()) { _ in cancels.record(transport.transfers[0].cancelCount) }
            // With this number, the others are still being called when the first one has run.
            for _ in 0..<20_000 { probe.operation.addCompletion(on: .global()) { _ in } }
            queue.addOperation(probe.operation)
            let transfer = try await transport.awaitTransfer()

            probe.operation.cancel()
            await probe.operation.end()
            transfer.receive(.end(nil))
        }

        #expect(await cancels.first(10).contains(1))
    }

    @Test func monitorAndCompletionReceiveSameResult() async throws {
        for _ in 0..<Scale.races {
            let (transport, outcomes) = (ManualTransport(), Recorder<RequestError.Code>())
            let queue = TestQueue(transport) {
                $0.monitors = [
                    .events { event, _ in
                        switch event {
                        case .operationEnded(.cancelled): outcomes.record(.cancelled)
                        case .operationEnded(.failure(let error)): outcomes.record(error.code)
                        default: break
                        }
                    }
                ]
            }
            let probe = Probe(adding: TextRequest(), to: queue)
            let transfer = try await transport.awaitTransfer()

            simultaneously {
                probe.operation.cancel()
            } and: {
                transfer.receive(.end(RequestError(.connectionLost, phase: .receiving)))
            }

            #expect(await probe.ended().map(\.error?.code) == outcomes.elements.map(Optional.init))
        }
    }
}
