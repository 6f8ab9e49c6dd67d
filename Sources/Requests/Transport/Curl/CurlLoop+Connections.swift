// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// What a transfer learns of its connection, during other calls of libcurl.
extension CurlLoop {
    /// Records that the connection of a transfer may be shared.
    func isShared(_ transfer: CurlTransfer) { entrance.share(transfer) }

    /// Records that a transfer has a connection: from now on, only silence ends it.
    func isConnected(_ transfer: CurlTransfer) {
        guard transfer.stage.place == .connecting, !transfer.isStopped else { return }
        transfer.stage.connect()
        connections.hasAddresses(of: transfer)
        entrance.setConnected(transfer, true)
        watchSilence(of: transfer)
    }

    /// Records that a transfer has lost its connection, and libcurl makes another.
    func lostConnection(_ transfer: CurlTransfer) {
        connections.enter(nil, transfer)
        guard !transfer.isStopped else { return }
        transfer.stage.reconnect(at: now)
        entrance.setConnected(transfer, false)
        watchSilence(of: transfer)
    }

    /// Records that a transfer has received the head of its response.
    func hasHead(_ transfer: CurlTransfer) { entrance.hasHead(transfer) }
}
#endif
