// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What a stream's producer and its consumer share.
final class StreamCore: Sendable {
    private typealias Waiter = CheckedContinuation<Data?, any Error>

    private struct State: Sendable {
        var buffer: StreamBuffer<Waiter>
        var isOver = false
        var observers: [@Sendable () -> Void] = []

        mutating func close() -> [@Sendable () -> Void] {
            isOver = true
            defer { observers = [] }
            return observers
        }
    }

    private let state: Locked<State>
    private let setPaused: @Sendable (PauseWish) -> Void

    init(limit: Int, setPaused: @escaping @Sendable (PauseWish) -> Void) {
        self.setPaused = setPaused
        state = Locked(State(buffer: StreamBuffer(limit: limit)))
    }

    // MARK: Produce

    func put(_ data: Data) throws(RequestError) {
        perform(try state.withLock { state throws(RequestError) in try state.buffer.put(data) })
    }

    func end(_ error: (any Error)?) {
        perform(state.withLock { $0.buffer.end(error) })
    }

    // MARK: Consume

    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                perform(state.withLock { $0.buffer.take(waiter) })
            }
        } onCancel: {
            abandon()
        }
    }

    /// Says that nobody wants the rest.
    func abandon() {
        perform(state.withLock { $0.buffer.abandon() })
        close()
    }

    /// Says that the operation is over: nothing more comes, and what came before the transfer ended is there for whoever
    /// consumes it.
    func cancel() {
        if !state.withLock({ $0.buffer.hasEnded }) { abandon() }
    }

    /// Calls `body` when the stream has been consumed to its end, or nobody wants the rest; at once, where that is so.
    func whenOver(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.observers.append(body) }
            return state.isOver
        }
        if isOver { body() }
    }

    private func close() {
        for observer in state.withLock({ $0.close() }) { observer() }
    }

    private func perform(_ action: StreamBuffer<Waiter>.Action) {
        if let wish = action.pauses { setPaused(wish) }
        guard let (waiter, reply) = action.reply else { return }
        switch reply {
        case .chunk(let data):
            waiter.resume(returning: data)
        case .end:
            close()
            waiter.resume(returning: nil)
        case .failure(let error):
            close()
            waiter.resume(throwing: error)
        }
    }
}
