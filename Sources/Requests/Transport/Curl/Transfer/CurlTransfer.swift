// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation
import Synchronization

/// A transfer with libcurl: an easy handle, its state, and the mailbox between the loop and the receiver.
// Sendable: until the transfer is submitted to the loop, only the thread that creates it accesses the variables; after
// that, only the loop's thread does. The mailbox, which both sides share, has a lock.
final class CurlTransfer: TransferHandle, @unchecked Sendable {
    /// The easy handle with its memory.
    ///
    /// After the transfer has ended, the handle may be reused by another transfer.
    let handle: CurlHandle
    let easy: CurlEasy
    /// The last socket that libcurl used for the transfer; accessed only by the loop.
    var socket: CurlSocket?
    /// The connection, which may be shared; `nil` before the transfer has one.
    var connection: Connection?
    /// The TLS session of the connection.
    private var session = CCurlSession()
    let destination: CurlDestination
    /// The proxy; `nil` for a direct connection.
    let proxy: CurlProxies.Proxy?
    /// The route that the connection must have.
    let route: CurlRoute
    /// The destination whose name is being looked up for the transfer; `nil` if there is none.
    var awaitedDestination: CurlDestination?
    /// The addresses to connect to, from a lookup or from the configuration.
    private(set) var addresses: [CurlAddresses] = []
    let loop: CurlLoop
    private let receive: @Sendable (TransferEvent) -> Void
    private let mailbox = Locked(CurlMailbox())
    var options: CurlOptions
    /// Whether the transfer was cancelled, perhaps by a command that the loop hasn't executed yet.
    private let cancelled = Atomic(false)
    private var flow: FlowControl?

    var state: CurlTransferState
    var body: CurlBody?
    /// The decoder of the response's content; `nil` until content arrives, and if the content isn't decoded.
    private var decoder: ContentDecoder?
    var stopwatch = CurlStopwatch()
    let isIdempotent: Bool
    /// The time at which the request was last sent; `nil` before that.
    ///
    /// If libcurl doesn't report this, it is the time at which the transfer was added to libcurl.
    private(set) var sentAt: UInt64?
    /// Whether the caller limits the number of concurrent requests.
    let hasOwnLimit: Bool
    /// Whether the response may be endless.
    let isOpenEnded: Bool
    /// Whether the content is written to a file or a stream.
    private let isStreamed: Bool
    private var events: CurlEvents
    /// The HTTP/2 stream ID; `nil` for HTTP/1.
    var streamID: UInt32?
    var restarts = 0
    /// The number of connections on which the server has processed no request.
    var futileSends = 0
    /// The current stage; accessed only by the loop.
    var stage: CurlStage
    /// The byte count of inline content; `nil` once its sending has been reported.
    private var unreportedContentCount: Int?
    /// The reason why the content of the request can't be sent.
    private var bodyError: (any Error)?
    var paused: CurlPauses = []
    /// Whether the receiver must be called for events that were held back.
    private var needsDelivery = false
    /// Whether libcurl has completed the transfer successfully.
    private(set) var isComplete = false
    /// Whether the transfer has ended because no connection was established in time.
    private(set) var hasConnectTimedOut = false

    /// Creates a transfer with a handle, ready to be submitted to the loop.
    ///
    /// - Throws: An error if the request can't be sent.
    init(
        _ request: TransportRequest,
        to destination: CurlDestination,
        _ handle: CurlHandle,
        loop: CurlLoop,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) throws {
        let configuration = loop.configuration
        self.handle = handle
        easy = handle.pointee.easy
        self.loop = loop
        self.receive = receive
        isIdempotent = request.method.isIdempotent
        hasOwnLimit = request.hasOwnLimit
        isOpenEnded = request.isOpenEnded
        isStreamed = request.isStreamed
        events = CurlEvents(isStreamed: isStreamed)
        flow = request.flow
        let timeout = request.timeout ?? TransportRequest.defaultTimeout
        stage = CurlStage(timeout: timeout, connectTimeout: min(timeout, configuration.connectTimeout))
        var limits = configuration.limits
        limits.body = request.maximumBodySize
        limits.head = min(limits.head, request.maximumHeadSize)
        // libcurl treats a HEAD request with a body as an upload, and waits for the content of the response.
        let endsWithHead = request.method == .head && !request.body.isEmpty
        let acceptsMissingCloseNotify = !destination.isSecure || configuration.acceptsMissingCloseNotify
        state = CurlTransferState(
            url: request.url,
            limits: limits,
            endsWithHead: endsWithHead,
            hasContent: !request.body.isEmpty,
            isHeadRequest: request.method == .head,
            decodesContent: configuration.decodesContent && request.decodesContent,
            requiresCloseNotify: !acceptsMissingCloseNotify && CurlFeatures.loaded.reportsCloseNotify
        )
        self.destination = destination
        proxy = loop.proxies.proxy(for: destination)
        route = CurlRoute(to: destination, over: proxy, needsTunnel: request.upgrade != nil)
        options = try CurlOptions(
            request,
            to: destination,
            over: proxy,
            connectTimeout: stage.connectTimeout,
            decodesContent: configuration.decodesContent
        )
        unreportedContentCount = options.contentCount
        if let upgrade = request.upgrade {
            body = CurlBody(upgrade, whenReadable: resumeSending)
        } else if unreportedContentCount == nil {
            body = try CurlBody(request.body, whenReadable: resumeSending)
        }
        try options.apply(request, to: handle, of: self)
    }

    deinit {
        body?.close()
    }

    // MARK: From any thread

    func cancel() {
        // The loop executes the command in its next iteration. The flag keeps the current iteration from sending the
        // request.
        cancelled.store(true, ordering: .sequentiallyConsistent)
        loop.submit(.stop(self, .cancelled))
    }

    var isCancelled: Bool { cancelled.load(ordering: .sequentiallyConsistent) }

    func pause() { change { $0.hold(true) } }

    func resume() { change { $0.hold(false) } }

    /// Changes the mailbox, and makes the loop read it in the next iteration.
    private func change(_ change: (inout CurlMailbox) -> Void) {
        mailbox.withLock { change(&$0) }
        loop.submit(.updatePauses(self))
    }

    /// Calls the receiver with the events in the mailbox until it is empty or events are held back; called by one
    /// worker at a time.
    func deliver() {
        var (isFirstCall, hasUpgradeEnded) = (true, false)
        func take() -> ArraySlice<TransferEvent>? {
            mailbox.withLock { mailbox in
                defer { hasUpgradeEnded = mailbox.hasUpgradeEnded }
                return mailbox.take(isFirstCall: isFirstCall)
            }
        }
        while let events = take() {
            isFirstCall = false
            // The end event is always the last and never held back, so the mailbox needn't be checked.
            let isLast = events.hasEnd
            for (position, event) in zip(events.indices, events) {
                receive(event)
                guard !isLast, case .data(let data) = event else { continue }
                let (resumes, isHeld) = mailbox.withLock { mailbox in
                    (mailbox.release(data.count), mailbox.putBack(events[(position + 1)...]))
                }
                if resumes { loop.submit(.updatePauses(self)) }
                if isHeld { break }
            }
            if isLast { return }
        }
        if hasUpgradeEnded { loop.submit(.updatePauses(self)) }
    }

    // MARK: From the loop's thread

    /// Stops the transfer from this side; returns `false` if it is already ending.
    func stop(_ reason: CurlTransferState.Stop) -> Bool {
        state.stop(reason == .timedOut && paused.contains(.body) ? .bodyStalled : reason)
    }

    /// Records that the loop has received the transfer, which can be paused and cancelled from now on.
    func didEnterLoop() {
        flow?.attach(self)
        flow = nil
    }

    /// Ends the transfer with an error because the loop doesn't accept it.
    func fail(_ error: RequestError) {
        receive(.end(error))
        ccurl_handle_free(handle)
    }

    /// Records that the transfer was admitted.
    func didAdmit() {
        stage.awaitAddresses(at: loop.now)
        stopwatch.recordAdmission(at: loop.now)
    }

    /// Records that the transfer is about to be added to libcurl.
    func willAddToMulti() {
        stage.startConnecting()
        stopwatch.recordCurlStart(at: loop.now)
        // An older libcurl doesn't report when the transfer is connected. It reports that the head is being sent, but
        // only over TLS.
        guard !CurlFeatures.loaded.hasPrerequestCallback else { return }
        sentAt = loop.now
        if !destination.isSecure { stage.didConnect() }
    }

    /// Adds addresses for the transfer to connect to.
    ///
    /// The time spent on the lookup is deducted from the connect timeout.
    func addAddresses(from addresses: CurlAddresses) {
        self.addresses.append(addresses)
        let wait = pausesReceiving ? .zero : stage.waitingTime(until: loop.now)
        if wait > .zero { options.limitConnectTime(to: stage.connectTimeout - wait, easy) }
    }

    /// The name of the proxy or host that was looked up for the connection; `nil` if there was no lookup.
    var connectionHostName: String? { (proxy?.destination ?? destination).name }

    /// Whether no bytes may follow the response on its connection.
    var isExclusive: Bool { state.isHTTP1 && paused.isEmpty }

    /// Whether the request was sent at least once.
    var wasSent: Bool { state.sendCount > 0 }

    /// Whether the transfer has a direct connection to its host without TLS.
    var hasPlainConnection: Bool { stage.phase == .connected && !destination.isSecure && proxy == nil }

    /// Whether the handle may be reused for another transfer.
    ///
    /// A used handle may keep its buffer, and then rejects another buffer size. So a handle with a larger buffer isn't
    /// reused, and a TLS handle is reused only if it needs no reset.
    var isHandleReusable: Bool { isComplete && (destination.isSecure ? handle.pointee.is_prepared : !isStreamed) }

    /// Opens the content of the request, now that the transfer has been admitted.
    func openContent() -> CurlBody.ReadResult {
        guard let body else { return .bytes(0) }
        let chunk = body.open()
        switch chunk {
        case .bytes: break
        case .later:
            stage.awaitContent()
            paused.insert(.body)
        case .failed(let error): bodyError = error
        }
        return chunk
    }

    /// Records that a socket, which may be the transfer's own, is being closed.
    func willClose(_ socket: Int32) {
        if self.socket?.descriptor == socket { self.socket = nil }
    }

    /// Completes the transfer with libcurl's result code; the next ``publish()`` reports the end.
    func complete(_ code: Int32) {
        isComplete = code == 0
        // libcurl counts the resends of a handle, up to a limit, until the handle is reset. Even beyond the limit, it
        // records that a request was refused, and would mistake a later failure for a refusal. So reset the handle.
        if state.sendCount != 1 || restarts > 0 { handle.pointee.is_prepared = false }
        hasConnectTimedOut =
            stage.phase.awaitsConnection && (code == CurlResult.timedOut || state.stopped == .connectTimedOut)
        if isComplete { reportSentContent() }
        // A response may arrive before the entire content was sent.
        body?.close()
        let result = CurlOptions.result(code, of: handle)
        guard var event = state.end(result, isTruncated: decoder?.mayEnd == false) else { return }
        if state.stopped == .bodyFailed, let bodyError { event = .end(RequestError(bodyError: bodyError)) }
        var measured = ccurl_easy_metrics(easy)
        measured.head_sent = max(0, measured.head_sent - options.contentCountInHead)
        if let trailers = state.trailers { events.append(.trailers(trailers)) }
        let stop = state.stopped.map { _ in loop.now }
        events.append(.metrics(stopwatch.metrics(measured, over: connection, session, stoppedAt: stop)))
        events.append(event)
    }

    /// Moves the events into the mailbox; returns whether the receiver must be called.
    func publish() -> Bool {
        defer { needsDelivery = false }
        guard let new = events.take() else { return needsDelivery }
        let (schedule, pause) = mailbox.withLock { $0.put(new) }
        if pause { _ = setPaused(paused.union(.mailbox)) }
        // Always schedule a stopped transfer, because an earlier call of its receiver may still be waiting for slow
        // receivers.
        return schedule || needsDelivery || isStopped
    }

    /// Whether the transfer was stopped from this side, for example by a cancellation, by a timeout, or because the
    /// transport was closed.
    var isStopped: Bool { state.stopped != nil }

    // The reference is weak, because the transfer owns the body. The closure is created only for streams, because it
    // would slow down other transfers.
    private var resumeSending: @Sendable () -> Void {
        { [weak self] in self?.change { $0.isReadable = true } }
    }

    /// Applies the current pause state of the mailbox, because commands may arrive in a different order than the
    /// changes.
    ///
    /// - Returns: libcurl's code. While a transfer resumes, libcurl delivers buffered content, which may be rejected.
    func updatePauses() -> Int32 {
        let (isHeld, isFull, isReadable, needsDelivery, hasUpgradeEnded) = mailbox.withLock { mailbox in
            defer { mailbox.isReadable = false }
            let hasUpgradeEnded = mailbox.hasUpgradeEnded && events.isEmpty
            return (mailbox.isHeld, mailbox.isFull, mailbox.isReadable, mailbox.scheduleIfNeeded(), hasUpgradeEnded)
        }
        self.needsDelivery = self.needsDelivery || needsDelivery
        if hasUpgradeEnded { body?.finish() }
        var pauses = paused
        if isHeld { pauses.insert(.caller) } else { pauses.remove(.caller) }
        if !isFull { pauses.remove(.mailbox) }
        if isReadable || hasUpgradeEnded { pauses.remove(.body) }
        return setPaused(pauses)
    }

    /// Discards the content that libcurl has buffered during a pause; called before the handle is removed.
    ///
    /// libcurl frees that content only when it is delivered, or when the connection ends. A removed HTTP/2 stream would
    /// leak the content, because other streams keep the connection open. So make libcurl deliver the content now; the
    /// stopped transfer rejects it.
    func discardBufferedContent() {
        if isStopped { _ = setPaused([]) }
    }

    private func setPaused(_ pauses: CurlPauses) -> Int32 {
        guard pauses != paused else { return 0 }
        paused = pauses
        return ccurl_easy_pause(easy, pauses.bits)
    }

    /// Whether the content of the request currently has no bytes, or isn't open yet.
    var awaitsContent: Bool { paused.contains(.body) }

    /// Whether receiving is paused, in which case a silent peer must not time out.
    var pausesReceiving: Bool { paused.pausesReceiving }

    /// Returns whether libcurl may use a socket for the transfer without watching it.
    func mayOwn(_ socket: CurlSocket) -> Bool {
        stage.phase.isAddedToCurl && !paused.isEmpty && (self.socket == nil || self.socket == socket)
    }

    // MARK: Callbacks of libcurl

    /// Receives a line, or several if libcurl has buffered them during a pause.
    func receiveLines(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !isStopped else { return 0 }
        loop.recordActivity(self)
        reportSentContent()
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.offset(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.count
            switch state.receiveLine(UnsafeRawBufferPointer(rebasing: rest[..<count])) {
            case .more:
                break
            case .event(let event):
                if case .head(let head) = event {
                    guard body?.upgrade != nil || head.status != .switchingProtocols else {
                        _ = state.stop(.badFraming(.unexpectedUpgrade))
                        return 0
                    }
                    if body?.upgrade != nil { handleUpgradeResponse(with: head) }
                    if isOpenEnded { loop.didReceiveHead(self) }
                }
                events.append(event)
            case .last(let event):
                events.append(event)
                return 0
            case .abort:
                return 0
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return bytes.count
    }

    /// Reports the metrics if the server has accepted the upgrade; for any other response, ends the content of the
    /// request.
    private func handleUpgradeResponse(with head: HTTPResponseHead) {
        guard head.status == .switchingProtocols else {
            body?.finish()
            return resumeSending()
        }
        let metrics = stopwatch.metrics(ccurl_easy_metrics(easy), over: connection, session, stoppedAt: loop.now)
        events.append(.metrics(metrics))
    }

    /// Ends a transfer whose peer has gone before the content of the request has ended.
    ///
    /// libcurl no longer watches the socket, because it has read the end of the response or of the connection. As long
    /// as no more bytes of the request's content are available, libcurl waits for them, even if the peer has gone. The
    /// transfer is then stopped, because incomplete content must not look complete to a peer that still reads.
    ///
    /// - Parameter hasConnectionEnded: Whether the socket has reported the end of the connection.
    func handleLostPeer(hasConnectionEnded: Bool = false) {
        guard awaitsContent, wasSent, !pausesReceiving else { return }
        if body?.upgrade != nil {
            // The user of the connection may still reply to what has just arrived.
            change { $0.hasPeerEnded = true }
        } else if hasConnectionEnded || !state.hasHead || socket.map({ ccurl_has_ended($0.descriptor) }) == true {
            loop.submit(.lostPeer(self, restarts: restarts))
        } else if !destination.isSecure {
            state.didReadResponseEnd()
        }
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !isStopped else { return 0 }
        loop.recordActivity(self)
        // libcurl ignores a pause that was requested before there was a connection. After any other pause, it still
        // reads once.
        guard !isFull else { return Int(CCURL_WRITEFUNC_PAUSE) }
        let content = UnsafeRawBufferPointer(rebasing: bytes[..<state.contentCount(of: bytes.count)])
        if state.codings.isEmpty {
            guard accept(content) else { return 0 }
        } else {
            do throws(ContentDecoder.Failure) {
                if decoder == nil { decoder = try ContentDecoder(state.codings) }
                while let chunk = try decoder?.nextChunk(of: content) {
                    guard accept(chunk) else { return 0 }
                    // libcurl delivers the same bytes again later, and the decoder continues where it has stopped.
                    if isFull { return Int(CCURL_WRITEFUNC_PAUSE) }
                }
            } catch {
                _ = state.stop(.badContent(error))
                return 0
            }
        }
        return state.receiveEncoded(content.count) ? bytes.count : 0
    }

    /// Whether the transfer can't accept more content at the moment.
    ///
    /// One call of libcurl reads up to a hundred buffers, each of which may decode to a thousand times its size. The
    /// mailbox is filled only after the call, which would be too late. libcurl delivers rejected content again when the
    /// mailbox is emptied.
    private var isFull: Bool {
        if events.isFull { paused.insert(.mailbox) }
        return pausesReceiving
    }

    private func accept(_ content: UnsafeRawBufferPointer) -> Bool {
        guard state.receiveBody(content.count) else { return false }
        events.append(content: content)
        return true
    }

    /// Returns whether the request may be sent over a connection; libcurl calls this once it has a connection.
    func shouldSend(_ connection: Connection?) -> Bool {
        loop.recordActivity(self)
        loop.didConnect(self)
        self.connection = connection
        sentAt = loop.now
        session = ccurl_easy_session(easy)
        if isCancelled { _ = state.stop(.cancelled) }
        if unreportedContentCount != nil { stopwatch.recordBodyRead(at: loop.now) }
        if body?.upgrade != nil { mailbox.withLock { $0.hasPeerEnded = false } }
        body?.beginSending()
        if let trustFailure = options.trustFailure(of: easy) {
            _ = state.stop(.untrusted(trustFailure))
            return false
        }
        let hasSentBytes = ccurl_easy_long(easy, CCURL_INFO_REQUEST_SIZE) > 0
        return state.shouldSend(isIdempotent: isIdempotent, hasSentBytes: hasSentBytes)
    }

    /// Records that the head of the request is being sent, which libcurl reports only over TLS.
    func didSendHead() {
        sentAt = loop.now
        loop.didConnect(self)
    }

    /// Reports that the inline content was sent; called when a response has proven that.
    private func reportSentContent() {
        guard let count = unreportedContentCount else { return }
        unreportedContentCount = nil
        events.append(.sent(Int64(count), of: Int64(count)))
    }

    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        loop.recordActivity(self)
        // As when receiving, libcurl ignores a pause that was requested before there was a connection.
        guard !paused.contains(.caller) else { return Int(CCURL_READFUNC_PAUSE) }
        guard state.stopped == nil else { return Int(CCURL_READFUNC_ABORT) }
        switch body?.read(into: buffer) {
        case .bytes(let count):
            stopwatch.recordBodyRead(at: loop.now)
            if let body, count > 0, body.upgrade == nil { events.append(.sent(body.sentCount, of: body.length)) }
            return count
        case .later:
            paused.insert(.body)
            return Int(CCURL_READFUNC_PAUSE)
        case .failed(let error):
            bodyError = error
            _ = state.stop(.bodyFailed)
            // libcurl then reports "aborted by callback", the same as for a cancellation.
            return Int(CCURL_READFUNC_ABORT)
        case nil:
            return Int(CCURL_READFUNC_ABORT)
        }
    }

    func seekBody(to offset: Int64) -> Bool {
        offset == 0 && body?.rewind() ?? true
    }
}
#endif
