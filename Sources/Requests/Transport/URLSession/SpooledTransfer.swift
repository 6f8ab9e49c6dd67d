// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(FoundationNetworking)
import Foundation

/// A transfer whose body is written to a file before it is sent.
///
/// On Linux, all sessions of the process read bodies on the same queue, so reading a body must never block. The file is
/// private and unlinked, so its space is freed with the transfer, even if the process is killed.
final class SpooledTransfer: TransferHandle {
    private enum Phase: Sendable {
        /// The body is being written by this task; `nil` until the task is stored.
        case writing(Task<Void, Never>?)
        case sending
        case ended
    }

    private let phase = Locked(Phase.writing(nil))
    private let flow = FlowControl()
    private let receive: @Sendable (TransferEvent) -> Void

    private init(_ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.receive = receive
    }

    /// Starts writing the body.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - timeout: The maximum time without a chunk.
    ///   - receive: Receives the events.
    ///   - send: Sends the request with the written body, and reports its events to `receive`.
    /// - Returns: The handle.
    static func start(
        _ body: HTTPBody.Stream,
        timeout: Duration,
        receive: @escaping @Sendable (TransferEvent) -> Void,
        send: @escaping @Sendable (HTTPBody.Stream) -> any TransferHandle
    ) -> any TransferHandle {
        let transfer = SpooledTransfer(receive)
        let task = RunExecutor.detachedTask {
            do {
                let file = try await transfer.write(body, timeout)
                transfer.startSending { send(file.body) }
            } catch {
                transfer.end(RequestError(bodyError: error))
            }
        }
        transfer.store(task)
        return transfer
    }

    func cancel() {
        end(RequestError(.cancelled, phase: .sending))
        flow.cancel()
    }

    /// Stores the writing task, unless it has finished; cancels the task if the transfer has already ended.
    private func store(_ task: Task<Void, Never>) {
        let hasEnded = phase.withLock { phase in
            if case .writing = phase { phase = .writing(task) }
            if case .ended = phase { return true }
            return false
        }
        if hasEnded { task.cancel() }
    }

    /// Ends the transfer if the body is still being written; after that, the session ends the transfer.
    private func end(_ error: RequestError) {
        let (isFirst, task) = phase.withLock { phase -> (Bool, Task<Void, Never>?) in
            guard case .writing(let task) = phase else { return (false, nil) }
            phase = .ended
            return (true, task)
        }
        task?.cancel()
        if isFirst { receive(.end(error)) }
    }

    private func startSending(_ send: () -> any TransferHandle) {
        let isWriting = phase.withLock { phase in
            guard case .writing = phase else { return false }
            phase = .sending
            return true
        }
        if isWriting { flow.attach(send()) }
    }

    private func write(_ body: HTTPBody.Stream, _ timeout: Duration) async throws -> SpoolFile {
        let file = try SpoolFile()
        var chunks = body.makeAsyncIterator()
        while true {
            let timer = DelayedAction(after: timeout, on: ContinuousClock()) { [self] in
                let reason = "the request body provided no data"
                end(RequestError(.timedOut, phase: .sending, reason: reason, underlying: URLError(.timedOut)))
            }
            defer { timer.cancel() }
            guard let chunk = try await chunks.next() else { return file }
            try file.append(chunk)
        }
    }
}

/// An unlinked temporary file, whose space is freed when its last reader closes it.
private final class SpoolFile: Sendable {
    private let descriptor: Int32
    private let folder = FileManager.default.temporaryDirectory

    /// - Throws: A ``FileError`` if the file can't be created.
    init() throws(FileError) {
        let path = folder.appendingPathComponent(PartialFile.name(for: "body")).path
        do throws(POSIXError) {
            descriptor = try PrivateFile.create(path)
        } catch {
            throw FileError(folder, errno: error.code.rawValue)
        }
        unlink(path)
    }

    deinit { close(descriptor) }

    func append(_ bytes: Data) throws(FileError) {
        let number = PrivateFile.writeAll(bytes, to: descriptor)
        guard number == 0 else { throw FileError(folder, errno: number) }
    }

    /// The content of the file; each iteration begins at the start.
    var body: HTTPBody.Stream {
        HTTPBody.Stream { [self] in
            // Each reader has its own position.
            var offset = 0
            return PolledStream { [self] buffer in
                let count = pread(descriptor, buffer.baseAddress, buffer.count, offset)
                guard count >= 0 else { throw FileError(.cannotReadFile, folder, "its file descriptor can't be read") }
                offset += count
                return count
            } releasing: {
            }
        }
    }
}
#endif
