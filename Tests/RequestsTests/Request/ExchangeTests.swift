// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ExchangeTests {
    private let request = HTTPRequest(url: home)

    /// Says which cancellation was given back or called, by its name.
    private func names(_ cancellations: Exchange.Cancellation?..., in calls: Recorder<String>) -> [String] {
        for cancellation in cancellations { cancellation?() }
        return calls.elements
    }

    @Test func aCancellationIsKeptUntilItIsWanted() {
        let calls = Recorder<String>()
        var exchange = Exchange()

        let work = exchange.beginWork()
        let returned = exchange.keep({ calls.record("task") }, of: work)

        #expect(returned == nil)
        #expect(names(exchange.abandon(), exchange.abandon(), in: calls) == ["task"])
    }

    // The task of an interceptor may have sent the request before the thread that made the task keeps hold of it. What
    // was kept for the transfer then has to stay: else a cancel doesn't reach the transfer, and the operation hangs.
    @Test func whatComesLateDoesNotTakeThePlaceOfTheTransfer() throws {
        let calls = Recorder<String>()
        var exchange = Exchange()

        let task = exchange.beginWork()
        let begun = exchange.begin(1, Hop(request, complete: request, outgoing: request, cause: .initial))
        let transfer = try #require(begun)
        #expect(exchange.keep({ calls.record("transfer") }, of: transfer) == nil)
        #expect(exchange.keep({ calls.record("task") }, of: task) == nil)

        #expect(names(exchange.abandon(), in: calls) == ["transfer"])
    }

    @Test func aHandleOfATransferThatHasEndedIsNotKept() throws {
        let calls = Recorder<String>()
        var exchange = Exchange()

        let begun = exchange.begin(1, Hop(request, complete: request, outgoing: request, cause: .initial))
        let transfer = try #require(begun)
        exchange.end(1, error: nil)

        #expect(exchange.keep({ calls.record("transfer") }, of: transfer) == nil)
        #expect(exchange.abandon() == nil)
    }

    @Test func nothingBeginsAfterTheEndOfInterest() {
        var exchange = Exchange()

        #expect(exchange.abandon() == nil)
        let transfer = exchange.begin(1, Hop(request, complete: request, outgoing: request, cause: .initial))

        #expect(transfer == nil)
        #expect(exchange.attempts.isEmpty)
    }

    @Test func onlyThePresentTransferIsHeard() {
        var exchange = Exchange()
        _ = exchange.begin(1, Hop(request, complete: request, outgoing: request, cause: .initial))
        exchange.end(1, error: RequestError(.connectionLost, phase: .sending))
        _ = exchange.begin(2, Hop(request, complete: request, outgoing: request, cause: .retry))

        exchange.receive(HTTPResponseHead(status: .notFound), transfer: 1)
        #expect(exchange.receive(Data("old".utf8), transfer: 1, limit: 100) == .ignored)
        exchange.end(1, error: nil)
        exchange.receive(HTTPResponseHead(status: .ok), transfer: 2)
        #expect(exchange.receive(Data("new".utf8), transfer: 2, limit: 100) == .kept)

        #expect(exchange.head?.status == .ok)
        #expect(exchange.body == Data("new".utf8))
        #expect(exchange.attempts.map(\.cause) == [.initial, .retry])
        #expect(exchange.attempts.map(\.error?.code) == [.connectionLost, nil])
        #expect(exchange.attempts.map(\.response?.status) == [nil, .ok])
    }

    @Test(arguments: [(5, Exchange.Reception.kept), (4, .tooLarge), (0, .tooLarge), (-1, .tooLarge), (.max, .kept)])
    func contentIsKeptUpToTheLimit(limit: Int, reception: Exchange.Reception) {
        var exchange = Exchange()
        _ = exchange.begin(1, Hop(request, complete: request, outgoing: request, cause: .initial))

        #expect(exchange.receive(Data("hello".utf8), transfer: 1, limit: limit) == reception)
    }
}
