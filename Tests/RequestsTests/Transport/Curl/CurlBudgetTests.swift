// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CurlBudgetTests {
    /// Handles, of which only the identity counts.
    private let one = CurlEasy(bitPattern: 1)!
    private let other = CurlEasy(bitPattern: 2)!
    private let time = Locked<UInt64>(0)

    private func makeBudget() -> CurlBudget {
        CurlBudget { [time] in time.withLock { $0 } }
    }

    /// Takes records, each of which takes a tenth of a millisecond; returns the number up to the end of the budget.
    private func take(_ count: Int, _ budget: inout CurlBudget, for easy: CurlEasy) -> Int? {
        for number in 1...count {
            time.withLock { $0 += 100_000 }
            if budget.countRecord(for: easy) { return number }
        }
        return nil
    }

    @Test func recordFloodExhaustsBudget() throws {
        var budget = makeBudget()

        let count = try #require(take(10_000, &budget, for: one))

        #expect(count > 500 && count < 700)
    }

    @Test func contentRenewsBudget() {
        var budget = makeBudget()

        for _ in 0..<100 {
            let end = take(400, &budget, for: one)
            #expect(end == nil)
            budget.reset()
        }
    }

    @Test func recordsInZeroTimeCostNothing() {
        var budget = makeBudget()

        let isSpent = (0..<100_000).contains { _ in budget.countRecord(for: one) }

        #expect(!isSpent)
    }

    @Test func anotherTransferRestoresBudget() {
        var budget = makeBudget()

        let ends = [one, other, one].map { take(450, &budget, for: $0) }

        #expect(ends == [nil, nil, nil])
    }
}
#endif
