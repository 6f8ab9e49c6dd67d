// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport that records the exchanges of another transport, so that a test can check, store or replay them.
///
/// ```swift
/// let recorder = ExchangeRecorder()
/// let client = HTTPClient(baseURL: url, transport: recorder)
/// // … run the requests to record
/// try recorder.archive.write(to: file)
/// ```
///
/// Every request that is sent is recorded, including redirects and retries, with any kind of content: a stream is
/// copied while the transport reads it. Events are forwarded unchanged as they arrive. Each exchange is recorded before
/// its end event is forwarded.
///
/// To record only if there is no file yet, and to replay the file otherwise, use an ``ArchiveTransport``. A recorder is
/// thread-safe, and shares nothing with other recorders.
public final class ExchangeRecorder: HTTPTransport {
    private let transport: any HTTPTransport
    private let maximumBodySize: Int
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let state = Locked(State())

    /// The exchanges by sequence number; the numbers increase in the order in which the requests were sent.
    private struct State: Sendable {
        var running: [Int: Exchange] = [:]
        var ended: [Int: Exchange] = [:]
        var count = 0
    }

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests; by default, the best transport of the platform.
    ///   - maximumBodySize: The maximum byte count of content to record, in each direction; 10 MiB by default. Larger
    ///     content is sent and received in full, but recorded incompletely.
    ///   - clock: The clock that measures an exchange if its transport doesn't.
    ///   - now: Returns the time at which an exchange starts.
    public init(
        _ transport: any HTTPTransport = HTTPClient.defaultTransport,
        maximumBodySize: Int = 10 * 1024 * 1024,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.transport = transport
        self.maximumBodySize = maximumBodySize
        self.clock = clock
        self.now = now
    }

    /// The completed exchanges, in the order in which their requests were sent.
    public var exchanges: [Exchange] {
        state.withLock(\.ended).sorted { $0.key < $1.key }.map(\.value)
    }

    /// The completed exchanges, as an archive to store.
    ///
    /// Await the requests before storing the archive, because requests in progress aren't included.
    public var archive: HTTPArchive { HTTPArchive(exchanges) }

    /// Removes all exchanges, including those in progress.
    public func reset() {
        state.withLock { $0 = State(count: $0.count) }
    }

    /// The capabilities of the transport that sends the requests.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Sends the request over the transport, and records the exchange.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let (elapsed, limit) = (clock.stopwatch(), max(0, maximumBodySize))
        // Omit the content, which may exceed the limit; it is recorded separately.
        var settings = request
        (settings.body, settings.configureTask, settings.upgrade) = (.none, nil, nil)
        let exchange = Exchange(request: ReceivedRequest(settings), metrics: TransferRecord.Metrics(start: now()))
        let number = state.withLock { state in
            state.count += 1
            state.running[state.count] = exchange
            return state.count
        }
        let copied = request.copyingBody { [state] bytes in
            state.withLock { $0.running[number]?.add(sent: bytes, limit: limit) }
        }
        return transport.send(copied) { [state] event in
            let time = elapsed()
            state.withLock { state in
                state.running[number]?.add(event, at: time, limit: limit)
                if case .end = event { state.ended[number] = state.running.removeValue(forKey: number) }
            }
            receive(event)
        }
    }
}

extension Exchange {
    /// Records bytes of the request's content; `nil` means that the content is sent again from its beginning.
    fileprivate mutating func add(sent bytes: UnsafeRawBufferPointer?, limit: Int) {
        guard let bytes else { return (request.body, requestBodySize) = (Data(), 0) }
        request.body.append(contentsOf: bytes.prefix(limit - request.body.count))
        requestBodySize += Int64(bytes.count)
    }

    /// Records an event of the transfer, with its time since the start.
    fileprivate mutating func add(_ event: TransferEvent, at time: Duration, limit: Int) {
        switch event {
        case .informational, .sent, .trailers: break
        case .head(let head):
            response = Response(status: head.status, headers: head.headers)
            metrics.responseStart = time
        case .data where response?.status == .switchingProtocols:
            // After an upgrade, the bytes belong to another protocol, so they aren't content.
            break
        case .data(let data):
            let room = limit - (response?.body.count ?? 0)
            response?.body += data.prefix(room)
            response?.bodySize += Int64(data.count)
        case .metrics(let measured):
            let (start, firstByte) = (metrics.start, metrics.responseStart)
            metrics = measured
            metrics.start = start
            if measured.responseStart == nil { metrics.responseStart = firstByte }
        case .end(let error):
            self.error = error
            if metrics.end == nil { metrics.end = time }
        }
    }
}

extension TransportRequest {
    /// Returns the request with a body that passes its bytes to `copy`: immediately for data and files, and while being
    /// read for a stream.
    ///
    /// - Parameter copy: Receives the bytes, or `nil` when the content starts again.
    /// - Returns: The request to send.
    fileprivate func copyingBody(
        to copy: @escaping @Sendable (UnsafeRawBufferPointer?) -> Void
    ) -> TransportRequest {
        // If the body can't be encoded or read, the transport reports the error.
        guard let body = try? body.resolved() else { return self }
        var result = self
        result.body = body
        switch body.content {
        case .none: break
        case .data(let data): data.withUnsafeBytes(copy)
        case .file(let url): (try? Data(contentsOf: url, options: .alwaysMapped))?.withUnsafeBytes(copy)
        case .stream(let stream):
            let copied = stream.copied(to: copy)
            result.body = HTTPBody(.stream(copied), headers: body.headers, mandatoryHeaders: body.mandatoryHeaders)
        }
        return result
    }
}

extension HTTPBody.Stream {
    /// Returns a stream of the same bytes, which also passes them to `copy` when they are read.
    fileprivate func copied(to copy: @escaping @Sendable (UnsafeRawBufferPointer?) -> Void) -> HTTPBody.Stream {
        guard !isAsynchronous else {
            return observed(from: { copy(nil) }, by: { $0.withUnsafeBytes(copy) })
        }
        return HTTPBody.Stream(length: length, isReplayable: isReplayable) {
            copy(nil)
            return PolledStream(copying: try open(), to: copy)
        }
    }
}

extension PolledStream {
    /// Creates a stream that reads from another stream, and also passes the bytes that its reader receives to `copy`.
    fileprivate convenience init(
        copying original: InputStream,
        to copy: @escaping (UnsafeRawBufferPointer) -> Void
    ) {
        self.init { buffer in
            if original.streamStatus == .notOpen { original.open() }
            guard let start = buffer.bindMemory(to: UInt8.self).baseAddress else { return 0 }
            let count = original.read(start, maxLength: buffer.count)
            guard count >= 0 else { throw original.streamError ?? CocoaError(.fileReadUnknown) }
            copy(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return count
        } releasing: {
            original.close()
        }
    }
}
