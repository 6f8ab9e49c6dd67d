// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(FoundationNetworking)
import Foundation

/// A transfer whose content is written to a file before it is sent.
///
/// On Linux, a session reads content on the one queue of all sessions of the process, so none of it may have to be
/// waited for. The file is private, and has no name: its bytes are released with the transfer, even if the process is
/// killed.
final class SpooledTransfer: TransferHandle {
    private enum Phase: Sendable {
        case writing
        case sending
        case ended
    }

    private let phase = Locked(Phase.writing)
    private let flow = FlowControl()
    private let receive: @Sendable (TransferEvent) -> Void

    private init(_ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.receive = receive
    }

    /// Starts to write the content.
    ///
    /// - Parameters:
    ///   - body: The content.
    ///   - timeout: The maximum time without a chunk.
    ///   - receive: Receives the events.
    ///   - send: Sends the request with the written content, and reports its events to `receive`.
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
                transfer.begin { send(file.body) }
            } catch {
                transfer.end(RequestError(ofBody: error))
            }
        }
        transfer.flow.attach(Writing(task))
        return transfer
    }

    func cancel() {
        end(RequestError(.cancelled, phase: .sending))
        flow.cancel()
    }

    /// Ends the transfer, unless it is being sent: then the session does.
    private func end(_ error: RequestError) {
        let isFirst = phase.withLock { phase in
            guard case .writing = phase else { return false }
            phase = .ended
            return true
        }
        if isFirst { receive(.end(error)) }
    }

    private func begin(_ send: () -> any TransferHandle) {
        let isWanted = phase.withLock { phase in
            guard case .writing = phase else { return false }
            phase = .sending
            return true
        }
        if isWanted { flow.attach(send()) }
    }

    private func write(_ body: HTTPBody.Stream, _ timeout: Duration) async throws -> SpoolFile {
        let file = try SpoolFile()
        var chunks = body.makeAsyncIterator()
        while true {
            let timer = DelayedAction(after: timeout, on: ContinuousClock()) { [self] in
                let reason = "the body of the request gave no bytes"
                end(RequestError(.timedOut, phase: .sending, reason: reason, underlying: URLError(.timedOut)))
                flow.cancel()
            }
            defer { timer.cancel() }
            guard let chunk = try await chunks.next() else { return file }
            try file.append(chunk)
        }
    }

    /// The handle of the task that writes.
    private final class Writing: TransferHandle {
        private let task: Task<Void, Never>

        init(_ task: Task<Void, Never>) {
            self.task = task
        }

        func cancel() { task.cancel() }
    }
}

/// A file without a name, which is released with its last reader.
private final class SpoolFile: Sendable {
    private let descriptor: Int32
    private let folder = FileManager.default.temporaryDirectory

    /// - Throws: ``FileError``.
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

    /// The content, from its beginning each time.
    var body: HTTPBody.Stream {
        HTTPBody.Stream { [self] in
            // The descriptor's own path opens the file again, with a position of its own.
            let path = "/proc/self/fd/\(descriptor)"
            let stream = InputStream(fileAtPath: path)
            guard let stream else { throw FileError(.cannotReadFile, folder, "it has no name") }
            return stream
        }
    }
}
#endif
