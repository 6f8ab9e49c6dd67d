// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// Reads a stream ahead, on a thread of its own, since a stream may block and the loop mustn't.
///
/// One chunk is read ahead and no more: the reader takes it, and has the next one read.
final class CurlBodyPump: Sendable {
    private enum State {
        /// The next chunk is being read.
        case reading(isWanted: Bool)
        /// A chunk is there, from which so many bytes were taken.
        case chunk([UInt8], taken: Int)
        case ended
        case failed
    }

    private let state = Locked(State.reading(isWanted: false))
    private let stream: Locked<InputStream>
    private let queue = DispatchQueue(label: "Requests.CurlBodyPump")
    private let whenReadable: @Sendable () -> Void

    /// Opens the stream, and begins to read.
    ///
    /// - Throws: What the opening throws.
    init(_ body: BodyStream, whenReadable: @escaping @Sendable () -> Void) throws {
        stream = Locked(try body.open())
        self.whenReadable = whenReadable
        queue.async { [self] in
            stream.withLock { $0.open() }
            readAhead()
        }
    }

    /// Takes bytes that are there.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBody.Chunk {
        let (chunk, isEmptied) = state.withLock { state -> (CurlBody.Chunk, Bool) in
            switch state {
            case .reading:
                state = .reading(isWanted: true)
                return (.later, false)
            case .ended:
                return (.bytes(0), false)
            case .failed:
                return (.failed, false)
            case .chunk(let bytes, let taken):
                let count = min(buffer.count, bytes.count - taken)
                buffer.copyBytes(from: bytes[taken..<taken + count])
                let isEmptied = taken + count == bytes.count
                state = isEmptied ? .reading(isWanted: false) : .chunk(bytes, taken: taken + count)
                return (.bytes(count), isEmptied)
            }
        }
        if isEmptied { queue.async { [self] in readAhead() } }
        return chunk
    }

    func close() {
        queue.async { [self] in stream.withLock { $0.close() } }
    }

    private func readAhead() {
        let next = stream.withLock { stream -> State in
            var bytes = [UInt8](repeating: 0, count: 64 * 1024)
            let count = stream.read(&bytes, maxLength: bytes.count)
            guard count > 0 else { return count == 0 ? .ended : .failed }
            bytes.removeLast(bytes.count - count)
            return .chunk(bytes, taken: 0)
        }
        let isWanted = state.withLock { state in
            guard case .reading(let isWanted) = state else { return false }
            state = next
            return isWanted
        }
        if isWanted { whenReadable() }
    }
}
#endif
