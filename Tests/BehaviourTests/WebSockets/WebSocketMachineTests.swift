// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsWebSockets
import Testing

/// Tests of the protocol with a table of cases, without a network.
@Suite(.bounded) struct WebSocketMachineTests {
    @Test func caseTableIsCompleteWithoutDuplicates() {
        #expect(WebSocketCase.all.count > 250)
        #expect(Set(WebSocketCase.all.map(\.number)).count == WebSocketCase.all.count)
    }

    @Test(arguments: WebSocketCase.all) func clientPassesConformanceCase(_ each: WebSocketCase) throws {
        let bytes = each.bytes
        try check(each, bytes, by: each.pieceSize ?? bytes.count)
        // A network delivers chunks of any size.
        if bytes.count < 4096 { try check(each, bytes, by: 1) }
    }

    private func check(_ each: WebSocketCase, _ bytes: Data, by size: Int) throws {
        var machine = WebSocketMachine(.client)
        var events: [WebSocketMachine.Event] = []
        var sent: [WebSocketMachine.Event] = []
        var server = WebSocketMachine(.server)
        for start in stride(from: 0, to: bytes.count, by: size) {
            // The indices of a slice don't begin at 0.
            events += machine.receive(bytes[start..<min(start + size, bytes.count)])
            sent += server.receive(machine.takeAll())
        }

        let messages = events.compactMap { if case .message(let message) = $0 { message } else { nil } }
        #expect(messages == each.messages)
        switch (events.last, each.end) {
        case (.closed(let code, _)?, .closed(let expected)): #expect(code.rawValue == expected)
        case (.failed(let code, let reason)?, .failed(let expected)):
            #expect(code.rawValue == expected)
            #expect(!reason.isEmpty)
        default: Issue.record("\(String(describing: events.last)) is the end")
        }
        #expect(machine.isOver)
        #expect(machine.receive(Data([0x81, 0])) == [])

        // The server has parsed the client's frames, which checks that they are valid.
        let pongs = sent.compactMap { if case .pong(let payload) = $0 { payload } else { nil } }
        #expect(pongs == each.pongs)
        guard case .closed(let code, _)? = sent.last else {
            Issue.record("another end")
            return
        }
        switch each.end {
        case .closed(let expected), .failed(let expected): #expect(code.rawValue == expected)
        }
    }

    /// The example of RFC 6455, 1.3, and an empty key.
    @Test(arguments: [
        ("dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), ("", "Kfh9QIsMVZcl6xEPYxPHzW8SZ8w="),
    ])
    func computesAcceptForKey(_ key: String, _ accept: String) {
        #expect(WebSocketHandshake.accept(for: key) == accept)
    }

    // MARK: Lengths

    @Test(
        arguments: [
            ([0x82, 126, 0, 125], 1002), ([0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 1002),
            ([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], 1002),
            ([0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], 1009),
            ([0x82, 0x81, 0, 0, 0, 0, 1], 1002), ([0x82, 126, 0x04, 0x01], 1009),
            ([0x02, 1, 0, 0x80, 126, 0x04, 0x00], 1009),
        ] as [([UInt8], UInt16)]
    )
    func invalidFrameHeaderIsRejected(_ bytes: [UInt8], _ code: UInt16) {
        var machine = WebSocketMachine(.client, maximumMessageSize: 1024)

        let events = machine.receive(Data(bytes))

        guard case .failed(let seen, _)? = events.last else {
            Issue.record("another end")
            return
        }
        #expect(seen.rawValue == code)
    }

    @Test func maximumSizeMessageIsAccepted() {
        var machine = WebSocketMachine(.client, maximumMessageSize: 1024)
        var bytes: [UInt8] = []
        WebSocketFrame.binary(Data(count: 1024)).append(to: &bytes)

        #expect(machine.receive(Data(bytes)) == [.message(.data(Data(count: 1024)))])
    }

    @Test func unmaskedClientFrameIsRejected() {
        var machine = WebSocketMachine(.server)

        guard case .failed(let code, _)? = machine.receive(Data([0x81, 0])).last else {
            Issue.record("another end")
            return
        }
        #expect(code == .protocolError)
    }

    // MARK: Sending

    @Test(arguments: 0..<40) func unmasksMaskedMessages(_ seed: Int) {
        var (random, client, server) = (Fuzz(seed: UInt64(seed)), WebSocketMachine(.client), WebSocketMachine(.server))
        var messages: [WebSocket.Message] = []
        for _ in 0..<20 {
            let count = Int.random(in: 0..<400, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            messages.append(.data(Data(bytes)))
        }
        for message in messages { client.send(message) }

        var (bytes, events) = (client.takeAll(), [WebSocketMachine.Event]())
        while !bytes.isEmpty {
            let count = Int.random(in: 1...100, using: &random)
            events += server.receive(Data(bytes.prefix(count)))
            bytes = Data(bytes.dropFirst(count))
        }

        #expect(events == messages.map { .message($0) })
    }

    @Test func nothingIsSentAfterCloseFrame() {
        var machine = WebSocketMachine(.server)
        machine.close(.normalClosure)
        let close = machine.takeAll()
        machine.send(.text("late"))
        machine.ping(Data())
        machine.close(.goingAway)
        // A client's frames are masked; here, the mask is zero.
        _ = machine.receive(Data([0x89, 0x80, 0, 0, 0, 0]))

        #expect(close == Data([0x88, 2, 3, 232]))
        #expect(machine.takeAll() == Data())
    }

    @Test func closeFrameIsLastAfterPingFlood() {
        var machine = WebSocketMachine(.server)
        for _ in 0..<40 { _ = machine.receive(Data([0x89, 0x80, 0, 0, 0, 0])) }
        machine.close(.normalClosure)

        #expect(machine.takeAll().suffix(4) == Data([0x88, 2, 3, 232]))
    }

    /// A peer that sends pings without reading must not make the client's memory grow.
    @Test func sendsFirstAndLastPongsOfPingFlood() {
        var (machine, server) = (WebSocketMachine(.client), WebSocketMachine(.server))
        for number in 0..<10_000 {
            var bytes: [UInt8] = []
            WebSocketFrame.ping(Data("\(number)".utf8)).append(to: &bytes)
            _ = machine.receive(Data(bytes))
        }

        #expect(machine.pendingCount < 1000)
        let answers = server.receive(machine.takeAll())
        #expect(answers == (Array(0..<32) + [9999]).map { .pong(Data("\($0)".utf8)) })
    }
}
