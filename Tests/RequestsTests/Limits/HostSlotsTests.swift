// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HostSlotsTests {
    private let here = Origin(URL(string: "https://here.example")!)
    private let there = Origin(URL(string: "https://there.example")!)

    @Test func thereIsRoomForTheLimitAtEachOrigin() {
        var slots = HostSlots(limit: 2)

        #expect(slots.handle(.arrived(1, priority: 0), at: here) == .grant([1]))
        #expect(slots.handle(.arrived(2, priority: 0), at: here) == .grant([2]))
        #expect(slots.handle(.arrived(3, priority: 0), at: here) == .none)
        #expect(slots.handle(.arrived(4, priority: 0), at: there) == .grant([4]))
        #expect(slots.handle(.freed, at: there) == .none)
        #expect(slots.handle(.freed, at: here) == .grant([3]))
    }

    @Test func thePriorityIsThatOfTheMomentOfTheGrant() {
        var slots = HostSlots(limit: 1)
        #expect(slots.handle(.arrived(1, priority: 0), at: here) == .grant([1]))
        #expect(slots.handle(.arrived(2, priority: 8), at: here) == .none)
        #expect(slots.handle(.arrived(3, priority: 0), at: here) == .none)

        guard case .ask(let asked) = slots.handle(.freed, at: here) else {
            Issue.record("no priority was queried")
            return
        }
        #expect(asked.sorted() == [2, 3])
        #expect(slots.handle(.arrived(4, priority: 4), at: here) == .none)

        #expect(slots.handle(.answered([2: 0, 3: 4]), at: here) == .grant([3]))
        #expect(slots.handle(.left(4), at: here) == .none)
        #expect(slots.handle(.freed, at: here) == .grant([2]))
    }

    @Test func roomThatComesWhilePrioritiesAreAskedForIsGivenToo() {
        var slots = HostSlots(limit: 2)
        for id in 1...5 { _ = slots.handle(.arrived(id, priority: id), at: here) }

        guard case .ask = slots.handle(.freed, at: here) else {
            Issue.record("no priority was queried")
            return
        }
        #expect(slots.handle(.freed, at: here) == .none)

        #expect(slots.handle(.answered([:]), at: here) == .grant([5, 4]))
        #expect(slots.handle(.left(3), at: here) == .none)
    }

    @Test func cancelledWaiterTakesNoSlot() {
        var slots = HostSlots(limit: 1)
        for id in 1...3 { _ = slots.handle(.arrived(id, priority: 0), at: here) }

        #expect(slots.handle(.left(2), at: here) == .none)
        #expect(slots.handle(.left(2), at: here) == .none)

        #expect(slots.handle(.freed, at: here) == .grant([3]))
    }

    @Test func unusedOriginKeepsNoState() {
        var slots = HostSlots(limit: 1)
        _ = slots.handle(.arrived(1, priority: 0), at: here)
        _ = slots.handle(.arrived(2, priority: 0), at: here)
        _ = slots.handle(.left(7), at: there)
        #expect(slots.count == 1)

        _ = slots.handle(.freed, at: here)
        #expect(slots.count == 1)
        _ = slots.handle(.freed, at: here)

        #expect(slots.count == 0)
    }

    @Test func leavingMoreOftenThanEnteringMakesNoRoom() {
        var slots = HostSlots(limit: 1)

        #expect(slots.handle(.freed, at: here) == .none)
        #expect(slots.handle(.arrived(1, priority: 0), at: here) == .grant([1]))

        #expect(slots.handle(.arrived(2, priority: 0), at: here) == .none)
    }

    @Test(arguments: [0, -1, Int.min]) func aLimitOfLessThanOneIsOne(_ limit: Int) {
        var slots = HostSlots(limit: limit)

        #expect(slots.handle(.arrived(1, priority: 0), at: here) == .grant([1]))
        #expect(slots.handle(.arrived(2, priority: 0), at: here) == .none)
    }
}
