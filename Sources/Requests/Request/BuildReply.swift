// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The way back from a request that is being made: what the request's completion handler is called with, once.
///
/// A completion handler that is never called would be an operation that never ends. One that was released without a call
/// is noticed here, since only the handler holds on to the reply.
final class BuildReply: Sendable {
    typealias Reply = Result<HTTPRequest, any Error>

    private enum State: Sendable {
        case waiting(UnsafeContinuation<Reply, Never>?)
        case replied(Reply)
        case over
    }

    private let state = Locked(State.waiting(nil))

    deinit {
        let reason = "`makeURLRequest` released its completion handler without calling it"
        reply(.failure(RequestError(.invalidRequest, phase: .building, reason: reason)))
    }

    /// Has a request made, and waits for it.
    ///
    /// - Throws: The error that the handler was called with, or `CancellationError` if the task is cancelled before.
    static func wait(for make: (@escaping @Sendable (Reply) -> Void) -> Void) async throws -> HTTPRequest {
        // A reply that has come already, as most have, needs no wait. One that has not is held by the handler alone.
        let (reply, reference) = begin(make)
        if let reply { return try reply.get() }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                if let reply = reference.reply {
                    reply.attach(waiter)
                } else {
                    let reason = "`makeURLRequest` released its completion handler without calling it"
                    waiter.resume(
                        returning: .failure(RequestError(.invalidRequest, phase: .building, reason: reason))
                    )
                }
            }
        } onCancel: {
            reference.reply?.reply(.failure(CancellationError()))
        }.get()
    }

    private static func begin(_ make: (@escaping @Sendable (Reply) -> Void) -> Void) -> (Reply?, Reference) {
        let reply = BuildReply()
        make { reply.reply($0) }
        return (reply.take(), Reference(reply))
    }

    private struct Reference: Sendable {
        private(set) weak var reply: BuildReply?

        init(_ reply: BuildReply) {
            self.reply = reply
        }
    }

    private func take() -> Reply? {
        state.withLock { state in
            guard case .replied(let reply) = state else { return nil }
            state = .over
            return reply
        }
    }

    private func attach(_ waiter: UnsafeContinuation<Reply, Never>) {
        let reply = state.withLock { state -> Reply? in
            guard case .replied(let reply) = state else {
                state = .waiting(waiter)
                return nil
            }
            state = .over
            return reply
        }
        if let reply { waiter.resume(returning: reply) }
    }

    private func reply(_ reply: Reply) {
        let waiter = state.withLock { state -> UnsafeContinuation<Reply, Never>? in
            guard case .waiting(let waiter) = state else { return nil }
            state = waiter == nil ? .replied(reply) : .over
            return waiter
        }
        waiter?.resume(returning: reply)
    }
}
