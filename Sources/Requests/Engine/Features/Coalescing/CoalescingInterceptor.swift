// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Waits for the transfer of an equal request instead of sending its own.
///
/// The raw answer is shared. Each waiting operation decides for itself which statuses it accepts, how it decodes the
/// content, and whether there is another attempt.
struct CoalescingInterceptor: Interceptor {
    func intercept(
        _ request: HTTPRequest,
        context: InterceptorChain.Context,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let attempt = try Attempt(of: context)
        guard let participant = attempt.operation.observer(CoalescingParticipant.self), participant.isRegistered,
            let fingerprint = RequestFingerprint(request, attempt.configuration)
        else { return try await next(request) }
        let joined = participant.join(fingerprint) { limits in
            SharedTransfer(request, behind: next, for: attempt, limits) { [participant] in participant.didEnd($0) }
        }
        guard let (transfer, isNew) = joined else { throw CancellationError() }
        // An operation with a result gives its participant back itself, before its cancel returns. If this did it at the same
        // time, the transfer could still be sent after that.
        defer { if attempt.operation.core.withLock({ $0.lifecycle.isRunning }) { participant.leave(transfer) } }
        if !isNew, transfer.retry == attempt.configuration.retry {
            // Earlier attempts were made for this operation as well, which only came too late to observe them.
            attempt.operation.record { $0.countAttempts(transfer.number) }
        }
        return try await transfer.response(to: request, for: attempt, at: next)
    }
}
