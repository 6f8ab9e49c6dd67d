// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

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
            if state.sends == 1 { state.refuse() }
            (connection, stream) = (nil, nil)
            loop.lostConnection(self)
        case CCURL_NEWS_TUNNEL: state.receiveTunnelLine(text.isEmpty ? nil : text)
        case CCURL_NEWS_SENT: loop.isConnected(self)
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
        if futileSends < Self.mostFutileSends { state.refuse() } else { _ = state.stop(.resent) }
    }

    /// Prepares a failed transfer to be sent again if the server has stated that it hasn't processed the request;
    /// `false` if it hasn't, or if this happened too often.
    func beginAgain() -> Bool {
        guard state.isUnanswered else { return false }
        // A kept connection may turn out to be closed before anything was sent on it.
        let isKept = wasSent && ccurl_easy_long(easy, CCURL_INFO_NUM_CONNECTS) == 0 && restarts < Self.mostRestarts
        let wasSentInPart = !isKept || ccurl_easy_long(easy, CCURL_INFO_REQUEST_SIZE) > 0
        guard state.beginAgain(wasSentInPart: wasSentInPart), restarts < Self.mostRefusals, body?.rewind() ?? true
        else { return false }
        restart()
        (connection, stream) = (nil, nil)
        return true
    }

    /// Prepares a transfer to be sent again of which nothing was sent; `false` if this happened too often.
    func startAgain() -> Bool {
        guard state.stopped == nil, restarts < Self.mostRestarts, body?.rewind() ?? true else { return false }
        restart()
        return true
    }

    private func restart() {
        restarts += 1
        options.restart(easy)
        loop.lostConnection(self)
    }

    private static let mostRestarts = 5
    /// A server may end each connection after a single request, with many more on their way.
    private static let mostRefusals = 100
    private static let mostFutileSends = 3
}
#endif
