// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Reads an input stream for asynchronous code, on a separate dispatch queue, because opening and reading may block.
final class StreamReader: Sendable {
    private static let chunkSize = 256 * 1024

    /// The open stream, which is used only on the queue, so that its lock is never contended.
    private let stream: Locked<InputStream>
    private let queue: DispatchQueue

    /// Opens a stream.
    ///
    /// - Throws: Any error that the closure throws, and ``InvalidValue`` for a file that can't be opened.
    init(opening open: @escaping @Sendable () throws -> sending InputStream, isFile: Bool) async throws {
        let queue = DispatchQueue(label: "Requests.StreamReader")
        self.queue = queue
        stream = try await Self.perform(on: queue) {
            let stream = try open()
            stream.open()
            if isFile, stream.streamStatus == .error { throw HTTPBody.Stream.wrongLength }
            return Locked(stream)
        }
    }

    deinit {
        queue.async { [stream] in stream.withLock { $0.close() } }
    }

    /// Returns the next chunk, or `nil` at the end.
    ///
    /// - Throws: The stream's error if it is a `PolledStream`, otherwise ``InvalidValue``.
    func read() async throws -> Data? {
        try await Self.perform(on: queue) { [stream] in
            try stream.withLock { stream in
                var chunk = Data(count: Self.chunkSize)
                let count = chunk.withUnsafeMutableBytes { buffer in
                    buffer.bindMemory(to: UInt8.self).baseAddress.map { stream.read($0, maxLength: buffer.count) } ?? -1
                }
                guard count >= 0 else {
                    throw (stream as? PolledStream)?.streamError ?? HTTPBody.Stream.wrongLength
                }
                // Copy a short chunk, because otherwise it would retain the memory of a full-size chunk.
                let bytes = chunk.prefix(count)
                return count == 0 ? nil : count < Self.chunkSize / 2 ? Data(bytes) : bytes
            }
        }
    }

    private static func perform<Result: Sendable>(
        on queue: DispatchQueue,
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withUnsafeThrowingContinuation { continuation in
            queue.async {
                let result = Swift.Result { try work() }
                // Resume on this thread, which would otherwise be idle.
                RunExecutor.resuming { continuation.resume(with: result) }
            }
        }
    }
}
