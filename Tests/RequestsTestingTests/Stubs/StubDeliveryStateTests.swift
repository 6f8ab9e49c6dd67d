// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct StubDeliveryStateTests {
    private let head = TransferEvent.head(HTTPResponseHead(status: .ok))
    private let a = TransferEvent.data(Data("a".utf8))
    private let b = TransferEvent.data(Data("b".utf8))

    @Test func bufferedContentIsDeliveredOnCompletion() {
        var state = StubDeliveryState()

        let told = add([.sent(1, of: 1), head, a, b, .end(nil)], to: &state, buffersContent: true)

        #expect(told == [false, false, false, false, true])
        let events = state.takeDueEvents()
        #expect(events.map(\.name) == ["head", "ab", "end"])
        let rest = state.takeDueEvents()
        #expect(rest.isEmpty)
    }

    @Test func bufferedContentIsHeldUntilCompletion() {
        var state = StubDeliveryState()

        _ = add([head, a], to: &state, buffersContent: true)
        let early = state.takeDueEvents()
        _ = add([b, .end(nil)], to: &state, buffersContent: true)
        let events = state.takeDueEvents()

        #expect(early.isEmpty)
        #expect(events.map(\.name) == ["head", "ab", "end"])
    }

    @Test func unbufferedChunksAreDeliveredImmediately() {
        var state = StubDeliveryState()

        let told = add([.sent(1, of: 1), head, a, b], to: &state, buffersContent: false)

        #expect(told == [false, true, true, true])
        let events = state.takeDueEvents()
        #expect(events.map(\.name) == ["head", "a", "b"])
        let isTold = state.add(.end(nil), buffersContent: false)
        #expect(isTold)
        let end = state.takeDueEvents()
        #expect(end.map(\.name) == ["end"])
    }

    private func add(_ events: [TransferEvent], to state: inout StubDeliveryState, buffersContent: Bool) -> [Bool] {
        var told: [Bool] = []
        for event in events { told.append(state.add(event, buffersContent: buffersContent)) }
        return told
    }

    @Test func stopDiscardsEvents() {
        var state = StubDeliveryState()

        _ = state.add(head, buffersContent: false)
        state.stop()

        let events = state.takeDueEvents()
        #expect(events.isEmpty)
        let isTold = state.add(.end(nil), buffersContent: false)
        #expect(!isTold)
    }
}

extension TransferEvent {
    fileprivate var name: String {
        switch self {
        case .informational: "informational"
        case .sent: "sent"
        case .head: "head"
        case .data(let data): String(decoding: data, as: UTF8.self)
        case .trailers: "trailers"
        case .metrics: "metrics"
        case .end: "end"
        }
    }
}
