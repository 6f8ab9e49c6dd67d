// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct WaitersTests {
    private var waiters = Waiters()
    private let resumed = Recorder<Int>()

    private mutating func add(_ id: Int, priority: Int = 0) {
        let waiter = Waiter(priority: { priority }, onGrant: { [resumed] in resumed.record(id) })
        waiters.add(waiter, as: id, priority: priority)
    }

    /// Resumes those that go, and returns them; `nil` if they are to be asked first.
    private mutating func next(_ room: Int) -> [Int]? {
        let count = resumed.elements.count
        switch waiters.next(room) {
        case .none: return []
        case .refresh: return nil
        case .grant(let granted):
            for waiter in granted { waiter.onGrant() }
            return Array(resumed.elements.dropFirst(count))
        }
    }

    @Test mutating func withEnoughRoomPrioritiesAreNotQueried() {
        for id in 1...3 { add(id, priority: id) }

        #expect(next(3) == [3, 2, 1])
        #expect(waiters.isEmpty)
    }

    @Test mutating func priorityAtGrantTimeDecides() {
        add(2, priority: 8)
        add(3)

        #expect(next(1) == nil)
        #expect(next(1) == [])
        waiters.update([2: 0, 3: 4])
        #expect(next(1) == [3])
    }

    @Test mutating func waiterAddedDuringRefreshIsCompared() {
        add(2)
        add(3)
        #expect(next(1) == nil)

        add(4, priority: 8)
        let hasLeft = [waiters.remove(2) != nil, waiters.remove(2) != nil]
        waiters.update([2: 9, 3: 0])

        #expect(hasLeft == [true, false])
        #expect(next(1) == [4])
    }

    @Test mutating func roomFreedDuringRefreshIsUsed() {
        for id in 1...4 { add(id, priority: id) }
        #expect(next(1) == nil)

        waiters.update([:])

        #expect(next(2) == [4, 3])
    }

    @Test mutating func withoutRoomNoWaiterIsQueriedOrResumed() {
        for id in 1...2 { add(id) }

        #expect(next(0) == [])
        #expect(!waiters.isRefreshing && waiters.count == 2)
    }
}
