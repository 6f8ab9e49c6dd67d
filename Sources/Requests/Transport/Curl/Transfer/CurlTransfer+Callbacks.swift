// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

extension CCurlCallbacks {
    /// Creates the callbacks of every transfer.
    ///
    /// Each callback receives the easy handle as its context, except the last three, which receive the loop.
    init(loop: CurlLoop) {
        self.init(
            head: { bytes, size, count, context in
                CurlTransfer.from(context)?.receiveLines(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
            },
            body: { bytes, size, count, context in
                CurlTransfer.from(context)?.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
            },
            read: { bytes, size, count, context in
                CurlTransfer.from(context)?.readBody(
                    into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
                ) ?? Int(CCURL_READFUNC_ABORT)
            },
            seek: { context, offset, origin in
                origin == SEEK_SET && CurlTransfer.from(context)?.seekBody(to: offset) == true ? 0 : 1
            },
            sending: { context, remote, local, remotePort, localPort in
                let connection = CurlTransfer.Connection(remote, remotePort, local, localPort)
                return CurlTransfer.from(context)?.shouldSend(connection) == true ? 0 : 1
            },
            event: { context, event, number, text in
                let text = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(number))
                CurlTransfer.from(context)?.handleEvent(event, number, text)
            },
            opened: { loop, socket in CurlLoop.from(loop)?.didOpen(socket) },
            closes: { loop, socket in CurlLoop.from(loop)?.willClose(socket) },
            lacks_descriptor: { loop in CurlLoop.from(loop)?.didRunOutOfDescriptors() },
            loop: Unmanaged.passUnretained(loop).toOpaque()
        )
    }
}

extension CurlLoop {
    /// Creates a multi handle that reports its sockets and its timer to this loop; returns `nil` if out of memory.
    func makeMulti() -> CurlMulti? {
        ccurl_multi_new(
            { easy, socket, what, context, _ in
                CurlLoop.from(context)?.watch(socket, what, for: easy)
                return 0
            },
            { _, milliseconds, context in
                CurlLoop.from(context)?.setTimer(milliseconds)
                return 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    // This reference is valid because the thread retains the loop while it runs, and libcurl calls back only on that
    // thread.
    static func from(_ context: UnsafeMutableRawPointer?) -> CurlLoop? {
        context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension CurlTransfer {
    /// A connection, identified by its two endpoints.
    struct Connection: Hashable {
        let remote: String
        let local: String
        let remotePort: Int32
        let localPort: Int32

        /// Returns `nil` for a connection without ports, such as one over a Unix socket.
        init?(_ remote: UnsafePointer<CChar>?, _ remotePort: Int32, _ local: UnsafePointer<CChar>?, _ localPort: Int32)
        {
            guard let remote, let local, remotePort > 0, localPort > 0 else { return nil }
            (self.remote, self.local) = (String(cString: remote), String(cString: local))
            (self.remotePort, self.localPort) = (remotePort, localPort)
        }
    }

    // This reference is valid because the loop retains a transfer while its handle is in the multi handle, and libcurl
    // calls back only during that time.
    static func from(_ handle: UnsafeMutableRawPointer?) -> CurlTransfer? {
        let transfer = handle?.assumingMemoryBound(to: CCurlHandle.self).pointee.transfer
        return transfer.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

// MARK: - Resending

// A request is sent again if the server has stated that it hasn't processed the request, or if nothing was sent.
extension CurlTransfer {
    /// Handles an event of the transfer's connection.
    func handleEvent(_ event: CCurlEvent, _ number: UInt32, _ text: UnsafeRawBufferPointer) {
        switch event {
        case CCURL_EVENT_STREAM:
            streamID = number
            loop.didMultiplex(self)
        case CCURL_EVENT_GOAWAY:
            if let connection { loop.didReceiveGoAway(lastStream: number, on: connection) }
        case CCURL_EVENT_REFUSED:
            // libcurl remembers the refusal, and may report it again for the next request.
            if state.sendCount == 1 { state.recordRefusal() }
            (connection, streamID) = (nil, nil)
            loop.didLoseConnection(self)
        case CCURL_EVENT_TUNNEL: state.receiveTunnelLine(text.isEmpty ? nil : text)
        case CCURL_EVENT_SENT: didSendHead()
        case CCURL_EVENT_RECORD: loop.didReceiveTLSRecord(self)
        case CCURL_EVENT_CLOSE_NOTIFY: state.didReceiveCloseNotify()
        default:
            (connection, streamID) = (nil, nil)
            loop.didLoseConnection(self)
        }
    }

    /// Records that the server hasn't processed those streams of a connection whose IDs exceed a maximum.
    func markUnprocessed(above last: UInt32, on connection: Connection) {
        guard self.connection == connection, let streamID, streamID > last else { return }
        (self.connection, self.streamID) = (nil, nil)
        // Give up on a server that has processed nothing on several connections.
        if last == 0 { futileSends += 1 }
        if futileSends < Self.maximumFutileSends { state.recordRefusal() } else { _ = state.stop(.unsafeResend) }
    }

    /// Prepares a failed transfer to be sent again if the server hasn't processed the request.
    ///
    /// - Returns: `false` if that isn't certain, or if the transfer was sent too often.
    func prepareResend() -> Bool {
        guard state.isAwaitingResponse else { return false }
        // A reused connection may turn out to be closed before anything was sent.
        let wasSentInPart = !usesReusedConnection || ccurl_easy_long(easy, CCURL_INFO_REQUEST_SIZE) > 0
        guard state.prepareResend(wasSentInPart: wasSentInPart), restarts < Self.maximumRefusals, body?.rewind() ?? true
        else { return false }
        prepareReconnect()
        // libcurl keeps the connection over which nothing could be sent, so it would choose that connection again.
        if !wasSentInPart { options.avoidConnections(handle) }
        (connection, streamID) = (nil, nil)
        return true
    }

    /// Prepares a transfer to be sent again if its reused connection has ended without a final response.
    ///
    /// libcurl would resend the request as well, but only once the request's content has bytes again.
    ///
    /// - Returns: `false` if a repetition may do harm, or if the transfer was sent too often.
    func prepareResendAfterLostPeer() -> Bool {
        guard isIdempotent, state.isAwaitingResponse, usesReusedConnection, body?.rewind() ?? true else { return false }
        paused.remove(.body)
        prepareReconnect()
        (connection, streamID) = (nil, nil)
        return true
    }

    /// Whether the transfer was sent over a reused connection, which the server may have closed in the meantime.
    private var usesReusedConnection: Bool {
        wasSent && ccurl_easy_long(easy, CCURL_INFO_NUM_CONNECTS) == 0 && restarts < Self.maximumRestarts
    }

    /// Prepares to retry a transfer of which nothing was sent; returns `false` if there were too many attempts.
    func prepareUnsentRetry() -> Bool {
        guard state.stopped == nil, restarts < Self.maximumRestarts, body?.rewind() ?? true else { return false }
        prepareReconnect()
        return true
    }

    private func prepareReconnect() {
        restarts += 1
        stopwatch.recordRestart(at: loop.now)
        options.prepareReconnect(easy)
        loop.didLoseConnection(self)
    }

    private static let maximumRestarts = 5
    /// The maximum is large, because a server may end each connection after one request while many more are in flight.
    private static let maximumRefusals = 100
    private static let maximumFutileSends = 3
}
#endif
