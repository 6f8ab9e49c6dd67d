// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// Reads a stream or a file ahead, on a thread of its own, since reading may block and the loop mustn't.
///
/// A few chunks are read ahead: at most a mebibyte, whatever the length of the stream. A stream with an announced
/// length has to end there: its last byte is passed on only when it is known to be the last. Of a file, which may have
/// grown, no more than its length is read.
final class CurlBodyPump: Sendable {
    private let state: Locked<State>
    private let body: HTTPBody.Stream
    private let isFile: Bool
    private let queue = DispatchQueue(label: "Requests.CurlBodyPump")
    private let whenReadable: @Sendable () -> Void

    /// - Parameters:
    ///   - body: The stream, which isn't opened yet.
    ///   - isFile: Whether it ends at its length, even if there is more.
    ///   - whenReadable: Called when it is open, or has bytes, after it wasn't or hadn't.
    init(_ body: HTTPBody.Stream, isFile: Bool = false, _ whenReadable: @escaping @Sendable () -> Void) {
        (self.body, self.isFile, self.whenReadable) = (body, isFile, whenReadable)
        state = Locked(State(length: body.length, endsAtLength: isFile))
    }

    /// The error of content that isn't as long as announced, or whose stream gives no reason.
    static var wrongLength: InvalidValue {
        InvalidValue(.body, "isn't as long as announced, or can't be read")
    }

    /// Returns a pump that reads the same content from its beginning, or `nil` if the stream can't be read again.
    func again() -> CurlBodyPump? {
        guard body.isReplayable else { return nil }
        let again = CurlBodyPump(body, isFile: isFile, whenReadable)
        _ = again.open()
        return again
    }

    /// Opens the stream, if it isn't open yet, and begins to read.
    ///
    /// - Returns: No bytes if it is open.
    func open() -> CurlBody.Chunk {
        begin()
        return state.withLock { $0.open() }
    }

    /// Takes bytes that have been read; the stream has to be open, or about to be.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBody.Chunk {
        let (chunk, readsOn) = state.withLock { ($0.take(into: buffer), $0.readsOn()) }
        if readsOn { queue.async { [self] in readAhead() } }
        return chunk
    }

    /// Closes the stream, or keeps it from being opened.
    func close() {
        guard state.withLock({ !$0.begin() }) else { return }
        queue.async { [self] in state.withLock { $0.stream }?.withLock { $0.close() } }
    }

    /// Makes the stream on the thread of the pump: its closure is a caller's code, and the loop calls this.
    private func begin() {
        guard state.withLock({ $0.begin() }) else { return }
        queue.async { [self] in
            do {
                let opened = try body.open()
                opened.open()
                if isFile, opened.streamStatus == .error { throw Self.wrongLength }
                let stream = Locked(opened)
                change { ($0.stream, $0.phase) = (stream, .reading) }
                readAhead()
            } catch {
                change { $0.phase = .failed(error) }
            }
        }
    }

    /// Reads until enough bytes are waiting, or the stream ends.
    private func readAhead() {
        guard let stream = state.withLock({ $0.stream }) else { return }
        while let size = state.withLock({ $0.nextSize() }) {
            let (count, bytes) = stream.withLock { stream in
                var count = -1
                let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
                    guard let start = buffer.baseAddress else { return }
                    count = stream.read(start, maxLength: size)
                    initialized = max(0, count)
                }
                return (count, bytes)
            }
            change { state in
                if count > 0 { state.put(bytes) } else { state.phase = count == 0 ? .whole : .failed(Self.wrongLength) }
            }
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let isWanted = state.withLock { state in
            change(&state)
            defer { state.isWanted = false }
            return state.isWanted
        }
        if isWanted { whenReadable() }
    }
}

extension CurlBodyPump {
    /// The bytes that have been read ahead and not taken: few, so that memory stays constant, and more than one chunk,
    /// so that neither side waits for the other each time.
    private struct State: Sendable {
        private static let chunkSize = 256 * 1024
        private static let mostChunks = 4

        enum Phase: Sendable {
            case new, opening
            /// It is read, now or as soon as the loop has taken some.
            case reading, resting
            case whole
            case failed(any Error)
        }

        var phase = Phase.new
        /// The open stream, which is used on the queue only: nothing ever waits for its lock.
        var stream: Locked<InputStream>?
        /// Whether the loop found nothing, and waits to be called.
        var isWanted = false
        /// The announced byte count; `nil` if it isn't known.
        private let length: Int64?
        private let endsAtLength: Bool
        /// The number of bytes that were read, and of those that were taken.
        private var (read, given): (Int64, Int64) = (0, 0)
        private var chunks: [[UInt8]] = []
        /// The number of bytes taken from the first chunk.
        private var taken = 0

        init(length: Int64?, endsAtLength: Bool) {
            (self.length, self.endsAtLength) = (length, endsAtLength)
        }

        /// Returns whether the caller has to open the stream, which is so once.
        mutating func begin() -> Bool {
            guard case .new = phase else { return false }
            phase = .opening
            return true
        }

        /// Returns no bytes if the stream is open.
        mutating func open() -> CurlBody.Chunk {
            switch phase {
            case .new, .opening: return later()
            case .reading, .resting, .whole: return .bytes(0)
            case .failed(let error): return .failed(error)
            }
        }

        mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> CurlBody.Chunk {
            let mayEnd: Bool
            switch phase {
            case .failed(let error): return .failed(error)
            case .whole: mayEnd = true
            default: mayEnd = false
            }
            guard let first = chunks.first else { return mayEnd ? .bytes(0) : later() }
            var count = min(buffer.count, first.count - taken)
            if !mayEnd, given + Int64(count) == length { count -= 1 }
            guard count > 0 else { return later() }
            buffer.copyBytes(from: first[taken..<taken + count])
            taken += count
            given += Int64(count)
            if taken == first.count {
                chunks.removeFirst()
                taken = 0
            }
            return .bytes(count)
        }

        private mutating func later() -> CurlBody.Chunk {
            isWanted = true
            return .later
        }

        /// Returns whether the caller has to continue reading.
        mutating func readsOn() -> Bool {
            guard case .resting = phase, chunks.count < Self.mostChunks else { return false }
            phase = .reading
            return true
        }

        /// Returns the maximum size of the next chunk; `nil` if none is to be read at the moment.
        mutating func nextSize() -> Int? {
            guard case .reading = phase else { return nil }
            guard chunks.count < Self.mostChunks else {
                phase = .resting
                return nil
            }
            guard endsAtLength, let length else { return Self.chunkSize }
            return Int(min(Int64(Self.chunkSize), max(1, length - read)))
        }

        /// Keeps bytes that were read.
        mutating func put(_ bytes: [UInt8]) {
            read += Int64(bytes.count)
            chunks.append(bytes)
            guard let length, read >= length else { return }
            if endsAtLength { phase = .whole } else if read > length { phase = .failed(CurlBodyPump.wrongLength) }
        }
    }
}
#endif
