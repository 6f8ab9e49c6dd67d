// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// The same priority for all waiters.
private let equalPriorities: @Sendable () -> Int = { 0 }

@Suite(.bounded) struct HostLimiterTests {
    private let origin = Origin(URL(string: "https://example.com")!)
    private let grants = Recorder<Int>()

    @discardableResult
    private func acquire(
        _ id: Int,
        _ limiter: HostLimiter,
        priority: @escaping @Sendable () -> Int = { 0 }
    ) -> @Sendable () -> Void {
        limiter.acquire(origin, priority: priority) { [grants] in grants.record(id) }
    }

    @Test func freedSlotGoesToNextWaiter() async {
        let limiter = HostLimiter(limit: 2)

        for id in 1...4 { acquire(id, limiter) }
        #expect(grants.elements == [1, 2])
        limiter.release(origin)

        #expect(await grants.first(3) == [1, 2, 3])
        limiter.release(origin)
        #expect(await grants.first(4) == [1, 2, 3, 4])
    }

    @Test func priorityCanChangeWhileWaiting() async {
        let limiter = HostLimiter(limit: 1)
        let urgent = Locked(2)
        for id in 1...3 { acquire(id, limiter) { urgent.withLock { $0 == id } ? 8 : 0 } }

        urgent.withLock { $0 = 3 }
        limiter.release(origin)

        #expect(await grants.first(2) == [1, 3])
    }

    @Test func cancelledWaiterTakesNoSlot() async {
        let limiter = HostLimiter(limit: 1)
        acquire(1, limiter)
        let takeBack = acquire(2, limiter)
        acquire(3, limiter)

        takeBack()
        limiter.release(origin)

        #expect(await grants.first(2) == [1, 3])
    }

    @Test func manyImmediateReleasesDoNotOverflowStack() async {
        let limiter = HostLimiter(limit: 1)
        let (origin, grants) = (origin, grants)
        let count = Scale.pick(3000, whole: 10_000)
        acquire(-1, limiter)
        for id in 0..<count {
            _ = limiter.acquire(origin, priority: equalPriorities) {
                grants.record(id)
                limiter.release(origin)
            }
        }

        limiter.release(origin)

        #expect(await grants.first(count + 1).dropFirst().elementsEqual(0..<count))
    }
}

@Suite(.bounded) struct HostLimiterRaceTests {
    private let origin = Origin(URL(string: "https://example.com")!)

    @Test func limitIsNeverExceededAndAllAreAdmitted() async {
        let limiter = HostLimiter(limit: 3)
        let inside = Locked((now: 0, most: 0))
        let ends = Recorder<Void>()
        let origin = origin

        DispatchQueue.concurrentPerform(iterations: Scale.races) { id in
            let priority = { @Sendable in id % 3 }
            _ = limiter.acquire(origin, priority: priority) {
                inside.withLock { inside in
                    inside.now += 1
                    inside.most = max(inside.most, inside.now)
                }
                DispatchQueue.global().async {
                    inside.withLock { $0.now -= 1 }
                    limiter.release(origin)
                    ends.record(())
                }
            }
        }
        await ends.first(Scale.races)

        #expect(inside.withLock { $0.most } <= 3)
    }

    @Test func withdrawalRacesGrant() async {
        let limiter = HostLimiter(limit: 1)
        let origin = origin
        for _ in 0..<Scale.races {
            let isIn = Recorder<Void>()
            _ = limiter.acquire(origin, priority: equalPriorities) {}
            let takeBack = limiter.acquire(origin, priority: equalPriorities) { limiter.release(origin) }
            simultaneously {
                limiter.release(origin)
            } and: {
                takeBack()
            }

            // Whichever came first, there is a free slot again.
            _ = limiter.acquire(origin, priority: equalPriorities) { isIn.record(()) }
            await isIn.first(1)
            limiter.release(origin)
        }
    }
}
