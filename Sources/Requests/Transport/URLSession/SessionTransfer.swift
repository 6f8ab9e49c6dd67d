// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A transfer that a `URLSessionTask` performs.
final class SessionTransfer: TransferHandle {
    private let task: URLSessionTask
    private let delegate: SessionDelegate
    private let body: HTTPBody
    private let receive: @Sendable (TransferEvent) -> Void
    private let state = Locked(SessionTransferState())
    #if !canImport(FoundationNetworking)
    /// The writer of a body that is an asynchronous sequence.
    private let writer = Locked<BodyWriter?>(nil)
    #endif

    private init(
        task: URLSessionTask,
        delegate: SessionDelegate,
        body: HTTPBody,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        self.task = task
        self.delegate = delegate
        self.body = body
        self.receive = receive
    }

    /// Creates and starts a task for the request; if the request can't be sent, the transfer ends immediately.
    static func start(
        _ request: TransportRequest,
        in session: URLSession,
        delegate: SessionDelegate,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        do {
            #if !canImport(Security)
            try request.validateTrust()
            #endif
            let task = try session.task(for: request)
            if let priority = request.priority { task.priority = Float(priority) }
            request.configureTask?(task)
            // The caller's closures above, including the one that opens the body, may have cancelled the request.
            guard request.flow?.isCancelled != true else {
                task.cancel()
                throw RequestError(.cancelled, phase: .sending)
            }
            let transfer = SessionTransfer(task: task, delegate: delegate, body: request.body, receive: receive)
            delegate.add(transfer, for: task, timeout: request.timeout ?? session.configuredTimeout)
            #if !canImport(FoundationNetworking)
            task.delegate = delegate
            #endif
            task.resume()
            return transfer
        } catch {
            receive(.end(RequestError(error)))
            return EndedTransfer.shared
        }
    }

    func cancel() {
        stop(.cancelled)
    }

    #if !canImport(FoundationNetworking)
    func pause() { task.suspend() }
    func resume() { task.resume() }
    #endif

    /// Cancels the task, for a reason that the transfer's `end` event reports.
    func stop(_ reason: SessionTransferState.StopReason) {
        guard state.withLock({ $0.stop(reason) }) else { return }
        // Cancel on the delegate's serial queue, to avoid two bugs in Foundation on Linux. Completing a redirect of a
        // task that was just cancelled crashes the process, and cancelling a task from within a cancellation handler
        // may deadlock.
        delegate.perform { [task] in task.cancel() }
    }

    // MARK: Serial calls of the delegate

    func didReceive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        send(state.withLock { $0.receive(HTTPResponseHead(response)) })
    }

    func didReceive(_ data: Data) {
        send(state.withLock { $0.receive(data) })
    }

    func didSend(_ count: Int64, of total: Int64) {
        send(state.withLock { $0.didSend(count, of: total) })
    }

    /// Whether the transfer is still running: it hasn't completed and hasn't been stopped.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    func didRejectChallenge() {
        state.withLock { $0.rejectChallenge() }
    }

    func didMeasure(_ metrics: TransferRecord.Metrics) {
        if isRunning { receive(.metrics(metrics)) }
    }

    func newBodyStream() -> InputStream? {
        #if !canImport(FoundationNetworking)
        if case .stream(let stream) = body.content, stream.isAsynchronous { return inputStream(stream) }
        #endif
        return try? body.content.open()
    }

    #if !canImport(FoundationNetworking)
    /// Returns a stream to which a new task writes the body, and cancels the writer of an earlier call.
    private func inputStream(_ body: HTTPBody.Stream) -> InputStream? {
        let new = BodyWriter.start(body) { [weak self] error in self?.stop(.bodyFailed(error)) }
        replaceWriter(by: new?.writer)
        return new?.input
    }

    private func replaceWriter(by new: BodyWriter?) {
        let previous = writer.withLock { writer in
            defer { writer = new }
            return writer
        }
        previous?.cancel()
    }
    #endif

    func didComplete(_ error: (any Error)?) {
        #if !canImport(FoundationNetworking)
        replaceWriter(by: nil)
        #endif
        // The head of a declined redirect isn't reported anywhere else.
        let head = state.withLock(\.awaitsHead) ? (task.response as? HTTPURLResponse).map(HTTPResponseHead.init) : nil
        for event in state.withLock({ $0.complete(error, head: head) }) { receive(event) }
    }

    private func send(_ event: TransferEvent?) {
        if let event { receive(event) }
    }
}

extension URLSession {
    /// The idle timeout of the session's configuration.
    var configuredTimeout: Duration {
        Duration(clampedSeconds: configuration.timeoutIntervalForRequest)
    }

    /// Creates the task of a request.
    ///
    /// - Throws: A ``RequestError`` if the session can't send such a request.
    fileprivate func task(for request: TransportRequest) throws -> URLSessionTask {
        guard request.decodesContent else {
            let reason = "URLSession always decompresses content, so `decodesContent` can't be false"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        var urlRequest = try self.urlRequest(for: request)
        guard !request.body.isEmpty else { return dataTask(with: urlRequest) }
        guard request.method != .get, request.method != .head else {
            let reason = "URLSession can't send a body with \(request.method)"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        switch request.body.content {
        case .none:
            break
        case .data(let data):
            urlRequest.httpBody = data
        case .file(let url):
            // Check that the file exists, because Foundation's error for a missing file is late and vague.
            _ = try url.fileSize()
            return uploadTask(with: urlRequest, fromFile: url)
        case .stream(let stream):
            #if !canImport(FoundationNetworking)
            // The session requests the stream from its delegate.
            if stream.isAsynchronous { return uploadTask(withStreamedRequest: urlRequest) }
            #endif
            urlRequest.httpBodyStream = try stream.open()
        }
        return dataTask(with: urlRequest)
    }

    /// Returns a Foundation request without the body.
    ///
    /// - Throws: A ``RequestError`` if the session can't send such a request.
    package func urlRequest(for request: TransportRequest) throws -> URLRequest {
        try request.validateSessionHeaders()
        var urlRequest = URLRequest(url: request.url, template: request.template)
        urlRequest.cachePolicy = request.cachePolicy
        urlRequest.httpMethod = request.method.rawValue
        urlRequest.allowsCellularAccess = request.allowsCellularAccess
        #if canImport(FoundationNetworking)
        // The transport handles the session's cookies itself.
        urlRequest.httpShouldHandleCookies = false
        #else
        let mayHandleCookies = request.usesCookies && !request.headers.contains(.cookie)
        urlRequest.httpShouldHandleCookies = mayHandleCookies && configuration.httpCookieStorage != nil
        #endif
        guard !request.headers.contains(.proxyAuthorization) else {
            let reason =
                "URLSession would send Proxy-Authorization to the origin; configure the proxy in its configuration"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        for field in request.headers where urlRequest.value(forHTTPHeaderField: field.name.rawValue) == nil {
            urlRequest.setValue(request.headers[field.name], forHTTPHeaderField: field.name.rawValue)
        }
        #if canImport(FoundationNetworking)
        // On Linux, Foundation rounds this timeout to whole seconds, so it is only a fallback for the transport's own
        // timeout.
        urlRequest.timeoutInterval = (request.timeout ?? configuredTimeout).clampedSeconds.rounded(.up) + 60
        #else
        // If the request has no timeout, the session's timeout applies.
        if let timeout = request.timeout { urlRequest.timeoutInterval = timeout.clampedSeconds }
        #endif
        return urlRequest
    }
}

extension TransportRequest {
    #if !canImport(Security)
    /// Rejects trust requirements that a session doesn't support, because a rule must never be ignored silently.
    ///
    /// Requests over plain HTTP are rejected, too, because they may be redirected to HTTPS.
    fileprivate func validateTrust() throws(RequestError) {
        guard trust != .system else { return }
        let reason = "URLSession supports only the system's trust policy"
        throw RequestError(.unsupported, phase: .sending, reason: reason)
    }
    #endif

    /// Validates the header fields, because fields of a session's configuration weren't validated before.
    fileprivate func validateSessionHeaders() throws(InvalidValue) {
        for field in headers where !field.name.rawValue.isToken || !field.hasValidValue {
            throw InvalidValue(.headerName, "or its value is invalid", excerpt: field.name.rawValue)
        }
    }
}

/// The state of one session task; converts the session's delegate calls to transfer events.
struct SessionTransferState {
    /// The reason why the client stopped a transfer.
    enum StopReason: Sendable {
        /// The caller cancelled the transfer.
        case cancelled
        /// The idle timeout has elapsed.
        case timedOut
        /// The server isn't trusted, or doesn't trust the client.
        case untrusted(TrustFailure)
        /// The body of the request has failed.
        case bodyFailed(any Error)
    }

    private enum Phase {
        case awaitingHead
        case receiving
        case ended
    }

    private var phase = Phase.awaitingHead
    private var stopReason: StopReason?
    private var hasRejectedChallenge = false

    /// Whether the transfer is still running: it hasn't completed and hasn't been stopped.
    var isRunning: Bool { phase != .ended && stopReason == nil }

    /// Whether the final head hasn't been reported yet.
    var awaitsHead: Bool { phase == .awaitingHead }

    /// Stops the transfer; returns `false` if it has already ended or been stopped.
    mutating func stop(_ reason: StopReason) -> Bool {
        guard isRunning else { return false }
        stopReason = reason
        return true
    }

    mutating func receive(_ head: HTTPResponseHead) -> TransferEvent? {
        guard isRunning, phase == .awaitingHead else { return nil }
        guard head.status.category != .informational else { return .informational(head) }
        phase = .receiving
        return .head(head)
    }

    mutating func receive(_ data: Data) -> TransferEvent? {
        isRunning && phase == .receiving && !data.isEmpty ? .data(data) : nil
    }

    mutating func didSend(_ count: Int64, of total: Int64) -> TransferEvent? {
        isRunning ? .sent(count, of: total > 0 ? total : nil) : nil
    }

    /// Records that a challenge was rejected, so that the resulting cancellation error is ignored in favor of the
    /// response.
    mutating func rejectChallenge() {
        hasRejectedChallenge = true
    }

    mutating func complete(_ error: (any Error)?, head: HTTPResponseHead?) -> [TransferEvent] {
        guard phase != .ended else { return [] }
        defer { phase = .ended }
        let errorPhase: RequestError.Phase = phase == .receiving ? .receiving : .sending
        switch stopReason {
        case .cancelled: return [.end(RequestError(.cancelled, phase: errorPhase))]
        case .timedOut: return [.end(RequestError(.timedOut, phase: errorPhase, underlying: URLError(.timedOut)))]
        case .untrusted(let trustFailure): return [.end(RequestError(trustFailure, phase: errorPhase))]
        case .bodyFailed(let error): return [.end(RequestError(bodyError: error))]
        case nil: break
        }
        if let error, !hasRejectedChallenge {
            return [.end(RequestError(sessionError: error, phase: errorPhase))]
        }
        guard phase == .awaitingHead else { return [.end(nil)] }
        guard let head else {
            return [.end(RequestError(.badResponse, phase: .receiving, reason: "the response isn't an HTTP response"))]
        }
        return [.head(head), .end(nil)]
    }
}

// MARK: - URLSession

#if !canImport(FoundationNetworking)
import Foundation

extension TransferRecord.Metrics {
    /// Creates metrics from the metrics of a `URLSession` transaction.
    init(_ transaction: URLSessionTaskTransactionMetrics, start: Date) {
        self.init(start: transaction.fetchStartDate ?? start)
        let origin = self.start
        func moment(_ date: Date?) -> Duration? {
            date.map { .seconds(max(0, $0.timeIntervalSince(origin))) }
        }
        fetchStart = .zero
        domainLookupEnd = moment(transaction.domainLookupEndDate)
        // Foundation includes the TLS handshake in the connect phase.
        connectEnd = moment(transaction.secureConnectionStartDate ?? transaction.connectEndDate)
        secureConnectionEnd = moment(transaction.secureConnectionEndDate)
        requestEnd = moment(transaction.requestEndDate)
        responseStart = moment(transaction.responseStartDate)
        end = moment(transaction.responseEndDate)
        isReusedConnection = transaction.isReusedConnection
        networkProtocol = transaction.networkProtocolName
        requestHeadSize = transaction.countOfRequestHeaderBytesSent
        requestBodySize = transaction.countOfRequestBodyBytesSent
        responseHeadSize = transaction.countOfResponseHeaderBytesReceived
        responseBodySize = transaction.countOfResponseBodyBytesReceived
        (remoteAddress, localAddress) = (transaction.remoteAddress, transaction.localAddress)
        // The ports are numbers on Apple platforms, and strings in swift-corelibs-foundation.
        remotePort = transaction.remotePort.flatMap { Int("\($0)") }
        localPort = transaction.localPort.flatMap { Int("\($0)") }
        isProxyConnection = transaction.isProxyConnection
        tlsVersion = transaction.negotiatedTLSProtocolVersion.map { Self.name(ofVersion: $0.rawValue) }
        tlsCipherSuite = transaction.negotiatedTLSCipherSuite.map { Self.name(ofCipherSuite: $0.rawValue) }
    }

    // Names for the codes of RFC 8446 (4.1.2 and B.4) and RFC 5289; any other code is shown as a number.
    private static func name(ofVersion version: UInt16) -> String {
        (0x0301...0x0304).contains(version)
            ? ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"][Int(version) - 0x0301] : "\(version)"
    }

    private static func name(ofCipherSuite suite: UInt16) -> String {
        switch suite {
        case 0x1301: "TLS_AES_128_GCM_SHA256"
        case 0x1302: "TLS_AES_256_GCM_SHA384"
        case 0x1303: "TLS_CHACHA20_POLY1305_SHA256"
        case 0xC02B: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
        case 0xC02C: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
        case 0xC02F: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
        case 0xC030: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
        default: "0x" + String(suite, radix: 16, uppercase: true)
        }
    }
}
#endif
