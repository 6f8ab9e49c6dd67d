// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation
import Synchronization

/// A transfer over libcurl: an easy handle, its state, and the mailbox between the loop and the receiver.
// Sendable: a part of the libcurl loop. Variables are accessed only by the thread that makes the transfer until it is
// submitted to the loop, and only by the loop's thread after that; the mailbox, which two sides share, has a lock.
final class CurlTransfer: TransferHandle, @unchecked Sendable {
    /// Its handle, which may belong to another transfer once this one has ended.
    let handle: CurlHandle
    let easy: CurlEasy
    /// The last socket that libcurl used for it; accessed only by the loop.
    var socket: CurlSocket?
    /// Its connection, which may be shared; `nil` before there is one.
    var connection: Connection?
    /// The TLS session of its connection.
    private var session = CCurlSession()
    let destination: CurlDestination
    /// The proxy that it goes to; `nil` if it goes to the host.
    let proxy: CurlProxies.Proxy?
    /// The route that its connection must have.
    let route: CurlRoute
    /// The place whose name is being looked up for it; `nil` if none is.
    var awaited: CurlDestination?
    /// The addresses that it connects to, if they were looked up or are the caller's.
    private(set) var addresses: [CurlAddresses] = []
    let loop: CurlLoop
    private let receive: @Sendable (TransferEvent) -> Void
    private let mailbox = Locked(CurlMailbox())
    var options: CurlOptions
    /// Whether it was cancelled, perhaps by a command that the loop hasn't taken yet.
    private let cancelled = Atomic(false)
    private var flow: FlowControl?

    var state: CurlTransferState
    var body: CurlBody?
    /// The decoder of the response's content; `nil` before the content, and if it isn't decoded.
    private var decoder: ContentDecoder?
    var stopwatch = CurlStopwatch()
    let isIdempotent: Bool
    /// The time at which it was last sent, or handed to a libcurl that doesn't tell; `nil` before.
    private(set) var sentAt: UInt64?
    /// Whether the caller limits the number of concurrent requests.
    let hasOwnLimit: Bool
    /// Whether the content may have no end.
    let isOpenEnded: Bool
    /// Whether the content goes to a file or a stream.
    private let isStreamed: Bool
    private var events: CurlEvents
    /// The number of its stream, with HTTP/2.
    var stream: UInt32?
    var restarts = 0
    /// The number of connections on which the server has processed nothing at all.
    var futileSends = 0
    /// Its present stage; accessed only by the loop.
    var stage: CurlStage
    /// The byte count of content that is sent in one piece, until its sending is reported.
    private var unreportedCount: Int?
    /// Why the content of the request can't be sent.
    private var bodyError: (any Error)?
    var paused: CurlPauses = []
    /// Whether the receiver has to be called for events that were held back.
    private var isWanted = false
    /// Whether libcurl has completed the transfer successfully.
    private(set) var isComplete = false
    /// Whether the transfer has ended because no connection was made in time.
    private(set) var isUnconnected = false

    /// Makes a transfer with a handle, ready for the loop.
    ///
    /// - Throws: An error that keeps the request from being sent.
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
        // libcurl treats a HEAD with a body as an upload, and waits for the content of the response.
        let endsWithHead = request.method == .head && !request.body.isEmpty
        let mayEndUnannounced = !destination.isSecure || configuration.acceptsMissingCloseNotify
        state = CurlTransferState(
            url: request.url,
            limits: limits,
            endsWithHead: endsWithHead,
            hasContent: !request.body.isEmpty,
            isHead: request.method == .head,
            decodesContent: configuration.decodesContent && request.decodesContent,
            requiresAnnouncedEnd: !mayEndUnannounced && CurlFeatures.loaded.reportsCloseNotify
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
        unreportedCount = options.contentCount
        if let upgrade = request.upgrade {
            body = CurlBody(upgrade, whenReadable: resumesSending)
        } else if unreportedCount == nil {
            body = try CurlBody(request.body, whenReadable: resumesSending)
        }
        try options.apply(request, to: handle, of: self)
    }

    deinit {
        body?.close()
    }

    // MARK: From any thread

    func cancel() {
        // The loop takes the command in its next turn, and may be about to send the request in this one.
        cancelled.store(true, ordering: .sequentiallyConsistent)
        loop.submit(.stop(self, .cancelled))
    }

    var isCancelled: Bool { cancelled.load(ordering: .sequentiallyConsistent) }

    func pause() { change { $0.hold(true) } }

    func resume() { change { $0.hold(false) } }

    /// Changes the mailbox, which the loop reads in its next turn.
    private func change(_ change: (inout CurlMailbox) -> Void) {
        mailbox.withLock { change(&$0) }
        loop.submit(.update(self))
    }

    /// Calls the receiver with the events in the mailbox, until that holds them back; from one worker at a time.
    func deliver() {
        var (isFirst, endsContent) = (true, false)
        func take() -> ArraySlice<TransferEvent>? {
            mailbox.withLock { mailbox in
                defer { endsContent = mailbox.endsContent }
                return mailbox.take(isFirst: isFirst)
            }
        }
        while let events = take() {
            isFirst = false
            // The end is the last event, and is never held back: the mailbox needn't be asked.
            let isLast = events.hasEnd
            for (position, event) in zip(events.indices, events) {
                receive(event)
                guard !isLast, case .data(let data) = event else { continue }
                let (goesOn, isHeld) = mailbox.withLock { mailbox in
                    (mailbox.release(data.count), mailbox.putBack(events[(position + 1)...]))
                }
                if goesOn { loop.submit(.update(self)) }
                if isHeld { break }
            }
            if isLast { return }
        }
        if endsContent { loop.submit(.update(self)) }
    }

    // MARK: From the loop's thread

    /// Stops the transfer from this side; `false` if it is already ending.
    func stop(_ reason: CurlTransferState.Stop) -> Bool {
        state.stop(reason == .timedOut && paused.contains(.body) ? .bodyStalled : reason)
    }

    /// Records that the loop has taken the transfer, which can be paused and cancelled from now on.
    func begin() {
        flow?.attach(self)
        flow = nil
    }

    /// Ends the transfer, which no loop takes.
    func refuse(_ error: RequestError) {
        receive(.end(error))
        ccurl_handle_free(handle)
    }

    /// Records that it was admitted.
    func dispatch() {
        stage.awaitName(at: loop.now)
        stopwatch.dispatch(at: loop.now)
    }

    /// Records that libcurl gets it now.
    func take() {
        stage.take()
        stopwatch.take(at: loop.now)
        // An older libcurl doesn't say when it has a connection, except that over TLS it shows the head that it sends.
        guard !CurlFeatures.loaded.hasPrerequestCallback else { return }
        sentAt = loop.now
        if !destination.isSecure { stage.connect() }
    }

    /// Makes it connect to these addresses; the time spent on the look-up is deducted from the time for the connection.
    func connect(to addresses: CurlAddresses) {
        self.addresses.append(addresses)
        let wait = holdsPeer ? .zero : stage.waited(until: loop.now)
        if wait > .zero { options.limitConnecting(to: stage.connectTimeout - wait, easy) }
    }

    /// The name by which the place that it connects to was looked up; `nil` if it wasn't.
    var connectionHostName: String? { (proxy?.destination ?? destination).name }

    /// Whether no bytes may follow its response on its connection.
    var isAlone: Bool { state.isHTTP1 && paused.isEmpty }

    /// Whether it was sent at all.
    var wasSent: Bool { state.sends > 0 }

    /// Whether it has a direct connection to its host without TLS.
    var hasPlainConnection: Bool { stage.place == .connected && !destination.isSecure && proxy == nil }

    /// Whether its handle may serve another transfer.
    ///
    /// A used handle may keep its buffer, and then refuses another buffer size: so a handle with a larger buffer isn't
    /// reused. Over TLS, only one that needs no reset is.
    var isHandleUsable: Bool { isComplete && (destination.isSecure ? handle.pointee.is_prepared : !isStreamed) }

    /// Opens the content of the request, now that the transfer has its turn.
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

    /// Records that a socket is closed, which may be its own.
    func closes(_ socket: Int32) {
        if self.socket?.descriptor == socket { self.socket = nil }
    }

    /// Takes the result; its event is reported with the next ``publish()``.
    func end(_ code: Int32) {
        isComplete = code == 0
        // libcurl counts in a handle how often it has sent requests again, up to a limit, until the handle is reset. It
        // also records that a request was refused, even beyond that, and would take a later failure for a refusal.
        if state.sends != 1 || restarts > 0 { handle.pointee.is_prepared = false }
        isUnconnected = stage.place.isUnconnected && (code == CurlResult.timedOut || state.stopped == .unconnected)
        if isComplete { reportSentContent() }
        // A response may come before the whole content was sent.
        body?.close()
        let result = CurlOptions.result(code, of: handle)
        guard var event = state.end(result, isTruncated: decoder?.mayEnd == false) else { return }
        if state.stopped == .bodyFailed, let bodyError { event = .end(RequestError(bodyError: bodyError)) }
        var measured = ccurl_easy_metrics(easy)
        measured.head_sent = max(0, measured.head_sent - options.contentInHead)
        if let trailers = state.trailers { events.append(.trailers(trailers)) }
        let stop = state.stopped.map { _ in loop.now }
        events.append(.metrics(stopwatch.metrics(measured, over: connection, session, stoppedAt: stop)))
        events.append(event)
    }

    /// Puts its events into the mailbox; returns whether the receiver has to be called.
    func publish() -> Bool {
        defer { isWanted = false }
        guard let new = events.take() else { return isWanted }
        let (schedule, pause) = mailbox.withLock { $0.put(new) }
        if pause { _ = setPaused(paused.union(.mailbox)) }
        // The receiver may have to wait to be notified of earlier events, behind slow receivers.
        return schedule || isWanted || isStopped
    }

    /// Whether it was stopped from this side: by a cancellation, by its timeout, or with the transport.
    var isStopped: Bool { state.stopped != nil }

    // Weak, since the body belongs to the transfer; made only for streams, since it would slow down others.
    private var resumesSending: @Sendable () -> Void {
        { [weak self] in self?.change { $0.isReadable = true } }
    }

    /// Pauses or resumes, as the mailbox says now: commands may come in another order than the changes behind them.
    ///
    /// - Returns: libcurl's code: kept content arrives while a transfer resumes, and may be refused.
    func update() -> Int32 {
        let (isHeld, isFull, isReadable, isWanted, endsContent) = mailbox.withLock { mailbox in
            defer { mailbox.isReadable = false }
            let endsContent = mailbox.endsContent && events.isEmpty
            return (mailbox.isHeld, mailbox.isFull, mailbox.isReadable, mailbox.wake(), endsContent)
        }
        self.isWanted = self.isWanted || isWanted
        if endsContent { body?.end() }
        var pauses = paused
        if isHeld { pauses.insert(.caller) } else { pauses.remove(.caller) }
        if !isFull { pauses.remove(.mailbox) }
        if isReadable || endsContent { pauses.remove(.body) }
        return setPaused(pauses)
    }

    /// Drops the content that libcurl keeps while the transfer is paused, before its handle is removed.
    ///
    /// libcurl frees that content only when it is delivered or when the connection ends: a removed HTTP/2 stream would
    /// leak it, because others share its connection. The stopped transfer refuses what it is given.
    func dropKeptContent() {
        if isStopped { _ = setPaused([]) }
    }

    private func setPaused(_ pauses: CurlPauses) -> Int32 {
        guard pauses != paused else { return 0 }
        paused = pauses
        return ccurl_easy_pause(easy, pauses.bits)
    }

    /// Whether the content of the request has no bytes at the moment, or isn't open.
    var awaitsContent: Bool { paused.contains(.body) }

    /// Whether the peer may be silent because this side paused it.
    var holdsPeer: Bool { paused.pausesReceiving }

    /// Whether libcurl may have a socket for it without watching it.
    func mayHave(_ socket: CurlSocket) -> Bool {
        stage.place.isTaken && !paused.isEmpty && (self.socket == nil || self.socket == socket)
    }

    // MARK: What libcurl calls

    /// Takes a line, or several if libcurl kept them while the transfer was paused.
    func receiveLines(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !isStopped else { return 0 }
        loop.noteActivity(self)
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
                        _ = state.stop(.badFraming(.unaskedUpgrade))
                        return 0
                    }
                    if body?.upgrade != nil { answerUpgrade(with: head) }
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

    /// Reports the metrics of an upgrade that the server agrees to; for any other response, ends the content of the
    /// request.
    private func answerUpgrade(with head: HTTPResponseHead) {
        guard head.status == .switchingProtocols else {
            body?.end()
            return resumesSending()
        }
        let metrics = stopwatch.metrics(ccurl_easy_metrics(easy), over: connection, session, stoppedAt: loop.now)
        events.append(.metrics(metrics))
    }

    /// Ends a transfer whose peer is gone, although the content of the request hasn't ended.
    ///
    /// libcurl doesn't watch the socket any more: it has read the end of the response or of the connection. As long as
    /// the content of the request has no bytes, it waits for them, whether the peer is still there or not. The transfer
    /// is stopped then, since content without its end must not look complete to a peer that still reads.
    ///
    /// - Parameter isOver: Whether the end of the connection has been noticed.
    func endWithoutPeer(isOver: Bool = false) {
        guard awaitsContent, wasSent, !holdsPeer else { return }
        if body?.upgrade != nil {
            // The user of the connection may have an answer to what has just arrived.
            change { $0.isUnwatched = true }
        } else if isOver || !state.hasHead || socket.map({ ccurl_has_ended($0.descriptor) }) == true {
            loop.submit(.lostPeer(self, restarts: restarts))
        } else if !destination.isSecure {
            state.endResponse()
        }
    }

    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !isStopped else { return 0 }
        loop.noteActivity(self)
        // libcurl ignores a pause that was requested before there was a connection, and reads once more after any
        // other.
        guard !isFull else { return Int(CCURL_WRITEFUNC_PAUSE) }
        let content = UnsafeRawBufferPointer(rebasing: bytes[..<state.contentCount(of: bytes.count)])
        if state.codings.isEmpty {
            guard take(content) else { return 0 }
        } else {
            do throws(ContentDecoder.Failure) {
                if decoder == nil { decoder = try ContentDecoder(state.codings) }
                while let piece = try decoder?.next(of: content) {
                    guard take(piece) else { return 0 }
                    // The same bytes come again, and the decoder continues in the middle of them.
                    if isFull { return Int(CCURL_WRITEFUNC_PAUSE) }
                }
            } catch {
                _ = state.stop(.badContent(error))
                return 0
            }
        }
        return state.receiveEncoded(content.count) ? bytes.count : 0
    }

    /// Whether no more content can be taken at the moment.
    ///
    /// One turn of libcurl reads a hundred buffers, each of which may decode to a thousand times its size: the mailbox,
    /// filled after the turn, would notice it too late. Refused content comes again when the mailbox is emptied.
    private var isFull: Bool {
        if events.isFull { paused.insert(.mailbox) }
        return holdsPeer
    }

    private func take(_ content: UnsafeRawBufferPointer) -> Bool {
        guard state.receiveBody(content.count) else { return false }
        events.append(content: content)
        return true
    }

    /// Whether the request may be sent: there is a connection for it, which is a sign of activity.
    func maySend(_ connection: Connection?) -> Bool {
        loop.noteActivity(self)
        loop.isConnected(self)
        self.connection = connection
        sentAt = loop.now
        session = ccurl_easy_session(easy)
        if isCancelled { _ = state.stop(.cancelled) }
        if unreportedCount != nil { stopwatch.read(at: loop.now) }
        if body?.upgrade != nil { mailbox.withLock { $0.isUnwatched = false } }
        body?.begin()
        if let trustFailure = options.refusal(of: easy) {
            _ = state.stop(.untrusted(trustFailure))
            return false
        }
        let hasSentBytes = ccurl_easy_long(easy, CCURL_INFO_REQUEST_SIZE) > 0
        return state.send(isIdempotent: isIdempotent, hasSentBytes: hasSentBytes)
    }

    /// Records that the head of the request is being sent, which libcurl shows only over TLS.
    func headIsSent() {
        sentAt = loop.now
        loop.isConnected(self)
    }

    /// Reports that content in one piece was sent, which a response proves.
    private func reportSentContent() {
        guard let count = unreportedCount else { return }
        unreportedCount = nil
        events.append(.sent(Int64(count), of: Int64(count)))
    }

    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        loop.noteActivity(self)
        // As with received content: a pause that was requested before there was a connection is ignored.
        guard !paused.contains(.caller) else { return Int(CCURL_READFUNC_PAUSE) }
        guard state.stopped == nil else { return Int(CCURL_READFUNC_ABORT) }
        switch body?.read(into: buffer) {
        case .bytes(let count):
            stopwatch.read(at: loop.now)
            if let body, count > 0, body.upgrade == nil { events.append(.sent(body.sent, of: body.length)) }
            return count
        case .later:
            paused.insert(.body)
            return Int(CCURL_READFUNC_PAUSE)
        case .failed(let error):
            bodyError = error
            _ = state.stop(.bodyFailed)
            // libcurl calls this "aborted by callback", the same as a cancellation.
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
