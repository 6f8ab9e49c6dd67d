// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct RetryTests {
    private let request = HTTPRequest(url: server)

    @Test func retriesFollowBackoffSchedule() async {
        let clock = TestClock()
        let backoff = RetryPolicy.Backoff.exponential(from: .seconds(1)).capped(at: .seconds(3_600)).jitter(.half)
        let transport = InMemoryTransport { _ in .failure(RequestError(.connectionLost, phase: .sending)) }
        let queue = TestQueue(transport) {
            $0.clock = clock
            $0.random = .seeded(7)
            $0.retry = RetryPolicy(limit: 30, backoff: backoff)
        }
        let operation = queue.addRequest(request)

        for retry in 1...30 {
            let waits = await clock.sleeps.first(retry)
            clock.advance(by: waits[retry - 1])
        }
        await operation.end()

        let random = RandomSource.seeded(7)
        #expect(clock.sleeps.elements == (1...30).map { backoff.delay(before: $0, random: random) })
        #expect(transport.requests.count == 31)
        #expect(operation.result?.error?.transfers.count == 31)
    }

    @Test func retryWaitsForRetryAfter() async {
        let clock = TestClock()
        let transport = InMemoryTransport.answering([
            .status(.serviceUnavailable, headers: [.retryAfter: "20"]),
            .status(.serviceUnavailable, headers: [.retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT"]),
            .status(.ok, body: Data("at last".utf8)),
        ])
        let queue = TestQueue(transport) {
            $0.clock = clock
            $0.random = RandomSource { 0 }
            $0.now = { Date(timeIntervalSince1970: 784_111_747) }
            $0.retry = .default
        }
        let operation = queue.addRequest(request)

        #expect(await clock.sleeps.first(1) == [.seconds(20)])
        clock.advance(by: .seconds(20))
        #expect(await clock.sleeps.first(2) == [.seconds(20), .seconds(30)])
        clock.advance(by: .seconds(30))
        await operation.end()

        #expect(operation.result?.value == Data("at last".utf8))
    }

    @Test func interceptorCannotRetryPermanentErrors() async {
        let transport = InMemoryTransport { _ in .status(.found, headers: [.location: "/again"]) }
        let queue = TestQueue(transport) {
            $0.redirect = .follow(limit: 1)
            $0.interceptors = [ClosureInterceptor(retry: { _, context in context.attempt < 3 ? .retry : .pass })]
        }

        let error = await Probe(adding: TextRequest(), to: queue).ended().first?.error

        #expect(error?.code == .tooManyRedirects)
        #expect(error?.transfers.count == 2 && transport.requests.count == 2)
    }

    @Test func requestOverridesRetryPolicy() async {
        let transport = InMemoryTransport { _ in .status(.serviceUnavailable) }
        let queue = TestQueue(transport) { $0.retry = RetryPolicy(limit: 5, backoff: .none) }

        let operation = queue.addRequest(Get<Data>().modified { [request] in $0.http = request }.retry(.never))
        await operation.end()

        #expect(transport.requests.count == 1)
    }

    @Test func interceptorDecisionOverridesPolicy() async {
        let transport = InMemoryTransport { _ in .status(.serviceUnavailable) }
        let queue = TestQueue(transport) {
            $0.retry = RetryPolicy(limit: 5, backoff: .none)
            $0.interceptors = [ClosureInterceptor(retry: { _, context in context.attempt == 3 ? .fail : .pass })]
        }

        await queue.addRequest(request).end()

        #expect(transport.requests.count == 3)
    }

    @Test func conditionsAreCheckedOnceBeforeSending() async {
        let checked = Recorder<String>()
        let transport = InMemoryTransport { _ in .status(.serviceUnavailable) }
        let queue = TestQueue(transport) {
            $0.retry = RetryPolicy(limit: 2, backoff: .none)
            $0.conditions = [.condition { _ in checked.record("environment") }]
        }
        let met = Get<Data>().modified { [request] in $0.http = request }.condition(
            .condition { _ in checked.record("request") }
        )
        let unmet = met.condition(.condition { _ in throw SampleError() })

        await queue.addRequest(met).end()
        #expect(checked.elements == ["environment", "request"] && transport.requests.count == 3)

        let operation = queue.addRequest(unmet)
        await operation.end()
        #expect(operation.result?.error?.code == .conditionFailed && transport.requests.count == 3)
        #expect(operation.result?.error?.underlying as? SampleError == SampleError())
    }

    @Test(arguments: [true, false]) func negatedConditionInvertsResult(holds: Bool) async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) {
            $0.conditions = [.not(.condition { @Sendable _ in if !holds { throw SampleError() } })]
        }

        let operation = queue.addRequest(HTTPRequest(url: server))
        await operation.end()

        let error = operation.result?.error as? RequestError
        #expect(error?.code == (holds ? .conditionFailed : nil) && transport.requests.count == (holds ? 0 : 1))
        #expect((error?.underlying != nil) == holds)
    }

    @Test func cancellationEndsConditionWait() async {
        let waiting = Recorder<Void>()
        let queue = TestQueue()
        let request = Get<Data>().modified { $0.http = HTTPRequest(url: server) }.condition(
            .condition { _ in
                waiting.record(())
                try await Task.sleep(for: .seconds(3_600))
            }
        )
        let operation = queue.addRequest(request)
        _ = await waiting.first(1)

        operation.cancel()
        await operation.end()

        #expect(operation.result?.error?.code == .cancelled)
    }

    /// Enough to overflow the stack if each attempt began inside the completion of the previous one.
    private static let often = Scale.pick(1000, whole: 2000)

    // Each kind of retry begins in the completion of the previous attempt if that is called synchronously.
    @Test func synchronousRetriesDoNotOverflowStack() async {
        let sent = Recorder<Void>()
        let transport = InMemoryTransport(recordsRequests: false) { _ in
            sent.record(())
            return .status(.serviceUnavailable)
        }
        let queue = TestQueue(transport) { $0.retry = RetryPolicy(limit: Self.often, backoff: .none) }

        let operation = queue.addRequest(HTTPRequest(url: home))
        await operation.end()

        #expect(sent.count == Self.often + 1)
        // The first attempt and the last ones are kept.
        #expect(operation.transfers.count == 100 && operation.transfers.first?.cause == .initial)
    }

    @Test func synchronousPollingDoesNotOverflowStack() async {
        let sent = Recorder<Void>()
        let transport = InMemoryTransport(recordsRequests: false) { _ in
            sent.record(())
            return .status(.accepted)
        }
        let queue = TestQueue(transport) {
            $0.validators = [.closure { _, _ in .retry(.immediate(limit: Self.often)) }]
        }

        let operation = queue.addRequest(HTTPRequest(url: home))
        await operation.end()

        #expect(sent.count == Self.often + 1)
        // The first attempt and the last ones are kept.
        #expect(operation.transfers.count == 100 && operation.transfers.first?.cause == .initial)
    }

    @Test(arguments: [false, true]) func synchronousRedirectsDoNotOverflowStack(isCached: Bool) async {
        let transport = InMemoryTransport(recordsRequests: false) { _ in
            .status(.movedPermanently, headers: [.location: "/again", .cacheControl: "max-age=3600"])
        }
        let queue = TestQueue(transport) {
            $0.cache = isCached ? ResponseCache() : nil
            $0.redirect = .follow(limit: Self.often)
        }

        let operation = queue.addRequest(HTTPRequest(url: home))
        await operation.end()

        #expect((operation.result?.error as? RequestError)?.code == .tooManyRedirects)
        #expect(operation.transfers.count == (isCached ? 2 : 100))
    }
}
