// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport without a network, which uses a closure to create the response to every request.
///
/// It is the fastest and most reliable way to test how code handles responses:
///
/// ```swift
/// let transport = InMemoryTransport { request in
///     request.url.path == "/recipes/1" ? .json(#"{"name": "Pancakes"}"#) : .status(.notFound)
/// }
/// let recipe = try await queue.fetch(RecipeRequest(recipeID: "1"), session: transport)
/// ```
///
/// The transport has no sockets. Its clock measures the `timeout` of a request or its client. Without a timeout,
/// `.never` and `.stalled(after:)` last until the request is cancelled. The transport is thread-safe, and may call the
/// closure on several threads simultaneously.
public final class InMemoryTransport: HTTPTransport {
    private let respond: @Sendable (ReceivedRequest) -> StubResponse
    private let recordsRequests: Bool
    let recorded = AwaitableState<[ReceivedRequest]>([])
    private let clock: any Clock<Duration>

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - recordsRequests: Whether requests are recorded in ``requests``; true by default. A benchmark turns it off.
    ///   - clock: The clock for the delays of responses; a test can advance the time of a ``ManualClock``.
    ///   - respond: Creates the response to a request. It must return quickly, because it runs on the thread that sends
    ///     the request, or that has read the request's content from a file or a stream.
    public init(
        recordsRequests: Bool = true,
        clock: any Clock<Duration> = ContinuousClock(),
        _ respond: @escaping @Sendable (ReceivedRequest) -> StubResponse
    ) {
        self.respond = respond
        self.clock = clock
        self.recordsRequests = recordsRequests
    }

    /// The requests that were sent, in the order in which their content was completed.
    public var requests: [ReceivedRequest] { recorded.withLock { $0 } }

    /// All capabilities except pausing.
    public var capabilities: TransportCapabilities {
        [.concurrentDelivery, .bodyWithAnyMethod, .sizedStreams, .orderedHeaders, .proxyAuthorization]
    }

    /// Sends a request, and reports the response before the method returns, unless the response is delayed, or the
    /// request's content is in a file or a stream.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        do {
            if let received = try ReceivedRequest(inMemory: request) {
                return deliverResponse(received, of: StubTransfer(receive), receive)
            }
        } catch {
            receive(.end(RequestError(error)))
            return EndedTransfer.shared
        }
        let transfer = StubTransfer(receive)
        transfer.run { [self] in
            guard let received = try await ReceivedRequest.reading(request, for: transfer) else { return }
            _ = deliverResponse(received, of: transfer) { transfer.report($0) }
        }
        return transfer
    }

    private func deliverResponse(
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
