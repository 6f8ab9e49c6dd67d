// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The way back from a request that is being made: what the request's completion handler is called with, once.
final class BuildReply: Sendable {
    typealias Reply = Result<HTTPRequest, any Error>

    private enum State: Sendable {
        case waiting(UnsafeContinuation<Reply, Never>?)
        case replied(Reply)
        case over
    }

    /// The reference that only the completion handler holds.
    ///
    /// A handler that was released without a call would otherwise be an operation that never ends.
    private final class Handler: Sendable {
        let reply: BuildReply

        init(_ reply: BuildReply) {
            self.reply = reply
        }

        deinit {
            let reason = "`makeURLRequest` released its completion handler without calling it"
            reply.end(with: .failure(RequestError(.invalidRequest, phase: .building, reason: reason)))
        }
    }

    private let state = Locked(State.waiting(nil))

    private init() {}

    /// Has a request made, and waits for it.
    ///
    /// - Throws: The error that the handler was called with, or `CancellationError` if the task is cancelled before.
    static func wait(for make: (@escaping @Sendable (Reply) -> Void) -> Void) async throws -> HTTPRequest {
        let reply = BuildReply()
        begin(make, reply)
        // A reply that has come already, as most have, needs no wait.
        if let reply = reply.take() { return try reply.get() }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { reply.attach($0) }
        } onCancel: {
            reply.end(with: .failure(CancellationError()))
        }.get()
    }

    // A function of its own, so that nothing here holds on to the handler while it is waited for.
    private static func begin(_ make: (@escaping @Sendable (Reply) -> Void) -> Void, _ reply: BuildReply) {
        let handler = Handler(reply)
        make { handler.reply.end(with: $0) }
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

    private func end(with reply: Reply) {
        let waiter = state.withLock { state -> UnsafeContinuation<Reply, Never>? in
            guard case .waiting(let waiter) = state else { return nil }
            state = waiter == nil ? .replied(reply) : .over
            return waiter
        }
        waiter?.resume(returning: reply)
    }
}
