// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct ExchangeLedgerTests {
    private func exchange(_ path: String) -> RecordedExchange {
        RecordedExchange(request: StubbedRequest(url: URL(string: "https://a\(path)")!))
    }

    @Test func theOrderIsThatOfTheBeginning() {
        var ledger = ExchangeLedger()
        let (first, second) = (ledger.begin { exchange("/1") }, ledger.begin { exchange("/2") })

        ledger.end(second, exchange("/2"))
        #expect(ledger.exchanges.map(\.request.path) == ["/2"])
        ledger.end(first, exchange("/1"))
        #expect(ledger.exchanges.map(\.request.path) == ["/1", "/2"])
    }

    @Test func removedExchangeDoesNotReturn() {
        var ledger = ExchangeLedger()
        let old = ledger.begin { exchange("/old") }
        ledger.reset()
        let new = ledger.begin { exchange("/new") }

        ledger.end(old, exchange("/old"))
        ledger.end(new, exchange("/new"))

        #expect(ledger.exchanges.map(\.request.path) == ["/new"])
    }

    @Test func onlyTheFirstEndCounts() {
        let request = StubbedRequest(url: URL(string: "https://a")!)
        var builder = ExchangeBuilder(request, start: Date(), limit: 3)
        func receive(_ event: TransferEvent, at seconds: Int) -> RecordedExchange? {
            builder.receive(event, at: .seconds(seconds), sent: CapturedBody(limit: 3))
        }

        #expect(receive(.informational(HTTPResponseHead(status: 103)), at: 1)?.request.url == nil)
        #expect(receive(.head(HTTPResponseHead(status: .ok)), at: 2)?.request.url == nil)
        #expect(receive(.data(Data("ab".utf8)), at: 3)?.request.url == nil)
        #expect(receive(.data(Data("cd".utf8)), at: 4)?.request.url == nil)
        let underWay = builder.current(at: .seconds(4), sent: CapturedBody(limit: 3))
        #expect(underWay.isUnderWay && underWay.response?.text == "abc" && underWay.metrics.end == .seconds(4))
        let exchange = receive(.end(nil), at: 5)
        #expect(!builder.current(at: .seconds(6), sent: CapturedBody(limit: 3)).isUnderWay)
        #expect(receive(.end(nil), at: 6)?.request.url == nil)

        #expect(exchange?.response?.text == "abc" && exchange?.response?.bodySize == 4)
        #expect(exchange?.metrics.firstByte == .seconds(2) && exchange?.metrics.end == .seconds(5))
    }
}
