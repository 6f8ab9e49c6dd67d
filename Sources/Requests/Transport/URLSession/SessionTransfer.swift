// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One task of a session, as a transfer.
final class SessionTransfer: TransferHandle {
    private let task: URLSessionTask
    private let delegate: SessionDelegate
    private let body: HTTPBody
    private let receive: @Sendable (TransferEvent) -> Void
    private let state = Locked(SessionTransferState())
    #if !canImport(FoundationNetworking)
    /// The writer of a body that is a sequence.
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

    /// Makes a task of the request and starts it; a request that can't be sent ends at once.
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
            // The closure, or the one that has opened the body, may have cancelled the request.
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

    /// Ends the transfer, for a reason that its `end` reports.
    func stop(_ reason: SessionTransferState.Stop) {
        guard state.withLock({ $0.stop(reason) }) else { return }
        // On the delegate's queue: on Linux, answering a redirect of a task that was just cancelled ends the process,
        // and a cancellation from inside a task's cancellation handler may wait for itself. On a serial queue, neither
        // can happen.
        delegate.perform { [task] in task.cancel() }
    }

    // MARK: What the delegate hears, one call after the other

    func didReceive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        send(state.withLock { $0.receive(HTTPResponseHead(response)) })
    }

    func didReceive(_ data: Data) {
        send(state.withLock { $0.receive(data) })
    }

    func didSend(_ count: Int64, of total: Int64) {
        send(state.withLock { $0.sent(count, of: total) })
    }

    /// Whether a redirect may still be answered.
    var isRunning: Bool { state.withLock { $0.isRunning } }

    func didRejectChallenge() {
        state.withLock { $0.rejectChallenge() }
    }

    func didMeasure(_ metrics: TransferRecord.Metrics) {
        if isRunning { receive(.metrics(metrics)) }
    }

    func newBodyStream() -> InputStream? {
        #if !canImport(FoundationNetworking)
        if case .stream(let stream) = body.content, stream.isAsynchronous { return written(stream) }
        #endif
        return try? body.content.open()
    }

    #if !canImport(FoundationNetworking)
    /// Returns a stream that a task writes, instead of the one of an earlier call.
    private func written(_ body: HTTPBody.Stream) -> InputStream? {
        let new = BodyWriter.start(body) { [weak self] error in self?.stop(.bodyFailed(error)) }
        replaceWriter(by: new?.writer)
        return new?.input
    }

    private func replaceWriter(by new: BodyWriter?) {
        let former = writer.withLock { writer in
            defer { writer = new }
            return writer
        }
        former?.cancel()
    }
    #endif

    func didComplete(_ error: (any Error)?) {
        #if !canImport(FoundationNetworking)
        replaceWriter(by: nil)
        #endif
        // The head of a refused redirect is reported nowhere else.
        let head = state.withLock(\.awaitsHead) ? (task.response as? HTTPURLResponse).map(HTTPResponseHead.init) : nil
        for event in state.withLock({ $0.complete(error, head: head) }) { receive(event) }
    }

    private func send(_ event: TransferEvent?) {
        if let event { receive(event) }
    }
}

extension URLSession {
    /// The configured maximum time without data.
    var configuredTimeout: Duration {
        Duration(clampedSeconds: configuration.timeoutIntervalForRequest)
    }

    /// - Throws: A ``RequestError`` if the session can't send such a request.
    fileprivate func task(for request: TransportRequest) throws -> URLSessionTask {
        guard request.decodesContent else {
            throw RequestError(.unsupported, phase: .sending, reason: "a URLSession always decodes content")
        }
        var urlRequest = try self.urlRequest(for: request)
        guard !request.body.isEmpty else { return dataTask(with: urlRequest) }
        guard request.method != .get, request.method != .head else {
            let reason = "URLSession sends no body with \(request.method)"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        switch request.body.content {
        case .none:
            break
        case .data(let data):
            urlRequest.httpBody = data
        case .file(let url):
            // For a missing file, Foundation's error is late and vague.
            _ = try url.fileSize()
            return uploadTask(with: urlRequest, fromFile: url)
        case .stream(let stream):
            #if !canImport(FoundationNetworking)
            // The session asks its delegate for the stream.
            if stream.isAsynchronous { return uploadTask(withStreamedRequest: urlRequest) }
            #endif
            urlRequest.httpBodyStream = try stream.open()
        }
        return dataTask(with: urlRequest)
    }

    /// Returns a request in Foundation's terms, without its content.
    ///
    /// - Throws: A ``RequestError`` if the session can't send such a request.
    package func urlRequest(for request: TransportRequest) throws -> URLRequest {
        try request.validateSessionHeaders()
        var urlRequest = URLRequest(url: request.url, template: request.template)
        urlRequest.cachePolicy = request.cachePolicy
        urlRequest.httpMethod = request.method.rawValue
        urlRequest.allowsCellularAccess = request.allowsCellularAccess
        #if canImport(FoundationNetworking)
        // The transport stores the cookies of the session itself.
        urlRequest.httpShouldHandleCookies = false
        #else
        let mayHandleCookies = request.usesCookies && !request.headers.contains(.cookie)
        urlRequest.httpShouldHandleCookies = mayHandleCookies && configuration.httpCookieStorage != nil
        #endif
        guard !request.headers.contains(.proxyAuthorization) else {
            let reason = "a URLSession would send Proxy-Authorization to the origin; its configuration knows the proxy"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        for field in request.headers where urlRequest.value(forHTTPHeaderField: field.name.rawValue) == nil {
            urlRequest.setValue(request.headers[field.name], forHTTPHeaderField: field.name.rawValue)
        }
        #if canImport(FoundationNetworking)
        // Foundation rounds it to whole seconds there, so it is only a fallback for the transport's own timeout.
        urlRequest.timeoutInterval = (request.timeout ?? configuredTimeout).clampedSeconds.rounded(.up) + 60
        #else
        // A request without a timeout of its own takes the session's.
        if let timeout = request.timeout { urlRequest.timeoutInterval = timeout.clampedSeconds }
        #endif
        return urlRequest
    }
}

extension TransportRequest {
    #if !canImport(Security)
    /// Refuses requirements that a session doesn't support: a rule that is ignored must not look as if it were in
    /// force.
    ///
    /// This applies to http too, which may be redirected to https.
    fileprivate func validateTrust() throws(RequestError) {
        guard trust != .system else { return }
        let reason = "a URLSession supports only the system's trust policy"
        throw RequestError(.unsupported, phase: .sending, reason: reason)
    }
    #endif

    /// The library has checked its own fields; those of a session's configuration are checked here for the first time.
    fileprivate func validateSessionHeaders() throws(InvalidValue) {
        for field in headers where !field.name.rawValue.isToken || !field.hasValidValue {
            throw InvalidValue(.headerName, "or its value isn't valid", excerpt: field.name.rawValue)
        }
    }
}

/// The state of one task of a session: it turns the calls of `URLSession` into the events of a transport.
struct SessionTransferState {
    /// The reason why a transfer was stopped from this side.
    enum Stop: Sendable {
        /// It was cancelled.
        case cancelled
        /// It was silent for too long.
        case timedOut
        /// The server can't be trusted, or doesn't trust this side.
        case untrusted(TrustFailure)
        /// The content of the request has failed.
        case bodyFailed(any Error)
    }

    private enum Phase {
        case awaitingHead
        case receiving
        case ended
    }

    private var phase = Phase.awaitingHead
    private var stopped: Stop?
    private var hasRejectedChallenge = false

    /// Whether neither side has ended the transfer.
    var isRunning: Bool { phase != .ended && stopped == nil }

    /// Whether no final head was reported.
    var awaitsHead: Bool { phase == .awaitingHead }

    /// Stops the transfer from this side; `false` if it has ended.
    mutating func stop(_ reason: Stop) -> Bool {
        guard isRunning else { return false }
        stopped = reason
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

    mutating func sent(_ count: Int64, of total: Int64) -> TransferEvent? {
        isRunning ? .sent(count, of: total > 0 ? total : nil) : nil
    }

    /// Records a rejected challenge, which `URLSession` turns into a cancellation although there is a response.
    mutating func rejectChallenge() {
        hasRejectedChallenge = true
    }

    mutating func complete(_ error: (any Error)?, head: HTTPResponseHead?) -> [TransferEvent] {
        guard phase != .ended else { return [] }
        defer { phase = .ended }
        let errorPhase: RequestError.Phase = phase == .receiving ? .receiving : .sending
        switch stopped {
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
            return [.end(RequestError(.badResponse, phase: .receiving, reason: "the response isn't one of HTTP"))]
        }
        return [.head(head), .end(nil)]
    }
}

// MARK: - URLSession

#if !canImport(FoundationNetworking)
import Foundation

extension TransferRecord.Metrics {
    /// Takes the measurements of a `URLSession` for one transaction.
    init(_ transaction: URLSessionTaskTransactionMetrics, start: Date) {
        self.init(start: transaction.fetchStartDate ?? start)
        let origin = self.start
        func moment(_ date: Date?) -> Duration? {
            date.map { .seconds(max(0, $0.timeIntervalSince(origin))) }
        }
        fetchStart = .zero
        domainLookupEnd = moment(transaction.domainLookupEndDate)
        // Foundation counts the TLS handshake as a part of connecting.
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
        // Numbers on Apple platforms, and texts in swift-corelibs-foundation.
        remotePort = transaction.remotePort.flatMap { Int("\($0)") }
        localPort = transaction.localPort.flatMap { Int("\($0)") }
        isProxyConnection = transaction.isProxyConnection
        tlsVersion = transaction.negotiatedTLSProtocolVersion.map { Self.name(ofVersion: $0.rawValue) }
        tlsCipherSuite = transaction.negotiatedTLSCipherSuite.map { Self.name(ofCipherSuite: $0.rawValue) }
    }

    // The numbers are those of RFC 8446, 4.1.2 and B.4, and RFC 5289; others are shown as numbers.
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
