// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

extension CCurlCallbacks {
    /// The callbacks of every transfer; the context of each call is its handle, or the loop for the last three.
    init(loop: CurlLoop) {
        self.init(
            head: { bytes, size, count, context in
                CurlTransfer.at(context)?.receiveLines(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
            },
            body: { bytes, size, count, context in
                CurlTransfer.at(context)?.receiveBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) ?? 0
            },
            read: { bytes, size, count, context in
                CurlTransfer.at(context)?.readBody(
                    into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
                ) ?? Int(CCURL_READFUNC_ABORT)
            },
            seek: { context, offset, origin in
                origin == SEEK_SET && CurlTransfer.at(context)?.seekBody(to: offset) == true ? 0 : 1
            },
            sending: { context, remote, local, remotePort, localPort in
                let connection = CurlTransfer.Connection(remote, remotePort, local, localPort)
                return CurlTransfer.at(context)?.maySend(connection) == true ? 0 : 1
            },
            news: { context, news, number, text in
                let text = UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(number))
                CurlTransfer.at(context)?.note(news, number, text)
            },
            opened: { loop, socket in CurlLoop.at(loop)?.opened(socket) },
            closes: { loop, socket in CurlLoop.at(loop)?.closes(socket) },
            lacks_descriptor: { loop in CurlLoop.at(loop)?.noDescriptorIsLeft() },
            loop: Unmanaged.passUnretained(loop).toOpaque()
        )
    }
}

extension CurlLoop {
    /// A multi handle that notifies this loop of sockets and of its timer; `nil` if out of memory.
    func makeMulti() -> CurlMulti? {
        ccurl_multi_new(
            { easy, socket, what, context, _ in
                CurlLoop.at(context)?.watch(socket, what, for: easy)
                return 0
            },
            { _, milliseconds, context in
                CurlLoop.at(context)?.setTimer(milliseconds)
                return 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    // The thread holds the loop for as long as it runs, and libcurl calls back on that thread only.
    static func at(_ context: UnsafeMutableRawPointer?) -> CurlLoop? {
        context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension CurlTransfer {
    /// A connection, told from all others by its two ends.
    struct Connection: Hashable {
        let remote: String
        let local: String
        let remotePort: Int32
        let localPort: Int32

        /// Nil for one without ports, such as over a Unix socket.
        init?(_ remote: UnsafePointer<CChar>?, _ remotePort: Int32, _ local: UnsafePointer<CChar>?, _ localPort: Int32)
        {
            guard let remote, let local, remotePort > 0, localPort > 0 else { return nil }
            (self.remote, self.local) = (String(cString: remote), String(cString: local))
            (self.remotePort, self.localPort) = (remotePort, localPort)
        }
    }

    // The loop holds a transfer for as long as its handle is in the multi handle, which is as long as it is called.
    static func at(_ handle: UnsafeMutableRawPointer?) -> CurlTransfer? {
        let transfer = handle?.assumingMemoryBound(to: CCurlHandle.self).pointee.transfer
        return transfer.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
}

// MARK: - Sending again

// A request is sent again if the server has stated that it hasn't processed it, or if nothing of it was sent.
extension CurlTransfer {
    /// Takes news about the connection of the transfer.
    func note(_ news: CCurlNews, _ number: UInt32, _ text: UnsafeRawBufferPointer) {
        switch news {
        case CCURL_NEWS_STREAM:
            stream = number
            loop.isShared(self)
        case CCURL_NEWS_GOAWAY:
            if let connection { loop.hasProcessedNoStream(above: number, on: connection) }
        case CCURL_NEWS_REFUSED:
            // libcurl remembers this, and may report it again for the next request.
            if state.sends == 1 { state.recordRefusal() }
            (connection, stream) = (nil, nil)
            loop.lostConnection(self)
        case CCURL_NEWS_TUNNEL: state.receiveTunnelLine(text.isEmpty ? nil : text)
        case CCURL_NEWS_SENT: headIsSent()
        case CCURL_NEWS_RECORD: loop.hasRecord(self)
        case CCURL_NEWS_CLOSE_NOTIFY: state.announceEnd()
        default:
            (connection, stream) = (nil, nil)
            loop.lostConnection(self)
        }
    }

    /// Records that a connection has processed no stream above a number, whatever it has received.
    func isNotProcessed(above last: UInt32, on connection: Connection) {
        guard self.connection == connection, let stream, stream > last else { return }
        (self.connection, self.stream) = (nil, nil)
        // A server that processes nothing on any connection isn't asked for ever.
        if last == 0 { futileSends += 1 }
        if futileSends < Self.mostFutileSends { state.recordRefusal() } else { _ = state.stop(.resent) }
    }

    /// Prepares a failed transfer to be sent again if the server has stated that it hasn't processed the request;
    /// `false` if it hasn't, or if this happened too often.
    func beginAgain() -> Bool {
        guard state.isUnanswered else { return false }
        // A kept connection may turn out to be closed before anything was sent on it.
        let wasSentInPart = !usesKeptConnection || ccurl_easy_long(easy, CCURL_INFO_REQUEST_SIZE) > 0
        guard state.beginAgain(wasSentInPart: wasSentInPart), restarts < Self.mostRefusals, body?.rewind() ?? true
        else { return false }
        restart()
        // libcurl keeps a connection over which nothing could be sent, and would choose it again.
        if !wasSentInPart { options.avoidConnections(handle) }
        (connection, stream) = (nil, nil)
        return true
    }

    /// Prepares a transfer to be sent again whose kept connection has ended without a final response; `false` if a
    /// repetition may do harm, or if this happened too often.
    ///
    /// libcurl sends it again, too, but only when the content of the request has bytes again.
    func beginAgainWithoutPeer() -> Bool {
        guard isIdempotent, state.isUnanswered, usesKeptConnection, body?.rewind() ?? true else { return false }
        paused.remove(.body)
        restart()
        (connection, stream) = (nil, nil)
        return true
    }

    /// Whether it was given a kept connection, which may have been closed in the meantime.
    private var usesKeptConnection: Bool {
        wasSent && ccurl_easy_long(easy, CCURL_INFO_NUM_CONNECTS) == 0 && restarts < Self.mostRestarts
    }

    /// Prepares a transfer to be sent again of which nothing was sent; `false` if this happened too often.
    func startAgain() -> Bool {
        guard state.stopped == nil, restarts < Self.mostRestarts, body?.rewind() ?? true else { return false }
        restart()
        return true
    }

    private func restart() {
        restarts += 1
        stopwatch.restart(at: loop.now)
        options.restart(easy)
        loop.lostConnection(self)
    }

    private static let mostRestarts = 5
    /// A server may end each connection after a single request, with many more on their way.
    private static let mostRefusals = 100
    private static let mostFutileSends = 3
}
#endif
