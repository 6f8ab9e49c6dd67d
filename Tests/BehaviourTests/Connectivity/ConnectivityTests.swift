// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ConnectivityTests {
    // MARK: Changes

    @Test func updatesBeginWithCurrentStatus() async {
        let connectivity = Connectivity(.connected(.wifi))
        var updates = connectivity.updates().makeAsyncIterator()

        #expect(await updates.next() == .connected(.wifi))
        connectivity.status = .connected(.wifi)
        connectivity.status = .connected(.cellular)
        #expect(await updates.next() == .connected(.cellular))
        connectivity.isConnected = true
        connectivity.isConnected = false
        #expect(await updates.next() == .disconnected)
        #expect(connectivity.status == .disconnected)
    }

    @Test func lateSubscriberReceivesCurrentStatus() async {
        let connectivity = Connectivity()
        var first = connectivity.updates().makeAsyncIterator()
        #expect(await first.next() == .connected(.other))
        connectivity.isConnected = false

        var second = connectivity.updates().makeAsyncIterator()

        #expect(await second.next() == .disconnected)
        #expect(await first.next() == .disconnected)
    }

    @Test func updatesEndWhenConnectivityIsReleased() async {
        var connectivity: Connectivity? = Connectivity()
        let updates = connectivity?.updates()
        connectivity = nil

        var count = 0
        if let updates { for await _ in updates { count += 1 } }

        #expect(count <= 1)
    }

    @Test func hostIsReachableWithAnyResponse() async {
        let answering = TestQueue(InMemoryTransport { _ in .status(.serviceUnavailable) })
        let silent = TestQueue(InMemoryTransport { _ in .failure(RequestError(.cannotConnect, phase: .sending)) })

        #expect(await answering.canReach(home))
        #expect(await !silent.canReach(home))
        #expect(await !TestQueue(InMemoryTransport { _ in .never }).canReach(home, timeout: .milliseconds(1)))
    }

    @Test func reachabilityCheckBypassesCache() async {
        let transport = InMemoryTransport { _ in .noContent }
        let client = HTTPClient(baseURL: home, transport: transport) {
            $0.cache = ResponseCache()
            $0.cachePolicy = .returnCacheDataDontLoad
        }

        #expect(await client.canReach(home))
        #expect(transport.requests.count == 1)
    }

    // MARK: Waiting

    @Test func waitReturnsImmediatelyWhenConnected() async {
        #expect(await Connectivity().waitUntilConnected(timeout: .zero))
    }

    @Test func waitersResumeWhenConnected() async {
        let (connectivity, clock) = (Connectivity(isConnected: false), TestClock())
        async let first = connectivity.waitUntilConnected(timeout: .seconds(60), clock: clock)
        async let second = connectivity.waitUntilConnected(timeout: .seconds(60), clock: clock)
        await clock.sleeps.first(2)

        connectivity.isConnected = true

        #expect(await [first, second] == [true, true])
        await clock.cancellations.first(2)
    }

    @Test func waitTimesOut() async {
        let (connectivity, clock) = (Connectivity(isConnected: false), TestClock())
        async let wait = connectivity.waitUntilConnected(timeout: .seconds(5), clock: clock)
        #expect(await clock.sleeps.first(1) == [.seconds(5)])

        clock.advance(by: .seconds(5))

        #expect(await !wait)
    }

    @Test func cancellationEndsWait() async {
        let connectivity = Connectivity(isConnected: false)
        let task = Task { await connectivity.waitUntilConnected() }

        task.cancel()

        #expect(await !task.value)
    }

    // MARK: The condition

    private func queue(
        _ transport: InMemoryTransport,
        _ connectivity: Connectivity,
        _ clock: TestClock,
        limit: Duration? = nil
    ) -> TestQueue {
        TestQueue(transport) {
            $0.clock = clock
            $0.conditions = [.connected(by: connectivity, timeout: limit, clock: clock)]
        }
    }

    @Test func requestWaitsForNetwork() async {
        let (connectivity, clock) = (Connectivity(isConnected: false), TestClock())
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("home".utf8)) }
        let probe = Probe(adding: WireRequest(), to: queue(transport, connectivity, clock, limit: .seconds(60)))
        await clock.sleeps.first(1)
        #expect(transport.requests.isEmpty)

        connectivity.isConnected = true

        #expect(await probe.ended().map(\.value) == ["home"])
    }

    @Test func requestFailsOfflineAfterTimeout() async {
        let (connectivity, clock) = (Connectivity(isConnected: false), TestClock())
        let transport = InMemoryTransport { _ in .status(.ok) }
        let probe = Probe(adding: WireRequest(), to: queue(transport, connectivity, clock, limit: .seconds(60)))
        await clock.sleeps.first(1)

        clock.advance(by: .seconds(60))
        let error = await probe.ended().first?.error

        #expect(error?.code == .offline && error?.phase == .building)
        #expect(error?.reason == "no network connection for 60.0 seconds")
        #expect(transport.requests.isEmpty)
    }

    @Test func operationDeadlineEndsWait() async {
        let (connectivity, clock) = (Connectivity(isConnected: false), TestClock())
        let transport = InMemoryTransport { _ in .status(.ok) }
        var request = WireRequest()
        request.options.deadline = .seconds(3)
        let probe = Probe(adding: request, to: queue(transport, connectivity, clock))
        await clock.sleeps.first(1)

        clock.advance(by: .seconds(3))

        #expect(await probe.ended().first?.error?.code == .deadlineExceeded)
        #expect(transport.requests.isEmpty)
    }

    @Test func cancelledRequestStopsWaiting() async {
        let (connectivity, clock) = (Connectivity(isConnected: false), TestClock())
        let transport = InMemoryTransport { _ in .status(.ok) }
        let probe = Probe(adding: WireRequest(), to: queue(transport, connectivity, clock, limit: .seconds(60)))
        await clock.sleeps.first(1)

        probe.operation.cancel()

        #expect(await probe.ended().first?.error?.code == .cancelled)
        await clock.cancellations.first(1)
    }

    // MARK: Retrying

    private func decision(
        after code: RequestError.Code,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        attempt: Int = 1,
        isConnected: Bool = true
    ) async -> Bool {
        let clock = TestClock()
        let connectivity = Connectivity(isConnected: isConnected)
        let retry = ClosureInterceptor.retryingOffline(by: connectivity, timeout: .zero, clock: clock)
        let request = HTTPRequest(url: home, method: method, headers: headers)
        let error = RequestError(code, phase: .sending, request: request)
        let decision = await retry.retry(error, context: InterceptorChain.Context(identifier: "", attempt: attempt))
        return switch decision {
        case .retry: true
        case .pass, .fail: false
        }
    }

    @Test func unsentRequestIsRetriedForAnyMethod() async {
        let transport = InMemoryTransport.answering([
            .failure(RequestError(.offline, phase: .sending)), .status(.ok),
        ])
        let queue = TestQueue(transport) { $0.interceptors = [.retryingOffline(by: Connectivity(isConnected: true))] }
        await Probe(adding: WireRequest(http: HTTPRequest(url: home, method: .post)), to: queue).operation.end()

        #expect(transport.requests.count == 2)
    }

    @Test func offlineErrorIsRetriedTwiceIfConnected() async {
        #expect(await decision(after: .offline, attempt: 2))
        #expect(await !decision(after: .offline, attempt: 3))
        #expect(await !decision(after: .offline, isConnected: false))
    }

    @Test(arguments: [RequestError.Code.connectionLost, .cannotConnect, .timedOut, .badResponse, .untrusted])
    func failuresAreNotRetriedWhileConnected(code: RequestError.Code) async {
        #expect(await !decision(after: code))
    }

    @Test func lostConnectionIsRetriedOnlyIfIdempotent() async {
        for (method, headers, isRetried) in [
            (.get, [], true), (.post, [], false), (.post, [.idempotencyKey: "one"], true),
        ] as [(HTTPMethod, HTTPHeaders, Bool)] {
            let (connectivity, clock) = (Connectivity(isConnected: false), TestClock())
            let transport = InMemoryTransport.answering([
                .failure(RequestError(.connectionLost, phase: .receiving)), .status(.ok),
            ])
            let queue = TestQueue(transport) { $0.interceptors = [.retryingOffline(by: connectivity, clock: clock)] }
            let probe = Probe(
                adding: WireRequest(http: HTTPRequest(url: home, method: method, headers: headers)),
                to: queue
            )
            if isRetried { #expect(await clock.sleeps.first(1) == [.seconds(5)]) }
            if isRetried { connectivity.isConnected = true }

            let code = await probe.ended().first?.error?.code
            #expect(code == (isRetried ? nil : .connectionLost))
            #expect(transport.requests.count == (isRetried ? 2 : 1))
        }
    }
}

@Suite(.bounded) struct ConnectivityRaceTests {
    /// The network appears while waiters come and go. Only cancelled waiters get `false`.
    @Test func connectionRacesWaiterCancellation() async {
        for _ in 0..<Scale.races {
            let connectivity = Connectivity(isConnected: false)
            let missed = await withTaskGroup(of: Int?.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        let task = Task { await connectivity.waitUntilConnected() }
                        if number.isMultiple(of: 3) { task.cancel() }
                        return await task.value ? nil : number
                    }
                }
                group.addTask {
                    connectivity.isConnected = true
                    return nil
                }
                return await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
            }
            #expect(missed.allSatisfy { $0.isMultiple(of: 3) }, "\(missed)")
        }
    }
}
