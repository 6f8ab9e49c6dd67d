// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Waits for the transfer of an equal request in the place of one of its own.
///
/// What is shared is the answer as it came. Each call that waits for it decides for itself which statuses it accepts, how
/// it decodes the content, and whether there is another attempt.
struct CoalescingLink: Interceptor {
    let seat: CoalescingSeat
    let attempt: CallAttempt

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        guard let identity = WireIdentity(request, attempt.options, in: attempt.environment) else {
            return try await next(request)
        }
        let joined = seat.join(identity) { limits in
            CoalescedTransfer(request, through: next, for: attempt, limits) { [seat] in seat.end($0) }
        }
        guard let (transfer, isNew) = joined else { throw CancellationError() }
        transfer.add(attempt)
        defer {
            transfer.remove(attempt)
            seat.leave(transfer)
        }
        if !isNew, transfer.retry == attempt.policy {
            // The attempts before it were made for this call as well, which only came too late to see them.
            attempt.call.record { $0.spend(transfer.attempt) }
        }
        if let leader = transfer.monitored { attempt.call.feed?.report(.operationJoined(leader)) }
        let transmission = Transmission(request, cause: next.cause, heads: next.heads, for: attempt, over: transfer)
        var answer = try await transmission.answer()
        answer.isStoredElsewhere = !transfer.takeStoring()
        return answer
    }
}
