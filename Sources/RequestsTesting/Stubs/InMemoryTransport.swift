// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport without a network: a closure makes the response to every request.
///
/// The fastest way to test what is made of a response, and never flaky:
///
/// ```swift
/// let transport = InMemoryTransport { request in
///     request.url.path == "/recipes/1" ? .json(#"{"name": "Pancakes"}"#) : .status(.notFound)
/// }
/// let recipe = try await queue.fetch(RecipeRequest(recipeID: "1"), session: transport)
/// ```
///
/// It has no sockets. The `timeout` of the request or its client is measured by the clock of the transport. Without a
/// timeout, `.never` and `.stalled(after:)` last until the request is cancelled. Safe from any thread; the closure may
/// be called from several at once.
public final class InMemoryTransport: HTTPTransport {
    private let respond: @Sendable (ReceivedRequest) -> StubResponse
    private let recordsRequests: Bool
    let recorded = AwaitableState<[ReceivedRequest]>([])
    private let clock: any Clock<Duration>

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - recordsRequests: Whether ``requests`` is kept; true by default. A benchmark turns it off.
    ///   - clock: The clock for the times of responses; a ``ManualClock`` lets them pass when the test says so.
    ///   - respond: Makes the response to a request. It returns at once: it runs on the thread that sends, or on the
    ///     one that has read the content of the request from a file or a stream.
    public init(
        recordsRequests: Bool = true,
        clock: any Clock<Duration> = ContinuousClock(),
        _ respond: @escaping @Sendable (ReceivedRequest) -> StubResponse
    ) {
        self.respond = respond
        self.clock = clock
        self.recordsRequests = recordsRequests
    }

    /// The requests that were sent, in the order in which their content was complete.
    public var requests: [ReceivedRequest] { recorded.withLock { $0 } }

    /// All capabilities except pausing.
    public var capabilities: TransportCapabilities {
        [.concurrentDelivery, .bodyWithAnyMethod, .sizedStreams, .orderedHeaders, .proxyAuthorization]
    }

    /// Answers the request before it returns, unless the answer is one that waits, or the content of the request is in
    /// a file or a stream.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        do {
            if let received = try ReceivedRequest(inMemory: request) {
                return answer(received, of: StubTransfer(receive), receive)
            }
        } catch {
            receive(.end(RequestError(error)))
            return EndedTransfer.shared
        }
        let transfer = StubTransfer(receive)
        transfer.run { [self] in
            guard let received = try await ReceivedRequest.reading(request, for: transfer) else { return }
            _ = answer(received, of: transfer) { transfer.report($0) }
        }
        return transfer
    }

    private func answer(
        _ request: ReceivedRequest,
        of transfer: @autoclosure () -> StubTransfer,
        _ receive: (TransferEvent) -> Void
    ) -> any TransferHandle {
        if recordsRequests { recorded.withLock { $0.append(request) } }
        let response = respond(request)
        do {
            let plan = try StubPlan(response, to: request)
            guard plan.isImmediate else {
                let transfer = transfer()
                let timeout = request.transportRequest?.timeout
                StubPlayer(transfer: transfer, url: request.url, clock: clock, timeout: timeout).play(plan.steps[...])
                return transfer
            }
            for step in plan.steps {
                for event in step.events(at: request.url) { receive(event) }
            }
        } catch {
            receive(.end(RequestError(error)))
        }
        return EndedTransfer.shared
    }
}
