// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// Reads a stream ahead, on a thread of its own, since a stream may block and the loop mustn't.
///
/// A few chunks are read ahead: at most a mebibyte, whatever the length of the stream. A stream with an announced
/// length has to end there: its last byte is passed on only when it is known to be the last.
final class CurlBodyPump: Sendable {
    private let state: Locked<State>
    private let body: BodyStream
    private let stream: Locked<InputStream?>
    private let queue = DispatchQueue(label: "Requests.CurlBodyPump")
    private let whenReadable: @Sendable () -> Void

    /// Opens the stream, and begins to read.
    ///
    /// - Throws: Any error that the opening throws.
    convenience init(_ body: BodyStream, whenReadable: @escaping @Sendable () -> Void) throws {
        self.init(body, Locked(try body.open()), whenReadable)
    }

    private init(_ body: BodyStream, _ stream: Locked<InputStream?>, _ whenReadable: @escaping @Sendable () -> Void) {
        (self.body, self.stream, self.whenReadable) = (body, stream, whenReadable)
        state = Locked(State(length: body.length))
        queue.async { [self] in
            stream.withLock { stream in
                if stream == nil { stream = try? body.open() }
                stream?.open()
            }
            readAhead()
        }
    }

    /// Returns a pump that reads the same content from its beginning, or `nil` if the stream can't be read again.
    ///
    /// The stream is made on its own thread, because its closure is a caller's code, and the loop calls this method.
    func again() -> CurlBodyPump? {
        body.isReplayable ? CurlBodyPump(body, Locked(nil), whenReadable) : nil
    }

    /// Takes bytes that have been read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBody.Chunk {
        let (chunk, readsOn) = state.withLock { ($0.take(into: buffer), $0.beginsReading()) }
        if readsOn { queue.async { [self] in readAhead() } }
        return chunk
    }

    func close() {
        queue.async { [self] in stream.withLock { $0?.close() } }
    }

    /// Reads until enough bytes are waiting, or the stream ends.
    private func readAhead() {
        var goesOn = true
        while goesOn {
            let (count, bytes) = stream.withLock { stream in
                var bytes = [UInt8](repeating: 0, count: State.chunkSize)
                let count = stream?.read(&bytes, maxLength: bytes.count) ?? -1
                bytes.removeLast(bytes.count - max(0, count))
                return (count, bytes)
            }
            let isWanted: Bool
            (goesOn, isWanted) = state.withLock { $0.put(bytes, isEnd: count == 0, isFailure: count < 0) }
            if isWanted { whenReadable() }
        }
    }
}

extension CurlBodyPump {
    /// The bytes that have been read ahead and not taken: few, so that memory stays constant, and more than one chunk,
    /// so that neither side waits for the other each time.
    private struct State: Sendable {
        static let chunkSize = 256 * 1024
        private static let mostChunks = 4

        private enum End: Sendable {
            case whole, failed
        }

        /// The announced byte count; `nil` if it isn't known.
        private let length: Int64?
        /// The number of bytes that were read, and of those that were taken.
        private var (read, given): (Int64, Int64) = (0, 0)
        private var chunks: [[UInt8]] = []
        /// The number of bytes taken from the first chunk.
        private var taken = 0
        private var end: End?
        private var isReading = true
        /// Whether the reader found no bytes, and waits to be called.
        private var isWanted = false

        init(length: Int64?) {
            self.length = length
        }

        private var wantsMore: Bool { end == nil && chunks.count < Self.mostChunks }

        mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> CurlBody.Chunk {
            guard let first = chunks.first else {
                switch end {
                case .whole: return .bytes(0)
                case .failed: return .failed
                case nil:
                    isWanted = true
                    return .later
                }
            }
            var count = min(buffer.count, first.count - taken)
            if end == nil, given + Int64(count) == length { count -= 1 }
            guard count > 0 else {
                isWanted = true
                return .later
            }
            buffer.copyBytes(from: first[taken..<taken + count])
            taken += count
            given += Int64(count)
            if taken == first.count {
                chunks.removeFirst()
                taken = 0
            }
            return .bytes(count)
        }

        /// Returns whether the caller has to start reading.
        mutating func beginsReading() -> Bool {
            guard !isReading, wantsMore else { return false }
            isReading = true
            return true
        }

        /// Keeps bytes that were read; returns whether to continue reading, and whether to call the reader.
        mutating func put(_ bytes: [UInt8], isEnd: Bool, isFailure: Bool) -> (goesOn: Bool, isWanted: Bool) {
            read += Int64(bytes.count)
            if isEnd || isFailure { end = isFailure ? .failed : .whole } else { chunks.append(bytes) }
            if let length, read > length { (chunks, taken, end) = ([], 0, .failed) }
            isReading = wantsMore
            defer { isWanted = false }
            return (isReading, isWanted)
        }
    }
}
#endif
