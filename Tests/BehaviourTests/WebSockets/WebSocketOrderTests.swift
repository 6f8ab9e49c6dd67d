// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

/// The behaviour of a socket when events occur in an unusual order.
@Suite(.bounded) struct WebSocketOrderTests {
    private static let emptyMessages: [UInt8] = (0..<10_000).map { $0.isMultiple(of: 2) ? 0x82 : 0 }

    // MARK: Wake-ups

    @Test func wakeDuringTakeIsNotLost() {
        let (box, count) = (Locked<TransportRequest.UpgradeSource?>(nil), Locked(0))
        let source = TransportRequest.UpgradeSource { _ in
            box.withLock { $0 }?.wake()
            return 0
        }
        box.withLock { $0 = source }
        source.whenReadable { count.withLock { $0 += 1 } }
        _ = source.take(into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
        box.withLock { $0 = nil }

        #expect(count.withLock { $0 } == 1)
    }

    @Test func pingAfterAwaitedMessageGetsPong() async throws {
        let (peer, wakes) = (try await ManualPeer(), Recorder<Void>())
        let reading = Task { try await peer.socket.next(1) }
        // Give the task time to begin waiting, so that its message is delivered directly.
        for _ in 0..<100 { await Task.yield() }
        peer.whenReadable { wakes.record(()) }
        #expect(peer.take() == Data())

        peer.send(.text("awaited"), .ping(Data("?".utf8)))

        #expect(try await reading.value == [.text("awaited")])
        #expect(wakes.count == 1)
        #expect(peer.takeEvents() == [.pong(Data("?".utf8))])
    }

    // MARK: Back-pressure

    @Test func unreadEmptyMessagesPauseTransfer() async throws {
        let peer = try await ManualPeer()

        peer.transfer.receive(.data(Data(Self.emptyMessages)))
        #expect(peer.transfer.isPaused)
        #expect(try await peer.socket.next(4000).count == 4000)

        #expect(!peer.transfer.isPaused)
    }

    @Test func closingFullSocketResumesTransfer() async throws {
        let peer = try await ManualPeer()
        peer.transfer.receive(.data(Data(Self.emptyMessages)))
        #expect(peer.transfer.isPaused)

        async let close: Void = peer.socket.close()
        try await peer.transfer.awaitPause(false)
        peer.send(.close(1000))
        peer.transfer.receive(.end(nil))
        await close

        #expect(peer.socket.closeCode == .normalClosure)
    }

    @Test func pausedPeerDoesNotTimeOut() async throws {
        let clock = ManualClock()
        let peer = try await ManualPeer { ($0.clock, $0.timeout) = (clock, .seconds(30)) }
        peer.transfer.receive(.data(Data(Self.emptyMessages)))

        for _ in 0..<6 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(10))
        }
        try await clock.waitForSleepers()

        #expect(peer.socket.closeCode == nil && peer.transfer.cancelCount == 0)
        #expect(try await peer.socket.next(1) == [.data(Data())])
        peer.transfer.receive(.end(nil))
    }

    @Test func sendersKeepOrderWhenBufferHasRoom() async throws {
        let peer = try await ManualPeer()
        try await peer.socket.send(Data(count: 300_000))
        let second = Task { try await peer.socket.send("second") }
        for _ in 0..<100 { await Task.yield() }
        // The buffer now holds less than its maximum, but more than half of that.
        var machine = WebSocketMachine(.server)
        var events = machine.receive(peer.take(atMost: 100_000))
        let third = Task { try await peer.socket.send("third") }
        for _ in 0..<100 { await Task.yield() }

        while events.count < 3 {
            events += machine.receive(peer.take())
            await Task.yield()
        }
        try await second.value
        try await third.value

        #expect(events == [.message(.data(Data(count: 300_000))), .message(.text("second")), .message(.text("third"))])
        peer.transfer.receive(.end(nil))
    }

    // MARK: Ends

    @Test func pendingSendAndPingFailWhenPeerCloses() async throws {
        let peer = try await ManualPeer()
        try await peer.socket.send(Data(count: 300_000))
        let waits = [
            Task { try await peer.socket.send("late") }, Task { try await peer.socket.ping() },
        ]
        for _ in 0..<100 { await Task.yield() }

        peer.send(.close(1000))
        peer.transfer.receive(.end(nil))

        for wait in waits {
            let error = await #expect(throws: RequestError.self) { try await wait.value }
            #expect(error?.code == .closed)
        }
    }

    @Test func lastPongCompletesEarlierPings() async throws {
        let peer = try await ManualPeer()
        let pings = (0..<2).map { _ in Task { try await peer.socket.ping() } }
        var machine = WebSocketMachine(.server)
        var payloads: [Data] = []
        while payloads.count < 2 {
            for case .ping(let payload) in machine.receive(peer.take()) { payloads.append(payload) }
            await Task.yield()
        }

        peer.send(.pong(payloads[1]))

        for ping in pings { try await ping.value }
        peer.transfer.receive(.end(nil))
    }

    @Test func cancellationDiscardsUnreadMessages() async throws {
        let peer = try await ManualPeer()
        peer.send(.text("unread"))

        try peer.operation.cancel()

        let error = await #expect(throws: RequestError.self) { try await peer.socket.next(1) }
        #expect(error?.code == .cancelled)
        peer.transfer.receive(.end(nil))
    }

    /// If the operation is cancelled, the peer has only one second.
    @Test(arguments: [true, false]) func unresponsivePeerIsDisconnectedInTime(isCancelled: Bool) async throws {
        let clock = ManualClock()
        let peer = try await ManualPeer { $0.clock = clock }

        async let close: Void? = isCancelled ? nil : peer.socket.close()
        if isCancelled { try peer.operation.cancel() }
        try await eventually {
            clock.advance(by: isCancelled ? .seconds(1) : .seconds(5))
            return peer.transfer.cancelCount > 0
        }
        peer.transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
        _ = await close
        #expect(peer.socket.closeCode == .abnormalClosure)
    }

    /// A timer may fire before the socket has stored it.
    @Test func nanosecondTimeoutIsDetected() async throws {
        for _ in 0..<Scale.pick(200, whole: 2000) {
            let peer = try await ManualPeer { $0.timeout = .nanoseconds(1) }
            let error = await #expect(throws: RequestError.self) { try await peer.socket.next(1) }
            #expect(error?.code == .timedOut)
            peer.transfer.receive(.end(nil))
        }
    }
}
