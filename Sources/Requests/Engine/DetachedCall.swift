// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A call that carries on from a place in the chain of another one, and outlives that: a validation in the background.
///
/// It has the options of the other call, such as its trust and its limits, but no interceptors, validators and retries:
/// only the link that began it waits for its answer.
final class DetachedCall: Sendable {
    let requestIdentifier: String
    let sender: Sender
    let urgency: Int
    private let call: Call
    private let plan: CallPlan

    /// Makes a call for what an attempt leaves behind.
    init(of attempt: CallAttempt) {
        requestIdentifier = attempt.identifier
        sender = attempt.operation.sender
        urgency = attempt.urgency
        let environment = attempt.environment
        plan = CallPlan(
            attempt.plan,
            CoalescingLimits(
                head: attempt.options.maximumHeadSize ?? environment.maximumHeadSize,
                content: attempt.options.maximumBodySize ?? environment.maximumBodySize
            )
        )
        let feed = attempt.call.feed.map { MonitorFeed(environment.monitors, operation: $0.operation.another()) }
        call = Call(transport: attempt.call.transport, environment: environment, scope: nil, feed: feed)
    }

    /// Runs the work of a link, which sends from its place in the chain; cancelling the task cancels the transfer.
    func run(
        through next: Next,
        _ work: @escaping @Sendable (Next) async throws -> HTTPResponse<ResponseContent>
    ) async throws -> HTTPResponse<Data> {
        call.feed?.report(.operationCreated)
        call.feed?.report(.operationStarted)
        let result: Result<HTTPResponse<Data>, any Error>
        do {
            let next = next.carried(by: CallAttempt(1, of: call, for: self, plan))
            let answer = try await withTaskCancellationHandler {
                try await work(next)
            } onCancel: {
                call.end(cancellingTransfers: true)
            }
            result = .success(answer.map { $0.data ?? Data() })
        } catch {
            result = .failure(error)
        }
        if case .failure(let error) = result {
            call.feed?.report(.operationEnded(MonitoredOutcome(RequestError(error))))
        } else {
            call.feed?.report(.operationEnded(.success))
        }
        call.end()
        return try result.get()
    }
}

extension DetachedCall: TransferOwner {
    var keepsContentInMemory: Bool { true }
    var isOpenEnded: Bool { false }

    func beginTransfer() -> Bool { maySend }
    var maySend: Bool { !call.isOver }
    func endTransfer() {}
    func claims(_ head: HTTPResponseHead) -> Bool { true }
    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) -> (any ContentReceiver)? { nil }
    func review(_ error: RequestError?, isDelivered: Bool) -> TransferReview { .usual }
}
