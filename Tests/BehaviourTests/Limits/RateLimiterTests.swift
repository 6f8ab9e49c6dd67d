// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The times at which queued requests are sent.
@Suite(.bounded) struct RateLimiterTests {
    /// An operation whose priority is slow to compute.
    final class DeliberateOperation: DataOperation<DeliberateRequest>, @unchecked Sendable {
        override var queuePriority: Operation.QueuePriority {
            get {
                request?.deliberate()
                return .normal
            }
            set {}
        }
    }

    struct DeliberateRequest: DataRequest {
        typealias Success = Data
        typealias OperationType = DeliberateOperation
        typealias Failure = RequestError

        let url: URL
        let deliberate: @Sendable () -> Void
        var identifier: String { url.path }

        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: url))) }
        func processData(_ data: Data) throws -> Data { data }
    }

    private let clock = ManualClock()

    private func traffic(_ limiter: RateLimiter) -> LimitedTraffic { LimitedTraffic { $0.rateLimiter = limiter } }

    @Test func burstIsSentImmediatelyThenAtRate() async throws {
        let traffic = traffic(RateLimiter(2, per: .seconds(1), clock: clock))

        for id in 1...4 { traffic.start(id) }
        #expect(await traffic.sent.first(2) == [1, 2])
        for count in 3...4 {
            try await clock.waitForSleepers()
            clock.advance(by: .milliseconds(500) - .nanoseconds(1))
            #expect(clock.sleeperCount == 1 && traffic.sent.count == count - 1)
            clock.advance(by: .nanoseconds(1))
            #expect(await traffic.sent.first(count) == Array(1...count))
        }
    }

    @Test func waitersShareOneSleep() async throws {
        let traffic = traffic(RateLimiter(1, per: .seconds(1), clock: clock))

        let operations = (0..<100).map { traffic.start($0) }
        try await clock.waitForSleepers()

        #expect(clock.sleeperCount == 1 && traffic.sent.elements == [0])
        for operation in operations { operation.cancel() }
    }

    @Test func cancellingLastRequestEndsSleep() async throws {
        let traffic = traffic(RateLimiter(1, per: .seconds(1), clock: clock))
        traffic.start(1)
        let operation = traffic.start(2)
        try await clock.waitForSleepers()

        operation.cancel()

        try await eventually { clock.sleeperCount == 0 }
        clock.advance(by: .seconds(1))
        try await traffic.fetch(3)
        #expect(traffic.sent.elements == [1, 3])
    }

    @Test func cancelledTransferDoesNotReturnToken() async throws {
        let limiter = RateLimiter(1, per: .seconds(1), clock: clock)
        let traffic = LimitedTraffic({ $0.rateLimiter = limiter }, answer: { $0 == 1 ? .never : .status(.ok) })

        let first = traffic.start(1)
        await traffic.sent.first(1)
        first.cancel()
        let second = traffic.start(2)

        try await clock.waitForSleepers()
        #expect(traffic.sent.elements == [1])
        second.cancel()
    }

    @Test func pauseDelaysAllRequests() async throws {
        let limiter = RateLimiter(10, per: .seconds(1), clock: clock)
        let traffic = traffic(limiter)

        limiter.pause(for: .seconds(60))
        limiter.pause(for: .seconds(-1))
        traffic.start(1)
        traffic.start(2)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(59))
        #expect(traffic.sent.elements == [])
        clock.advance(by: .seconds(1))

        #expect(await traffic.sent.first(1) == [1])
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(100))
        #expect(await traffic.sent.first(2) == [1, 2])
    }

    /// Priorities are cached for 100 ms, including those that take longer to compute.
    @Test func slowPrioritiesAreReadOncePerGrant() async throws {
        let traffic = traffic(RateLimiter(1, per: .seconds(1), clock: clock))
        let count = Locked(0)
        let isSlow = Locked(false)
        for id in 1...3 {
            let request = DeliberateRequest(url: LimitedTraffic.request(id).url) { [clock] in
                guard isSlow.withLock({ $0 }) else { return }
                let isEndless = count.withLock { count in
                    count += 1
                    return count > 50
                }
                if !isEndless { clock.advance(by: .milliseconds(100)) }
            }
            traffic.client.makeOperation(for: request).start()
            if id == 1 { await traffic.sent.first(1) }
        }
        try await clock.waitForSleepers()

        isSlow.withLock { $0 = true }
        clock.advance(by: .seconds(1))

        #expect(await traffic.sent.first(2) == [1, 2])
        #expect(count.withLock { $0 } == 2)
        isSlow.withLock { $0 = false }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        await traffic.sent.first(3)
    }

    /// The transport adds the next request while the limiter admits one.
    @Test func limiterIsReentrant() async throws {
        let limiter = RateLimiter(1000, per: .seconds(1), clock: clock)
        let client = Locked<HTTPClient?>(nil)
        let traffic = LimitedTraffic(
            { $0.rateLimiter = limiter },
            answer: { id in
                let operation = client.withLock { $0?.makeOperation(for: LimitedTraffic.request(id + 1)) }
                if id < 100 { operation?.start() }
                return .status(.ok)
            }
        )
        client.withLock { $0 = traffic.client }

        traffic.start(1)

        #expect(await traffic.sent.first(100) == Array(1...100))
        client.withLock { $0 = nil }
    }

    @Test func releasedLimiterServesWaitersThenDeallocates() async throws {
        weak var limiter: RateLimiter?
        let sent = {
            let new = RateLimiter(1, per: .seconds(1), clock: clock)
            limiter = new
            let traffic = traffic(new)
            traffic.start(1)
            traffic.start(2)
            return traffic.sent
        }()

        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))

        #expect(await sent.first(2) == [1, 2])
        try await eventually { limiter == nil }
    }

    @Test func manyQueuedRequestsAreAllSent() async throws {
        let total = Scale.pick(1000, whole: 10_000)
        let traffic = traffic(RateLimiter(10_000, per: .seconds(1), burst: 100, clock: clock))
        for id in 0..<total { traffic.start(id) }

        for count in stride(from: 200, through: total, by: 100) {
            try await clock.waitForSleepers()
            clock.advance(by: .milliseconds(10))
            // Requests that are admitted together may overtake each other.
            #expect(await Set(traffic.sent.first(count)) == Set(0..<count))
        }
    }

    @Test func requestsCompleteOnceAndSpendOneToken() async throws {
        let traffic = traffic(RateLimiter(Scale.races, per: .seconds(1), burst: 1, clock: clock))
        let lasting = Scale.races / 2

        DispatchQueue.concurrentPerform(iterations: Scale.races) { id in
            let operation = traffic.start(id, [.low, .normal, .high][id % 3])
            if id % 2 == 1 { operation.cancel() }
        }
        while traffic.sent.elements.filter({ $0 % 2 == 0 }).count < lasting {
            let count = traffic.sent.count
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1) / Scale.races)
            await traffic.sent.first(count + 1)
            // A full bucket has one token.
            #expect(.seconds(1) * (traffic.sent.count - 1) <= clock.now.offset * Scale.races)
        }

        #expect(Set(traffic.sent.elements).count == traffic.sent.count)
        try await eventually { clock.sleeperCount == 0 }
    }
}
