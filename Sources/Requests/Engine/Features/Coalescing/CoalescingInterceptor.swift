// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Joins the transfer of an equal request, instead of sending the request again.
///
/// Only the raw response is shared. Each operation decides for itself which statuses it accepts, how it decodes the
/// content, and whether it makes another attempt.
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
            SharedTransfer(request, through: next, for: attempt, limits) { [participant] in participant.didEnd($0) }
        }
        guard let (transfer, isNew) = joined else { throw CancellationError() }
        // Once the operation has its result, its participant leaves the transfer by itself, before `cancel()` returns.
        // If the interceptor left at the same moment, the transfer might be cancelled too late, and be sent after
        // `cancel()` has returned.
        defer { if attempt.operation.core.withLock({ $0.lifecycle.isRunning }) { participant.leave(transfer) } }
        if !isNew, transfer.retry == attempt.configuration.retry {
            // The earlier attempts of the shared transfer were made for this operation, too, so count them, although
            // the operation joined too late to observe them.
            attempt.operation.record { $0.countAttempts(transfer.attemptNumber) }
        }
        return try await transfer.response(to: request, for: attempt, at: next)
    }
}
