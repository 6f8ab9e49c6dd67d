// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Buffers a body for a consumer that can't await, such as libcurl's loop.
///
/// At most a mebibyte of a stream or a file is read ahead, whatever its length. A sequence is asked for its next
/// element only if fewer than 64 KiB are waiting. The last byte of a body with an announced length is passed on only
/// when it is known to be the last.
final class BodyPump: Sendable {
    /// The result of a read.
    enum ReadResult {
        /// The number of bytes read, 0 at the end.
        case bytes(Int)
        /// None yet; the reader is notified when there are.
        case later
        /// The body failed.
        case failed(any Error)
    }

    private let state: Locked<State>
    private let body: HTTPBody.Stream
    private let whenReadable: @Sendable () -> Void

    /// - Parameters:
    ///   - body: The body, which isn't opened yet.
    ///   - whenReadable: Called when the body opens, and when bytes arrive after a read returned `later`.
    init(_ body: HTTPBody.Stream, _ whenReadable: @escaping @Sendable () -> Void) {
        (self.body, self.whenReadable) = (body, whenReadable)
        state = Locked(State(length: body.length, mostWaiting: body.isAsynchronous ? 64 * 1024 : 1024 * 1024))
    }

    /// Returns a stream of the body that blocks its reader until there are bytes.
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

    /// Returns a pump that reads the same content from its beginning, or `nil` if the body can't be read again.
    func restarted() -> BodyPump? {
        guard body.isReplayable else { return nil }
        let again = BodyPump(body, whenReadable)
        _ = again.open()
        return again
    }

    /// Opens the body, if it isn't open yet, and begins to read.
    ///
    /// - Returns: No bytes if it is open.
    func open() -> ReadResult {
        if state.withLock({ $0.begin() }) {
            let task = RunExecutor.detachedTask { [self] in await run() }
            if !state.withLock({ $0.keep(task) }) { task.cancel() }
        }
        return state.withLock { $0.open() }
    }

    /// Takes bytes that have been read; the body must be open or opening.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        let (chunk, waiter) = state.withLock { ($0.take(into: buffer), $0.readsOn()) }
        waiter?.resume(returning: true)
        return chunk
    }

    /// Closes the body, or keeps it from being opened.
    func close() {
        let (task, waiter) = state.withLock { $0.close() }
        task?.cancel()
        waiter?.resume(returning: false)
    }

    /// Reads the body, chunk after chunk, whenever the consumer needs more.
    private func run() async {
        do {
            let read = try await body.makeReader()
            change { $0.phase = .open }
            while await isWanted() {
                guard let chunk = try await read() else { return change { $0.phase = .whole } }
                change { $0.put(chunk) }
            }
        } catch {
            change { $0.phase = .failed(error) }
        }
    }

    /// Returns `true` as soon as the consumer needs more, and `false` when it is gone.
    private func isWanted() async -> Bool {
        if let isWanted = state.withLock({ $0.isWanted }) { return isWanted }
        return await withUnsafeContinuation { waiter in
            if let isWanted = state.withLock({ $0.wait(waiter) }) { waiter.resume(returning: isWanted) }
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let isAwaited = state.withLock { state in
            // After `close()`, nobody is listening.
            if case .closed = state.phase { return false }
            change(&state)
            defer { state.isAwaited = false }
            return state.isAwaited
        }
        if isAwaited { whenReadable() }
    }
}

extension BodyPump {
    /// The bytes that have been read ahead and not taken: few, so that memory stays constant.
    private struct State: Sendable {
        typealias Waiter = UnsafeContinuation<Bool, Never>

        enum Phase: Sendable {
            case new, opening
            case open
            case whole
            case failed(any Error)
            case closed
        }

        var phase = Phase.new
        /// Whether the consumer is waiting for `whenReadable`.
        var isAwaited = false
        /// The announced byte count; `nil` if it isn't known.
        private let length: Int64?
        /// The buffered byte count at which reading pauses.
        private let mostWaiting: Int
        private var task: Task<Void, Never>?
        /// The reader, if it has read enough.
        private var waiter: Waiter?
        private var chunks = FIFO<Data>()
        private var waiting = 0
        /// The number of bytes that were taken: from the first chunk, and in all.
        private var (taken, given): (Int, Int64) = (0, 0)

        init(length: Int64?, mostWaiting: Int) {
            (self.length, self.mostWaiting) = (length, mostWaiting)
        }

        /// Returns whether the caller has to open the body, which is so once.
        mutating func begin() -> Bool {
            guard case .new = phase else { return false }
            phase = .opening
            return true
        }

        /// Keeps the task that reads, so that it can be cancelled; `false` if it must be cancelled at once.
        mutating func keep(_ task: Task<Void, Never>) -> Bool {
            if case .closed = phase { return false }
            self.task = task
            return true
        }

        /// Returns no bytes if the body is open.
        mutating func open() -> ReadResult {
            switch phase {
            case .new, .opening, .closed: return later()
            case .open, .whole: return .bytes(0)
            case .failed(let error): return .failed(error)
            }
        }

        mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
            let mayEnd: Bool
            switch phase {
            case .failed(let error): return .failed(error)
            case .whole: mayEnd = true
            default: mayEnd = false
            }
            var room = buffer.count
            if !mayEnd, let length { room = Int(min(Int64(room), length - 1 - given)) }
            var filled = 0
            while filled < room, let first = chunks.first {
                let count = min(room - filled, first.count - taken)
                let start = first.startIndex + taken
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                first.copyBytes(to: rest, from: start..<start + count)
                filled += count
                taken += count
                if taken == first.count {
                    _ = chunks.popFirst()
                    taken = 0
                }
            }
            waiting -= filled
            given += Int64(filled)
            return filled > 0 || (mayEnd && chunks.isEmpty) ? .bytes(filled) : later()
        }

        private mutating func later() -> ReadResult {
            isAwaited = true
            return .later
        }

        /// Keeps bytes that were read.
        mutating func put(_ bytes: Data) {
            chunks.append(bytes)
            waiting += bytes.count
        }

        /// Whether the consumer needs more; `nil` if it doesn't at the moment.
        var isWanted: Bool? {
            if case .closed = phase { return false }
            return waiting < mostWaiting ? true : nil
        }

        /// Keeps the reader until the consumer needs more, unless it does.
        mutating func wait(_ waiter: Waiter) -> Bool? {
            guard let isWanted else {
                self.waiter = waiter
                return nil
            }
            return isWanted
        }

        /// Returns the reader, if it has to continue.
        mutating func readsOn() -> Waiter? {
            guard isWanted != nil else { return nil }
            defer { waiter = nil }
            return waiter
        }

        /// Returns the task to cancel, and the reader to resume.
        mutating func close() -> (Task<Void, Never>?, Waiter?) {
            defer { (phase, task, waiter, chunks) = (.closed, nil, nil, FIFO()) }
            return (task, waiter)
        }
    }
}
