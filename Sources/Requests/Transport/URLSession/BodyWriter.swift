// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if !canImport(FoundationNetworking)
import Foundation

/// Writes a body to a bound stream pair that a session reads from.
///
/// A session reads streams on a thread that all sessions share, so a stream must not block there. The body is asked for
/// its next chunk when the last one was written.
// Sendable: the delegate of a stream has to inherit from NSObject; its variables are used on its queue only.
final class BodyWriter: NSObject, StreamDelegate, @unchecked Sendable {
    /// The number of bytes between the two ends.
    private static let bufferSize = 64 * 1024
    /// The queue of all calls of streams, and of their delegates.
    private static let queue = DispatchQueue(label: "Requests.BodyWriter")

    private let output: OutputStream
    private var task: Task<Void, Never>?
    /// The bytes that wait for space, and the task that waits with them.
    private var pending: (bytes: Data, waiter: UnsafeContinuation<Bool, Never>)?
    private var isOver = false

    private init(_ output: OutputStream) {
        self.output = output
    }

    /// Returns the stream for the session, and the writer, which begins to write.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - whenFailed: Called if the body fails; the stream stays open then.
    /// - Returns: The stream and the writer; `nil` if the system makes no streams.
    static func start(
        _ body: HTTPBody.Stream,
        whenFailed: @escaping @Sendable (any Error) -> Void
    ) -> (input: InputStream, writer: BodyWriter)? {
        var (input, output) = (InputStream?.none, OutputStream?.none)
        Stream.getBoundStreams(withBufferSize: bufferSize, inputStream: &input, outputStream: &output)
        guard let input, let output else { return nil }
        let writer = BodyWriter(output)
        queue.async { writer.start(body, whenFailed: whenFailed) }
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

    // MARK: On the queue

    private func start(_ body: HTTPBody.Stream, whenFailed: @escaping @Sendable (any Error) -> Void) {
        guard !isOver else { return }
        output.delegate = self
        CFWriteStreamSetDispatchQueue(output as CFWriteStream, Self.queue)
        output.open()
        task = RunExecutor.detachedTask { [self] in
            do {
                for try await chunk in body { guard await write(chunk) else { break } }
                cancel()
            } catch {
                // The end of the stream would look like the end of the content. A body that was stopped hasn't failed.
                Self.queue.async { [self] in
                    if !isOver { whenFailed(error) }
                }
            }
        }
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        task?.cancel()
        pending?.waiter.resume(returning: false)
        (task, pending) = (nil, nil)
        output.delegate = nil
        output.close()
    }

    /// Writes as many of the pending bytes as there is space for.
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

    // MARK: On the task

    /// Writes a chunk, and returns when all of it was taken; `false` if the reader is gone.
    private func write(_ chunk: Data) async -> Bool {
        await withUnsafeContinuation { waiter in
            Self.queue.async { [self] in
                guard !isOver else { return waiter.resume(returning: false) }
                pending = (chunk, waiter)
                flush()
            }
        }
    }
}
#endif
