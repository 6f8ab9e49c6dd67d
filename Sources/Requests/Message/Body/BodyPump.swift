// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Buffers a body for a consumer that can't await, such as libcurl's event loop.
///
/// Reading pauses when 1 MiB of a stream or a file, or 64 KiB of an asynchronous sequence, is buffered. If the body has
/// a declared length, the last byte is held back until the body has ended. So a body of a different length never looks
/// complete.
final class BodyPump: Sendable {
    /// The result of a read.
    enum ReadResult {
        /// The number of bytes read, or 0 at the end of the body.
        case bytes(Int)
        /// No bytes are buffered yet; the consumer will be notified as soon as some are.
        case later
        /// The body failed.
        case failed(any Error)
    }

    private let state: Locked<State>
    private let body: HTTPBody.Stream
    private let whenReadable: @Sendable () -> Void

    /// - Parameters:
    ///   - body: The body, which must not be open yet.
    ///   - whenReadable: Called when the body has been opened, and when bytes arrive after a read returned `later`.
    init(_ body: HTTPBody.Stream, _ whenReadable: @escaping @Sendable () -> Void) {
        (self.body, self.whenReadable) = (body, whenReadable)
        state = Locked(State(length: body.length, maximumBuffered: body.isAsynchronous ? 64 * 1024 : 1024 * 1024))
    }

    /// Returns an input stream of the body, whose `read` blocks until bytes are available.
    static func stream(of body: HTTPBody.Stream) -> PolledStream {
        let isReadable = DispatchSemaphore(value: 0)
        let pump = BodyPump(body) { isReadable.signal() }
        return PolledStream { buffer in
            _ = pump.open()
            while true {
                switch pump.read(into: buffer) {
                case .bytes(let count): return count
                case .later: isReadable.wait()
                case .failed(let error): throw error
                }
            }
        } releasing: {
            pump.close()
        }
    }

    /// Returns a new pump that reads the same body from its beginning, or `nil` if the body can't be sent again.
    func restarted() -> BodyPump? {
        guard body.isReplayable else { return nil }
        let restarted = BodyPump(body, whenReadable)
        _ = restarted.open()
        return restarted
    }

    /// Opens the body and starts to read it, unless it is already open.
    ///
    /// - Returns: Zero bytes if the body is open, or `later` if it is still opening.
    func open() -> ReadResult {
        if state.withLock({ $0.beginOpening() }) {
            let task = RunExecutor.detachedTask { [self] in await run() }
            if !state.withLock({ $0.setTask(task) }) { task.cancel() }
        }
        return state.withLock { $0.open() }
    }

    /// Copies buffered bytes to `buffer`, and resumes reading if there is room for more; the body must be open or
    /// opening.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        let (result, waiter) = state.withLock { ($0.take(into: buffer), $0.takeWaiter()) }
        waiter?.resume(returning: true)
        return result
    }

    /// Closes the body, or prevents it from being opened.
    func close() {
        let (task, waiter) = state.withLock { $0.close() }
        task?.cancel()
        waiter?.resume(returning: false)
    }

    /// Reads the body chunk by chunk, and pauses while enough bytes are buffered.
    private func run() async {
        do {
            let read = try await body.makeReader()
            change { $0.phase = .open }
            while await needsMore() {
                guard let chunk = try await read() else { return change { $0.phase = .complete } }
                change { $0.append(chunk) }
            }
        } catch {
            change { $0.phase = .failed(error) }
        }
    }

    /// Waits until the buffer has room for more bytes; returns `false` once the pump is closed.
    private func needsMore() async -> Bool {
        if let needsMore = state.withLock({ $0.needsMore }) { return needsMore }
        return await withUnsafeContinuation { waiter in
            if let needsMore = state.withLock({ $0.suspend(waiter) }) { waiter.resume(returning: needsMore) }
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let isConsumerWaiting = state.withLock { state in
            // After `close()`, the consumer must not be notified.
            if case .closed = state.phase { return false }
            change(&state)
            defer { state.isConsumerWaiting = false }
            return state.isConsumerWaiting
        }
        if isConsumerWaiting { whenReadable() }
    }
}

extension BodyPump {
    /// The buffered bytes, up to a maximum number, and the state of the reading task.
    private struct State: Sendable {
        typealias Waiter = UnsafeContinuation<Bool, Never>

        enum Phase: Sendable {
            case new, opening
            case open
            case complete
            case failed(any Error)
            case closed
        }

        var phase = Phase.new
        /// Whether the consumer is waiting for `whenReadable`.
        var isConsumerWaiting = false
        /// The declared byte count; `nil` if it is unknown.
        private let length: Int64?
        /// The number of buffered bytes at which reading pauses.
        private let maximumBuffered: Int
        private var task: Task<Void, Never>?
        /// The continuation of the reading task, while it is paused.
        private var waiter: Waiter?
        private var chunks = FIFO<Data>()
        private var bufferedCount = 0
        /// The number of bytes that the consumer has read from the first chunk, and in total.
        private var (consumedOfFirst, consumedCount): (Int, Int64) = (0, 0)

        init(length: Int64?, maximumBuffered: Int) {
            (self.length, self.maximumBuffered) = (length, maximumBuffered)
        }

        /// Returns whether the caller must open the body, which is true only for the first call.
        mutating func beginOpening() -> Bool {
            guard case .new = phase else { return false }
            phase = .opening
            return true
        }

        /// Stores the reading task, so that `close()` can cancel it.
        ///
        /// - Returns: Whether the task was stored; if the pump is already closed, the caller must cancel the task.
        mutating func setTask(_ task: Task<Void, Never>) -> Bool {
            if case .closed = phase { return false }
            self.task = task
            return true
        }

        /// Returns `bytes(0)` if the body is open, and `later` if it is still opening.
        mutating func open() -> ReadResult {
            switch phase {
            case .new, .opening, .closed: return waitForBytes()
            case .open, .complete: return .bytes(0)
            case .failed(let error): return .failed(error)
            }
        }

        mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
            let mayEnd: Bool
            switch phase {
            case .failed(let error): return .failed(error)
            case .complete: mayEnd = true
            default: mayEnd = false
            }
            var room = buffer.count
            if !mayEnd, let length { room = Int(min(Int64(room), length - 1 - consumedCount)) }
            var filled = 0
            while filled < room, let first = chunks.first {
                let count = min(room - filled, first.count - consumedOfFirst)
                let start = first.startIndex + consumedOfFirst
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                first.copyBytes(to: rest, from: start..<start + count)
                filled += count
                consumedOfFirst += count
                if consumedOfFirst == first.count {
                    _ = chunks.popFirst()
                    consumedOfFirst = 0
                }
            }
            bufferedCount -= filled
            consumedCount += Int64(filled)
            return filled > 0 || (mayEnd && chunks.isEmpty) ? .bytes(filled) : waitForBytes()
        }

        private mutating func waitForBytes() -> ReadResult {
            isConsumerWaiting = true
            return .later
        }

        mutating func append(_ bytes: Data) {
            chunks.append(bytes)
            bufferedCount += bytes.count
        }

        /// Whether to read more: `true` if the buffer has room, `nil` if it is full, and `false` if the pump is closed.
        var needsMore: Bool? {
            if case .closed = phase { return false }
            return bufferedCount < maximumBuffered ? true : nil
        }

        /// Stores the continuation if the buffer is full; otherwise returns the value with which to resume it.
        mutating func suspend(_ waiter: Waiter) -> Bool? {
            guard let needsMore else {
                self.waiter = waiter
                return nil
            }
            return needsMore
        }

        /// Removes and returns the continuation of the reading task, if it should be resumed.
        mutating func takeWaiter() -> Waiter? {
            guard needsMore != nil else { return nil }
            defer { waiter = nil }
            return waiter
        }

        /// Closes the pump, and returns the task to cancel and the continuation to resume.
        mutating func close() -> (Task<Void, Never>?, Waiter?) {
            defer { (phase, task, waiter, chunks) = (.closed, nil, nil, FIFO()) }
            return (task, waiter)
        }
    }
}
