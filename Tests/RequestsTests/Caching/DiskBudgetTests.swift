// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct DiskBudgetTests {
    @Test func theDirectoryIsLookedAtFirst() {
        var budget = DiskBudget(limit: 800)

        #expect(budget.take(10) == false)
    }

    @Test func anEighthIsWrittenBeforeItIsLookedAtAgain() {
        var budget = DiskBudget(limit: 800)

        budget.take(10, besides: 0)

        #expect(budget.take(90) == true)
        #expect(budget.take(1) == false)
    }

    @Test func writtenFilesStayBelowTheLimit() {
        var budget = DiskBudget(limit: 800)

        budget.take(10, besides: 750)

        #expect(budget.take(41) == false)
        #expect(budget.take(40) == true)
    }

    @Test(arguments: [(-5, 0, true), (0, 1, false), (800, 200, true), (800, 201, false)])
    func aFileMayTakeAQuarter(limit: Int, size: Int, isAdmitted: Bool) {
        #expect(DiskBudget(limit: limit).admits(size) == isAdmitted)
    }

    @Test(arguments: [(10, 700), (100, 700), (200, 600)])
    func roomIsMadeForAnEighthOrTheFile(size: Int, target: Int) {
        #expect(DiskBudget(limit: 800).target(for: size) == target)
    }
}
