// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTPCompression
import NIOSSL
import Requests
import Synchronization

// Imported one by one, since these modules have other names that the library has too.
import enum NIOHTTP1.HTTPParserError
import struct NIOHTTP1.HTTPVersion
import protocol NIOHTTP2.NIOHTTP2Error
import struct NIOPosix.NIOConnectionError

/// A transport over AsyncHTTPClient: a recipe, to be copied into a server that has that package already.
///
/// A server that runs on SwiftNIO has one pool of connections, one set of threads and one place for TLS; over this
/// transport, requests share them:
///
/// ```swift
/// let transport = AsyncHTTPClientTransport()
/// let todo = try await queue.fetch(TodoRequest(id: 1), session: transport)
/// ```
///
/// HTTP/2 is used if a server offers it. Redirects, cookies and retries are off here, since the pipeline handles them.
///
/// Three limitations: Interim responses (1xx) aren't reported, since the client doesn't expose them. A ``TrustPolicy``
/// other than `.system` is refused: configure `tlsConfiguration` of the client instead. A body stream is read on a
/// thread of Dispatch's global queue, so a blocking one occupies a thread but no event loop.
public final class AsyncHTTPClientTransport: HTTPTransport {
    /// The underlying client, whose name the library has too.
    public typealias Client = AsyncHTTPClient.HTTPClient

    private let client: Client

    /// Makes a transport with its own client, on the threads that NIO shares.
    ///
    /// - Parameter configuration: The client's configuration. Features that belong to the pipeline are turned off in
    ///   it.
    public init(configuration: Client.Configuration = .init()) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .enabled(limit: .none)
        configuration.connectionPool.retryConnectionEstablishment = false
        // Each request has its own timeout, which the transport measures.
        configuration.timeout.read = nil
        configuration.timeout.write = nil
        configuration.guardStatus()
        client = Client(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        // Every transfer holds the transport, so none is running any more.
        client.shutdown { _ in }
    }

    /// The capabilities of AsyncHTTPClient.
    ///
    /// Events come on threads of Swift's cooperative pool, where a slow receiver delays others.
    public var capabilities: TransportCapabilities { [.pausing, .bodyWithAnyMethod, .sizedStreams, .orderedHeaders] }

    /// Starts a transfer, by the rules of `HTTPTransport`.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let exchange = Exchange(receive)
        do {
            let clientRequest = try HTTPClientRequest(request, exchange)
            exchange.start(timeout: request.timeout ?? .seconds(60)) { [self] in
                let response = try await client.execute(clientRequest, deadline: .distantFuture)
                exchange.note(response.version)
                exchange.report(.head(HTTPResponseHead(response, url: request.url)))
                for try await piece in response.body {
                    exchange.report(.data(Data(buffer: piece)))
                    try await exchange.waitUntilResumed()
                }
            }
        } catch {
            exchange.end(with: RequestError(error))
        }
        return exchange
    }
}

// MARK: A transfer

/// One transfer: a task that sends the request, a task that checks the timeout, and one queue for the events of both.
private final class Exchange: TransferHandle {
    fileprivate struct State {
        var work: Task<Void, Never>?
        var watch: Task<Void, Never>?
        /// The reason why the work was stopped.
        var stop: RequestError.Code?
        var isPaused = false
        var waiter: CheckedContinuation<Void, any Error>?
        var lastSign = ContinuousClock.now
        var began = ContinuousClock.now
        var metrics = TransferRecord.Metrics()
        /// Events that wait for the one that is being delivered.
        var outbox: [TransferEvent] = []
        var isDelivering = false
        var hasHead = false
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let receive: @Sendable (TransferEvent) -> Void

    init(_ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.receive = receive
    }

    func start(timeout: Duration, _ body: @escaping @Sendable () async throws -> Void) {
        let work = Task { [self] in
            do {
                try await body()
                end(with: nil)
            } catch {
                end(with: RequestError(error, afterHead: state.withLock { $0.hasHead }))
            }
        }
        let watch = Task { [self] in
            while let due = state.withLock({ $0.due(after: timeout) }) {
                guard due > .now else { return stop(.timedOut) }
                guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
            }
        }
        let (isStopped, hasEnded) = state.withLock { state in
            (state.work, state.watch) = (work, watch)
            return (state.stop != nil, state.hasEnded)
        }
        // The transfer may have been stopped or ended before the tasks were stored.
        if isStopped { work.cancel() }
        if hasEnded { watch.cancel() }
    }

    // MARK: Events, one after the other, never under the lock

    /// Delivers an event; if another one is being delivered, that call delivers this one too.
    func report(_ event: TransferEvent) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.lastSign = .now
            state.note(event)
            state.outbox.append(event)
        }
        deliver()
    }

    func note(_ version: HTTPVersion) {
        let name = version.major == 2 ? "h2" : "http/\(version.major).\(version.minor)"
        state.withLock { $0.metrics.networkProtocol = name }
    }

    func end(with error: RequestError?) {
        let watch = state.withLock { state -> Task<Void, Never>? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            state.metrics.end = ContinuousClock.now - state.began
            let error = state.stop.map { RequestError($0, phase: state.phase) } ?? error
            state.outbox += [.metrics(state.metrics), .end(error)]
            return state.watch
        }
        watch?.cancel()
        deliver()
    }

    private func deliver() {
        while let event = state.withLock({ $0.nextEvent() }) {
            receive(event)
            state.withLock { $0.isDelivering = false }
        }
    }

    // MARK: Transfer

    func cancel() { stop(.cancelled) }

    private func stop(_ code: RequestError.Code) {
        let (work, waiter) = state.withLock { state -> (Task<Void, Never>?, CheckedContinuation<Void, any Error>?) in
            guard !state.hasEnded, state.stop == nil else { return (nil, nil) }
            state.stop = code
            defer { state.waiter = nil }
            return (state.work, state.waiter)
        }
        work?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    func pause() { state.withLock { $0.isPaused = true } }

    func resume() {
        let waiter = state.withLock { state in
            state.isPaused = false
            state.lastSign = .now
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Suspends the work while the transfer is paused: the client reads only content that is requested.
    func waitUntilResumed() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let outcome = state.withLock { state -> Result<Void, any Error>? in
                if state.stop != nil { return .failure(CancellationError()) }
                if !state.isPaused { return .success(()) }
                state.waiter = continuation
                return nil
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }
}

extension Exchange.State {
    var phase: RequestError.Phase { hasHead ? .receiving : .sending }

    /// Returns when the timeout ends, as far as is known; `nil` after the end. A pause doesn't count as silence.
    func due(after timeout: Duration) -> ContinuousClock.Instant? {
        hasEnded ? nil : (isPaused ? .now : lastSign) + timeout
    }

    mutating func note(_ event: TransferEvent) {
        switch event {
        case .head:
            hasHead = true
            metrics.responseStart = ContinuousClock.now - began
        case .data(let data): metrics.responseBodySize = (metrics.responseBodySize ?? 0) + Int64(data.count)
        case .sent(let count, _): metrics.requestBodySize = count
        case .informational, .trailers, .metrics, .end: break
        }
    }

    mutating func nextEvent() -> TransferEvent? {
        guard !isDelivering, !outbox.isEmpty else { return nil }
        isDelivering = true
        return outbox.removeFirst()
    }
}

// MARK: Requests and responses

extension HTTPClientRequest {
    /// - Throws: A ``RequestError`` if the client doesn't support the request.
    fileprivate init(_ request: TransportRequest, _ exchange: Exchange) throws {
        guard request.trust == .system else {
            throw RequestError(.unsupported, phase: .sending, reason: "only the client's tlsConfiguration sets trust")
        }
        guard request.decodesContent else {
            throw RequestError(.unsupported, phase: .sending, reason: "only the client's configuration sets decoding")
        }
        guard !request.headers.contains(.proxyAuthorization) else {
            // The client would send the credentials to the origin, too.
            let reason = "only the client's configuration sets proxy credentials"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        self.init(url: request.url.absoluteString)
        method = .init(rawValue: request.method.rawValue)
        headers = .init(request.headers.map { ($0.name.rawValue, $0.value) })
        // The client decodes compressed content, but doesn't request it.
        if !headers.contains(name: "Accept-Encoding") { headers.add(name: "Accept-Encoding", value: "gzip, deflate") }
        switch request.body.content {
        case .none:
            break
        case .data(let data):
            body = .pieces(BodyPieces(InputStream(data: data), Int64(data.count), exchange))
        case .file(let url):
            let values = try? url.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            guard values?.isRegularFile == true, let size = values?.fileSize, let stream = InputStream(url: url) else {
                throw RequestError(.invalidRequest, phase: .building, reason: "the body isn't a readable file")
            }
            body = .pieces(BodyPieces(stream, Int64(size), exchange))
        case .stream(let stream):
            body = .pieces(BodyPieces(try stream.open(), stream.length, exchange))
        }
        if method == .TRACE, body != nil {
            throw RequestError(.unsupported, phase: .sending, reason: "the client sends no body with TRACE")
        }
    }
}

extension HTTPClientRequest.Body {
    fileprivate static func pieces(_ pieces: BodyPieces) -> Self {
        .stream(pieces, length: pieces.length.map { .known($0) } ?? .unknown)
    }
}

extension HTTPResponseHead {
    fileprivate init(_ response: HTTPClientResponse, url: URL) {
        var fields = HTTPHeaders()
        for (name, value) in response.headers { fields.add(value, for: HTTPField.Name(name)) }
        self.init(status: HTTPStatus(Int(response.status.code)), headers: fields, url: url)
    }
}

/// The content of a request, in pieces that the client requests: each request for a piece shows that those before it
/// are being sent.
private final class BodyPieces: AsyncSequence, AsyncIteratorProtocol, Sendable {
    typealias Element = ByteBuffer

    let length: Int64?
    private let stream: Mutex<InputStream>
    private let count = Mutex<Int64>(0)
    private let exchange: Exchange

    init(_ stream: sending InputStream, _ length: Int64?, _ exchange: Exchange) {
        self.stream = Mutex(stream)
        self.length = length
        self.exchange = exchange
    }

    func makeAsyncIterator() -> BodyPieces { self }

    func next() async throws -> ByteBuffer? {
        let before = count.withLock { $0 }
        if before > 0 { exchange.report(.sent(before, of: length)) }
        // A read may block for any time, so it must not run on a shared thread.
        let piece = try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { [self] in continuation.resume(with: Result { try read() }) }
        }
        guard let piece else { return nil }
        count.withLock { $0 += Int64(piece.readableBytes) }
        return piece
    }

    private func read() throws -> ByteBuffer? {
        try stream.withLock { stream in
            if stream.streamStatus == .notOpen { stream.open() }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = stream.read(&bytes, maxLength: bytes.count)
            // If the stream has no error, Foundation's `streamError` ends the process on Linux, so it isn't read.
            guard count >= 0 else { throw RequestError(.encoding, phase: .sending, reason: "the body can't be read") }
            if count == 0 { stream.close() }
            return count == 0 ? nil : ByteBuffer(bytes: bytes.prefix(count))
        }
    }
}

// MARK: Errors

extension RequestError {
    /// Makes the library's error, with the client's own as the underlying one.
    fileprivate init(_ error: any Error, afterHead hasHead: Bool) {
        let code: Code =
            switch error {
            case let error as RequestError: error.code
            case is NIOConnectionError: .cannotConnect
            case let error as IOError where error.isRefusal: .cannotConnect
            case is NIOSSLError, is BoringSSLError: .untrusted
            case is HTTPParserError, is NIOHTTPDecompression.DecompressionError: .badResponse
            case is NIOHTTPDecompression.ExtraDecompressionError: .badResponse
            case is IOError, is ChannelError: .connectionLost
            // The server closes the connection, which ends its other transfers too.
            case is any NIOHTTP2Error: .connectionLost
            case let error as HTTPClientError: Code(error)
            default: .other
            }
        self.init(code, phase: hasHead ? .receiving : .sending, underlying: error)
    }
}

extension IOError {
    /// Whether no connection could be made.
    fileprivate var isRefusal: Bool { [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT].contains(errnoCode) }
}

extension RequestError.Code {
    fileprivate init(_ error: HTTPClientError) {
        switch error {
        case .cancelled: self = .cancelled
        case .remoteConnectionClosed: self = .connectionLost
        case .alreadyShutdown: self = .closed
        case .connectTimeout, .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout,
            .tlsHandshakeTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
            self = .timedOut
        case .invalidURL, .emptyHost, .emptyScheme, .bodyLengthMismatch: self = .invalidRequest
        default: self = .other
        }
    }
}
