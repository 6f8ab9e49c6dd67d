// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if !canImport(FoundationNetworking)
import Foundation

/// Writes a body to a bound pair of streams, from which a session reads.
///
/// All sessions read streams on the same thread, so a stream must never block it. The next chunk of the body is
/// requested only after the previous one was written.
// Sendable: a stream delegate must inherit from NSObject; the mutable state is accessed only on the queue.
final class BodyWriter: NSObject, StreamDelegate, @unchecked Sendable {
    /// The size of the buffer between the two streams, in bytes.
    private static let bufferSize = 64 * 1024
    /// The queue on which all streams and their delegates are called.
    private static let queue = DispatchQueue(label: "Requests.BodyWriter")

    private let output: OutputStream
    private var task: Task<Void, Never>?
    /// The bytes that wait for space in the buffer, and the continuation of the task that writes them.
    private var pending: (bytes: Data, waiter: UnsafeContinuation<Bool, Never>)?
    private var hasEnded = false

    private init(_ output: OutputStream) {
        self.output = output
    }

    /// Starts writing a body.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - onFailure: Called if the body fails. The stream then stays open.
    /// - Returns: The stream for the session, and the writer; `nil` if the system can't create streams.
    static func start(
        _ body: HTTPBody.Stream,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) -> (input: InputStream, writer: BodyWriter)? {
        var (input, output) = (InputStream?.none, OutputStream?.none)
        Stream.getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        let writer = BodyWriter(output)
        queue.async { writer.start(body, onFailure: onFailure) }
        return (input, writer)
    }

    /// Stops writing, and closes the stream.
    func cancel() {
        Self.queue.async { [self] in end() }
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        switch event {
        case .hasSpaceAvailable: flush()
        case .errorOccurred, .endEncountered: end()
        default: break
        }
    }

    // MARK: Called on the queue

    private func start(_ body: HTTPBody.Stream, onFailure: @escaping @Sendable (any Error) -> Void) {
        guard !hasEnded else { return }
        output.delegate = self
        CFWriteStreamSetDispatchQueue(output as CFWriteStream, Self.queue)
        output.open()
        task = RunExecutor.detachedTask { [self] in
            do {
                for try await chunk in body { guard await write(chunk) else { break } }
                cancel()
            } catch {
                // Leave the stream open, because its end would look like the end of the content. Ignore the error of a
                // cancelled body.
                Self.queue.async { [self] in
                    if !hasEnded { onFailure(error) }
                }
            }
        }
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        task?.cancel()
        pending?.waiter.resume(returning: false)
        (task, pending) = (nil, nil)
        output.delegate = nil
        output.close()
    }

    /// Writes as many pending bytes as the buffer has space for.
    private func flush() {
        while let (bytes, waiter) = pending, output.hasSpaceAvailable {
            let count = bytes.withUnsafeBytes { buffer in
                buffer.bindMemory(to: UInt8.self).baseAddress.map { output.write($0, maxLength: buffer.count) } ?? 0
            }
            guard count > 0 else { return end() }
            pending = count < bytes.count ? (bytes.dropFirst(count), waiter) : nil
            if pending == nil { waiter.resume(returning: true) }
        }
    }

    // MARK: Called by the task

    /// Writes a chunk, and suspends until all of it was written; returns `false` if the writer has ended.
    private func write(_ chunk: Data) async -> Bool {
        await withUnsafeContinuation { waiter in
            Self.queue.async { [self] in
                guard !hasEnded else { return waiter.resume(returning: false) }
                pending = (chunk, waiter)
                flush()
            }
        }
    }
}
#endif
