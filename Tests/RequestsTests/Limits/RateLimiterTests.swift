// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import RequestsTesting
import TestSupport
import Testing

@testable import Requests

/// The same priority for all waiters.
private let equalPriorities: @Sendable () -> Int = { 0 }

@Suite(.bounded) struct RateLimiterTests {
    private let clock = ManualClock()
    private let grants = Recorder<Int>()

    @discardableResult
    private func wait(
        _ id: Int,
        at limiter: RateLimiter,
        priority: @escaping @Sendable () -> Int = { 0 }
    ) -> @Sendable () -> Void {
        limiter.wait(priority: priority) { [grants] in grants.record(id) }
    }

    @Test func theBurstIsGrantedAtOnceAndTheOthersWhenTheirTimeComes() async throws {
        let limiter = RateLimiter(2, per: .seconds(1), clock: clock)

        for id in 1...4 { wait(id, at: limiter) }
        #expect(grants.elements == [1, 2])
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(500))

        #expect(await grants.first(3) == [1, 2, 3])
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(500))
        #expect(await grants.first(4) == [1, 2, 3, 4])
    }

    @Test func thereIsOneSleepHoweverManyWait() async throws {
        let limiter = RateLimiter(1, per: .seconds(1), clock: clock)

        for id in 0..<100 { wait(id, at: limiter) }
        try await clock.waitForSleepers()

        #expect(clock.sleeperCount == 1 && grants.elements == [0])
    }

    @Test func aPriorityMayChangeWhileItsOwnerWaits() async throws {
        let limiter = RateLimiter(1, per: .seconds(1), clock: clock)
        let priorities = Locked([1: 0, 2: 0, 3: 0, 4: 0])
        for id in 1...4 { wait(id, at: limiter) { priorities.withLock { $0[id] ?? 0 } } }

        priorities.withLock { $0[3] = 8 }
        for count in 2...4 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
            await grants.first(count)
            priorities.withLock { $0[4] = 4 }
        }

        #expect(grants.elements == [1, 3, 4, 2])
    }

    @Test func withdrawnWishConsumesNoToken() async throws {
        let limiter = RateLimiter(1, per: .seconds(1), clock: clock)
        wait(1, at: limiter)
        let takeBack = (2...50).map { wait($0, at: limiter) }
        wait(51, at: limiter)

        for takeBack in takeBack {
            takeBack()
            takeBack()
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))

        #expect(await grants.first(2) == [1, 51])
    }

    @Test func withdrawingTheLastWishEndsTheSleep() async throws {
        let clock = TestClock()
        let limiter = RateLimiter(1, per: .seconds(1), clock: clock)
        wait(1, at: limiter)
        let takeBack = wait(2, at: limiter)
        await clock.sleeps.first(1)

        takeBack()

        await clock.cancellations.first(1)
        clock.advance(by: .seconds(1))
        wait(3, at: limiter)
        #expect(grants.elements == [1, 3])
    }

    @Test func withdrawingAfterTheGrantDoesNothing() {
        let limiter = RateLimiter(1, per: .seconds(1), clock: clock)

        let takeBack = wait(1, at: limiter)
        takeBack()
        wait(2, at: limiter)

        #expect(grants.elements == [1])
    }

    @Test func pauseHoldsAllBack() async throws {
        let limiter = RateLimiter(10, per: .seconds(1), clock: clock)

        limiter.pause(for: .seconds(60))
        limiter.pause(for: .seconds(-1))
        wait(1, at: limiter)
        wait(2, at: limiter)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(59))
        #expect(grants.elements == [])
        clock.advance(by: .seconds(1))

        #expect(await grants.first(1) == [1])
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(100))
        #expect(await grants.first(2) == [1, 2])
    }

    @Test func grantedWaiterMayWaitAgainAtOnce() {
        let limiter = RateLimiter(1000, per: .seconds(1), clock: clock)
        let grants = grants

        @Sendable func again(_ id: Int) {
            _ = limiter.wait(priority: equalPriorities) {
                grants.record(id)
                if id < 100 { again(id + 1) }
            }
        }
        again(1)

        #expect(grants.elements == Array(1...100))
    }

    @Test func releasedLimiterStillGrantsAndIsThenDeallocated() async throws {
        weak var weakly: RateLimiter?
        do {
            let limiter = RateLimiter(1, per: .seconds(1), clock: clock)
            weakly = limiter
            wait(1, at: limiter)
            wait(2, at: limiter)
        }

        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))

        #expect(await grants.first(2) == [1, 2])
        while weakly != nil { await Task.yield() }
    }

    @Test func manyWaitAndAllAreGranted() async throws {
        let total = Scale.pick(1000, whole: 10_000)
        let limiter = RateLimiter(10_000, per: .seconds(1), burst: 100, clock: clock)
        for id in 0..<total { wait(id, at: limiter) }

        for count in stride(from: 200, through: total, by: 100) {
            try await clock.waitForSleepers()
            clock.advance(by: .milliseconds(10))
            await grants.first(count)
        }

        #expect(grants.elements == Array(0..<total))
    }
}

@Suite(.bounded, .tags(.race)) struct RateLimiterRaceTests {
    @Test func withdrawalAgainstTheGrant() async {
        let clock = ManualClock()
        let limiter = RateLimiter(1, per: .seconds(1), burst: 1_000_000, clock: clock)
        let grants = Recorder<Int>()
        for id in 0..<Scale.races {
            limiter.pause(for: .seconds(1))
            let takeBack = limiter.wait(priority: equalPriorities) { grants.record(id) }
            simultaneously {
                clock.advance(by: .seconds(2))
            } and: {
                takeBack()
            }
        }
        limiter.pause(for: .seconds(1))
        clock.advance(by: .seconds(2))

        let last = Recorder<Void>()
        _ = limiter.wait(priority: equalPriorities) { last.record(()) }

        await last.first(1)
        #expect(Set(grants.elements).count == grants.count)
    }

    @Test func everyWishEndsOnceAndEveryTokenIsPaidOnce() async throws {
        let clock = ManualClock()
        let limiter = RateLimiter(Scale.races, per: .seconds(1), burst: 1, clock: clock)
        let grants = Recorder<Int>()
        let lasting = Scale.races / 2

        DispatchQueue.concurrentPerform(iterations: Scale.races) { id in
            let priority = { @Sendable in id % 3 }
            let takeBack = limiter.wait(priority: priority) { grants.record(id) }
            if id % 2 == 1 { takeBack() }
        }
        while grants.elements.filter({ $0 % 2 == 0 }).count < lasting {
            let count = grants.count
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1) / Scale.races)
            await grants.first(count + 1)
        }

        #expect(Set(grants.elements).count == grants.count)
        #expect(clock.sleeperCount == 0)
    }
}
