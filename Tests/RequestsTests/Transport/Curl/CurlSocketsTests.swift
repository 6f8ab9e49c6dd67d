// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation
import Glibc
import RequestsTestSupport
import Testing

@testable import Requests

/// The sockets are real: both ends of a pair.
@Suite(.bounded) struct CurlSocketsTests {
    /// Handles, of which only the identity counts.
    private let one = CurlEasy(bitPattern: 1)!
    private let other = CurlEasy(bitPattern: 2)!

    /// Two connected sockets, and a set that knows the first as one that libcurl opened.
    private final class Pair {
        var sockets = CurlSockets()
        let own: Int32
        /// The first socket, with its identity.
        let socket: CurlSocket
        let peer: Int32
        private let poll = ccurl_poll_new()
        private let wakeUp: [Int32]

        init() {
            var ends: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
            (own, peer) = (ends[0], ends[1])
            ends = [-1, -1]
            pipe(&ends)
            wakeUp = ends
            sockets.open(poll, wakeUp: ends[0])
            sockets.didOpen(own)
            socket = sockets.socket(own)!
        }

        deinit {
            for descriptor in [own, peer, poll] + wakeUp { close(descriptor) }
        }

        /// A transfer asks for the socket.
        func enter(_ easy: CurlEasy) {
            sockets.watch(own, 1, for: easy)
            sockets.moveUser(socket, from: nil)
        }

        /// A transfer ends; returns whether the next ones need another connection.
        @discardableResult
        func end() -> Bool { sockets.transferEnded(on: socket) }

        func send(_ text: String) {
            _ = Array(text.utf8).withUnsafeBytes { Glibc.send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }

        /// The byte count that waits to be read; `nil` at the end of the connection.
        var pending: Int? {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = recv(own, &bytes, bytes.count, Int32(MSG_PEEK | MSG_DONTWAIT))
            return count == 0 ? nil : max(0, count)
        }

        var mayDiscard = true

        var events: [Int32] {
            let mayDiscard = mayDiscard
            sockets.wait(milliseconds: 0, isFree: { _ in mayDiscard })
            return sockets.ready.map(\.socket)
        }
    }

    @Test func eventsAreReportedOnlyWhileWatching() {
        let pair = Pair()
        pair.send("a")

        pair.enter(one)
        #expect(pair.events == [pair.own])
        pair.sockets.watch(pair.own, 4, for: one)
        #expect(pair.events == [])
        pair.sockets.watch(pair.own, 1, for: one)
        #expect(pair.events == [pair.own], "it is registered again")
    }

    @Test func watchedDirectionCanChange() {
        let pair = Pair()

        pair.sockets.watch(pair.own, 1, for: one)
        #expect(pair.events == [])
        pair.sockets.watch(pair.own, 2, for: one)
        #expect(pair.events == [pair.own])
        pair.sockets.watch(pair.own, 3, for: one)
        #expect(pair.events == [pair.own])
    }

    /// A paused transfer doesn't ask to read, but still needs the bytes that have arrived.
    @Test func pausedTransferKeepsUnreadBytes() {
        let pair = Pair()
        pair.enter(one)
        pair.sockets.watch(pair.own, 4, for: one)
        pair.send("content")

        #expect(pair.events == [])
        #expect(pair.pending == 7)
    }

    @Test func unexpectedBytesRetireIdleConnection() {
        let pair = Pair()
        pair.enter(one)
        pair.sockets.watch(pair.own, 4, for: one)
        pair.end()
        pair.send("HTTP/1.1 200 OK\r\n\r\n")

        #expect(pair.events == [])
        #expect(pair.sockets.idleCount == 0)
        #expect(pair.pending == nil)
    }

    @Test func tlsRecordsAreNotDiscarded() {
        let pair = Pair()
        pair.enter(one)
        pair.sockets.watch(pair.own, 4, for: one)
        pair.end()
        pair.send("\u{17}\u{03}\u{03}")

        #expect(pair.events == [])
        #expect(pair.pending == 3)
    }

    @Test func connectionUsedAgainIsNotIdle() {
        let pair = Pair()
        pair.enter(one)
        pair.enter(one)
        pair.end()
        pair.send("a")

        #expect(pair.events == [pair.own])
        pair.sockets.watch(pair.own, 4, for: one)
        #expect(pair.events == [])
        #expect(pair.pending == 1)
    }

    /// The response to an upload may be complete before the upload is: what follows it isn't the end of the connection.
    @Test func bytesDuringUploadAreNotEndOfConnection() {
        let pair = Pair()
        pair.enter(one)
        pair.sockets.watch(pair.own, 4, for: one)
        pair.send("HTTP/1.1 200 OK\r\n\r\n")

        #expect(pair.events == [] && pair.sockets.closedByPeer == [])
        #expect(pair.pending != nil)
        shutdown(pair.peer, Int32(SHUT_WR))
        #expect(pair.events == [] && pair.sockets.closedByPeer == [pair.own])
    }

    /// A transfer may take a kept connection, send its whole request, and be paused before it asks to read.
    @Test func bytesAreKeptForPossiblyPausedTransfer() {
        let pair = Pair()
        pair.enter(one)
        pair.sockets.watch(pair.own, 4, for: one)
        pair.end()
        pair.mayDiscard = false
        pair.send("a")

        #expect(pair.events == [])
        #expect(pair.pending == 1)
    }

    @Test func socketOfPausedTransferIsNotIdle() {
        let pair = Pair()
        pair.enter(one)
        pair.enter(other)
        pair.sockets.watch(pair.own, 4, for: other)
        pair.end()
        pair.send("a")

        #expect(pair.events == [])
        #expect(pair.pending == 1)
    }

    @Test func closedSocketIsForgotten() {
        let pair = Pair()
        pair.enter(one)
        pair.sockets.willClose(pair.own)
        pair.sockets.watch(pair.own, 4, for: one)
        pair.send("a")

        #expect(pair.events == [])
        pair.end()
        #expect(pair.pending == 1)
    }

    /// The system reuses the number of a closed socket.
    @Test func reusedDescriptorIsNewSocket() {
        let pair = Pair()
        pair.sockets.watch(pair.own, 1, for: one)
        let owner = pair.sockets.willClose(pair.own)
        #expect(owner == one && pair.sockets.socket(pair.own) == nil)

        pair.sockets.lifetime.uses = 1
        pair.sockets.didOpen(pair.own)
        pair.sockets.watch(pair.own, 1, for: one)
        pair.sockets.watch(pair.own, 4, for: one)
        #expect(pair.sockets.socket(pair.own) != pair.socket)
        pair.sockets.transferEnded(on: pair.socket, host: "a.test")

        #expect(!pair.sockets.hasRetired, "the transfer had the other one")
        #expect(!pair.sockets.hasConnection(to: "a.test"))
    }

    /// Returns a connection whose transfer has ended.
    private func idlePair() -> Pair {
        let pair = Pair()
        pair.enter(one)
        pair.sockets.watch(pair.own, 4, for: one)
        pair.end()
        return pair
    }

    /// Over HTTP/2, transfers share a connection, and end in any order.
    @Test func sharedConnectionIsIdleAfterLastTransfer() {
        let pair = Pair()
        pair.enter(one)
        pair.enter(other)
        pair.end()
        shutdown(pair.peer, Int32(SHUT_WR))
        #expect(pair.events == [pair.own], "the other transfer waits for it")

        pair.sockets.watch(pair.own, 4, for: one)
        pair.end()

        #expect(pair.events == [])
        #expect(pair.sockets.hasRetired)
    }

    @Test func busyConnectionIsReplacedOnceWhenWornOut() {
        let pair = Pair()
        pair.sockets.lifetime.uses = 2
        for _ in 0..<4 { pair.enter(one) }

        #expect((0..<3).map { _ in pair.end() } == [false, true, false])
        pair.sockets.watch(pair.own, 4, for: one)
        #expect(!pair.sockets.hasRetired)
        #expect(!pair.end())
        #expect(pair.sockets.hasRetired)
    }

    @Test func connectionWithoutTransferIsIdle() {
        let pair = Pair()
        pair.enter(one)
        pair.sockets.moveUser(nil, from: pair.socket)
        pair.sockets.watch(pair.own, 4, for: one)
        shutdown(pair.peer, Int32(SHUT_WR))

        #expect(pair.events == [])
        #expect(pair.sockets.hasRetired)
    }

    @Test func idleConnectionClosedByPeerIsRetired() {
        let pair = idlePair()
        #expect(!pair.sockets.hasRetired)

        shutdown(pair.peer, Int32(SHUT_WR))

        #expect(pair.events == [])
        #expect(pair.sockets.hasRetired)
        pair.sockets.willClose(pair.own)
        pair.sockets.updateHasRetired()
        #expect(!pair.sockets.hasRetired)
    }

    /// With TLS, a peer ends a connection with a record first.
    @Test func idleTLSConnectionClosedByPeerIsRetired() {
        let pair = idlePair()
        pair.send("\u{15}\u{03}\u{03}")
        #expect(pair.events == [])
        #expect(!pair.sockets.hasRetired)

        shutdown(pair.peer, Int32(SHUT_WR))

        #expect(pair.events == [])
        #expect(pair.sockets.hasRetired)
        #expect(pair.pending == nil, "what waits to be read would hide the end from libcurl")
    }

    @Test func closedConnectionIsLeftToPausedTransfer() {
        let pair = idlePair()
        pair.mayDiscard = false
        pair.send("a")
        shutdown(pair.peer, Int32(SHUT_WR))

        #expect(pair.events == [])
        #expect(!pair.sockets.hasRetired)
        #expect(pair.pending == 1)
    }

    @Test func connectionIsRetiredAfterIdleTimeout() {
        let pair = idlePair()
        pair.sockets.lifetime.idle = 100

        let next = pair.sockets.retireIdle(now: 99) { _ in true }
        #expect(next == 100 && !pair.sockets.hasRetired)
        let later = pair.sockets.retireIdle(now: 100) { _ in false }
        #expect(later != nil && !pair.sockets.hasRetired, "a transfer that is paused may have it")
        let none = pair.sockets.retireIdle(now: 100) { _ in true }
        #expect(none == nil && pair.sockets.hasRetired)
    }

    // MARK: Connections that are no use any more

    private static let route = CurlRoute(to: CurlDestination("https://a.test"), over: nil)
    private static let otherRoute = CurlRoute(to: CurlDestination("https://b.test"), over: nil)

    /// Returns a connection on the route whose transfer has ended, and over which something was received at 100.
    private func heardPair() -> Pair {
        let pair = Pair()
        pair.sockets.watch(pair.own, 1, for: one)
        pair.sockets.moveUser(pair.socket, from: nil, on: Self.route)
        pair.sockets.recordActivity(CCurlReady(socket: pair.own, bits: 1), now: 100)
        return pair
    }

    @Test func inactivityCountsFromLastReceivedData() {
        let pair = heardPair()
        // It is writable, which says nothing of the peer.
        pair.sockets.recordActivity(CCurlReady(socket: pair.own, bits: 2), now: 200)

        #expect(!pair.sockets.isInactive(pair.socket, since: 99))
        // What came in the turn of the request came before it.
        #expect(pair.sockets.isInactive(pair.socket, since: 100))
    }

    @Test func inactiveIdleConnectionIsRetired() {
        let pair = heardPair()

        pair.sockets.retireInactive(on: Self.route, since: 101) { _ in true }
        #expect(!pair.sockets.hasRetired, "a transfer waits for it")
        pair.sockets.watch(pair.own, 4, for: one)
        pair.end()
        pair.sockets.retireInactive(on: Self.otherRoute, since: 101) { _ in true }
        pair.sockets.retireInactive(on: Self.route, since: 100) { _ in true }
        pair.sockets.retireInactive(on: Self.route, since: 101) { _ in false }
        #expect(!pair.sockets.hasRetired, "it isn't meant, or a paused transfer may have it")
        pair.sockets.retireInactive(on: Self.route, since: 101) { _ in true }
        #expect(pair.sockets.hasRetired)
    }

    /// The system gives a port to several connections if they lead to different addresses.
    @Test func connectionIsFoundByAddressesAndPorts() throws {
        let listener = try #require(TCPSocket.listening())
        let one = try #require(TCPSocket.connected(to: "127.0.0.1", port: listener.port))
        let other = try #require(TCPSocket.connected(to: "127.0.0.2", port: listener.port, from: one.port))
        var sockets = CurlSockets()
        for socket in [one, other] {
            sockets.didOpen(socket.descriptor)
            sockets.moveUser(sockets.socket(socket.descriptor), from: nil, on: Self.route)
        }

        for (socket, host) in [(one, "127.0.0.1"), (other, "127.0.0.2")] {
            let connection = CurlTransfer.Connection(host, Int32(listener.port), "127.0.0.1", Int32(one.port))
            let found = sockets.socket(of: try #require(connection), on: Self.route)
            #expect(found?.descriptor == socket.descriptor)
            #expect(sockets.socket(of: try #require(connection), on: Self.otherRoute) == nil)
        }
    }

    @Test func replacedConnectionIsRetiredAfterTransfers() {
        let pair = heardPair()
        pair.sockets.replace(pair.socket)
        #expect(!pair.sockets.hasRetired)

        pair.sockets.watch(pair.own, 4, for: one)
        pair.end()

        #expect(pair.sockets.hasRetired)
    }

    @Test func suspendRetiresConnectionAfterItsTransfers() {
        let pair = heardPair()

        let routes = pair.sockets.retireAll { _ in true }
        #expect(routes == [Self.route] && !pair.sockets.hasRetired)
        pair.sockets.watch(pair.own, 4, for: one)
        pair.end()
        #expect(pair.sockets.hasRetired)
        let none = pair.sockets.retireAll { _ in true }
        #expect(none == [])
    }

    @Test func hostIsConnectedWhileSocketIsOpen() {
        let pair = Pair()
        pair.enter(one)
        pair.sockets.watch(pair.own, 4, for: one)
        #expect(!pair.sockets.hasConnection(to: "a.test"))

        for _ in 0..<2 { pair.sockets.transferEnded(on: pair.socket, host: "a.test") }
        #expect(pair.sockets.hasConnection(to: "a.test"))
        pair.sockets.willClose(pair.own)
        #expect(!pair.sockets.hasConnection(to: "a.test"))
    }

    @Test func wornOutConnectionIsLeftToPausedTransfer() {
        let pair = Pair()
        pair.sockets.lifetime.uses = 1
        pair.enter(one)
        pair.sockets.watch(pair.own, 4, for: one)
        pair.send("the rest")

        pair.sockets.transferEnded(on: pair.socket) { _ in false }
        #expect(!pair.sockets.hasRetired)
        #expect(pair.pending == 8)
        _ = pair.sockets.retireIdle(now: 0) { _ in true }
        #expect(pair.sockets.hasRetired, "when the transfer has gone")
    }
}

/// A socket of IPv4 at 127.0.0.1, closed with the last reference.
private final class TCPSocket {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)

    deinit { close(descriptor) }

    static func listening() -> TCPSocket? {
        let socket = TCPSocket()
        guard socket.named("0.0.0.0", 0, bind), listen(socket.descriptor, 8) == 0 else { return nil }
        return socket
    }

    static func connected(to address: String, port: UInt16, from own: UInt16 = 0) -> TCPSocket? {
        let socket = TCPSocket()
        var yes: Int32 = 1
        setsockopt(socket.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        return socket.named("127.0.0.1", own, bind) && socket.named(address, port, connect) ? socket : nil
    }

    var port: UInt16 {
        var name = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &name) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return UInt16(bigEndian: name.sin_port)
    }

    private typealias Call = (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32

    private func named(_ address: String, _ port: UInt16, _ call: Call) -> Bool {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        inet_pton(AF_INET, address, &name.sin_addr)
        return withUnsafePointer(to: name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
#endif
