// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The order in which a limiter admits queued requests, which is the same for rate and host limiters.
@Suite(.bounded) struct LimiterQueueTests {
    /// A limiter that admits one request at a time.
    enum Kind: CaseIterable {
        case rate, host
    }

    /// A queue of requests. The first of them, -1, has been sent.
    private struct Line {
        private let clock = ManualClock()
        private let transport = ManualTransport()
        private let client: HTTPClient
        private let kind: Kind
        private(set) var operations: [HTTPRequest.OperationType] = []

        init(_ kind: Kind) async throws {
            self.kind = kind
            client = HTTPClient(transport: transport) { [clock] in
                switch kind {
                case .rate: $0.rateLimiter = RateLimiter(1, per: .seconds(1), clock: clock)
                case .host: $0.hostLimiter = HostLimiter(limit: 1)
                }
            }
            start(-1)
            try await transport.awaitTransfer()
        }

        @discardableResult
        private func start(
            _ id: Int,
            _ priority: Operation.QueuePriority = .normal
        ) -> HTTPRequest.OperationType {
            let operation = client.makeOperation(for: LimitedTraffic.request(id))
            operation.queuePriority = priority
            operation.start()
            return operation
        }

        /// Adds requests with the following numbers.
        mutating func add(_ priorities: [Operation.QueuePriority]) {
            for priority in priorities { operations.append(start(operations.count, priority)) }
        }

        /// Admits one request after another, and returns their order.
        func order(_ count: Int, during: (_ index: Int) -> Void = { _ in }) async throws -> [Int] {
            for index in 0..<count {
                let last = try await transport.awaitTransfer(count: index + 1)
                #expect(transport.transfers.count == index + 1)
                during(index)
                if kind == .rate { try await clock.waitForSleepers() }
                last.receive(.head(HTTPResponseHead(status: .ok)))
                last.receive(.end(nil))
                clock.advance(by: .seconds(1))
            }
            let last = try await transport.awaitTransfer(count: count + 1)
            last.receive(.end(RequestError(.connectionLost, phase: .sending)))
            return transport.transfers.dropFirst().compactMap { Int($0.request.url.lastPathComponent) }
        }
    }

    @Test(
        arguments: Kind.allCases,
        [
            ([.normal], [0]), ([.normal, .normal, .normal], [0, 1, 2]), ([.normal, .high, .veryHigh], [2, 1, 0]),
            ([.normal, .veryHigh, .normal, .veryHigh, .low], [1, 3, 0, 2, 4]), ([.veryLow, .veryHigh], [1, 0]),
        ] as [([Operation.QueuePriority], [Int])]
    )
    func highestPriorityThenOldestGoesFirst(
        kind: Kind,
        row: (priorities: [Operation.QueuePriority], order: [Int])
    ) async throws {
        var line = try await Line(kind)
        line.add(row.priorities)

        #expect(try await line.order(row.order.count) == row.order)
    }

    @Test(arguments: Kind.allCases) func priorityIsReadWhenSlotIsGranted(kind: Kind) async throws {
        var line = try await Line(kind)
        line.add([.veryHigh, .normal, .normal, .normal])

        (line.operations[0].queuePriority, line.operations[2].queuePriority) = (.normal, .veryHigh)
        let order = try await line.order(4) { index in
            if index == 1 { line.operations[3].queuePriority = .high }
        }

        #expect(order == [2, 3, 0, 1])
    }

    @Test(arguments: Kind.allCases) func cancelledRequestsAreSkipped(kind: Kind) async throws {
        var line = try await Line(kind)
        line.add(Array(repeating: .normal, count: 51))

        for operation in line.operations.dropFirst().dropLast() { for _ in 0..<2 { operation.cancel() } }

        #expect(try await line.order(2) == [0, 50])
    }

    @Test(arguments: Kind.allCases)
    func cancellationRacesGrant(kind: Kind) async throws {
        let clock = ManualClock()
        let limiter = RateLimiter(1, per: .seconds(1), clock: clock)
        for round in 0..<Scale.races {
            let gate = Gate()
            let traffic = LimitedTraffic(
                { kind == .rate ? ($0.rateLimiter = limiter) : ($0.hostLimiter = HostLimiter(limit: 1)) },
                answer: { $0 == 0 ? .status(.ok).held(by: gate) : .status(.ok) }
            )
            traffic.start(0)
            await traffic.sent.first(1)
            let second = traffic.start(1)
            if kind == .rate { try await clock.waitForSleepers() }

            simultaneously {
                gate.open()
                clock.advance(by: .seconds(1))
            } and: {
                second.cancel()
            }
            _ = try? await second.value()

            // Whichever came first, the next request is admitted.
            clock.advance(by: .seconds(1))
            try await traffic.fetch(2)
            clock.advance(by: .seconds(1))
            let sent = traffic.sent.elements
            #expect(sent == [0, 2] || sent == [0, 1, 2], "round \(round)")
        }
    }
}

/// The number of transfers that a host limiter admits.
@Suite(.bounded) struct HostLimiterQueueTests {
    @Test(arguments: [(2, 2), (1, 1), (0, 1), (-1, 1), (.min, 1)]) func hostLimitIsAtLeastOneAndPerOrigin(
        limit: Int,
        expected: Int
    ) async throws {
        let transport = ManualTransport()
        let client = HTTPClient(transport: transport) { $0.hostLimiter = HostLimiter(limit: limit) }

        let operations = try (0..<4).map { id in
            // A different port is a different origin.
            let url = try #require(URL(string: "https://a.example:\(id == 3 ? 8443 : 443)/\(id)"))
            let operation = client.makeOperation(for: HTTPRequest(url: url))
            operation.start()
            return operation
        }
        try await transport.awaitTransfer(count: expected + 1)

        #expect(transport.transfers.count == expected + 1 && transport.transfers.last?.request.url.port == 8443)
        for operation in operations { operation.cancel() }
        for transfer in transport.transfers { transfer.receive(.end(RequestError(.cancelled, phase: .sending))) }
    }

    /// In a long queue, the limiter doesn't read the priority of each request before each grant.
    @Test func longQueueIsOrderedByPriorityAndAge() async throws {
        let (gate, count) = (Gate(), Scale.pick(500, whole: 5000))
        let priorities: [Operation.QueuePriority] = [.veryHigh, .high, .normal, .low, .veryLow]
        let traffic = LimitedTraffic(
            { $0.hostLimiter = HostLimiter(limit: 1) },
            answer: { $0 == 0 ? .status(.ok).held(by: gate) : .status(.ok) }
        )
        for id in 0..<count { traffic.start(id, priorities[id % 5]) }

        gate.open()

        #expect(await traffic.sent.first(count) == [0] + (1..<count).sorted { ($0 % 5, $0) < ($1 % 5, $1) })
    }

    @Test func longQueueDoesNotOverflowStack() async throws {
        let (gate, count) = (Gate(), Scale.pick(3000, whole: 10_000))
        let traffic = LimitedTraffic(
            { $0.hostLimiter = HostLimiter(limit: 1) },
            answer: { $0 == 0 ? .status(.ok).held(by: gate) : .status(.ok) }
        )
        for id in 0...count { traffic.start(id) }

        gate.open()

        #expect(await traffic.sent.first(count + 1).elementsEqual(0...count))
    }

    @Test func concurrentTransfersNeverExceedLimit() async throws {
        let inside = Locked((now: 0, most: 0))
        let gates = (0..<Scale.races).map { _ in Gate() }
        let traffic = LimitedTraffic(
            { $0.hostLimiter = HostLimiter(limit: 3) },
            answer: { id in
                inside.withLock { inside in
                    inside.now += 1
                    inside.most = max(inside.most, inside.now)
                }
                DispatchQueue.global().async {
                    inside.withLock { $0.now -= 1 }
                    gates[id].open()
                }
                return .status(.ok).held(by: gates[id])
            }
        )

        DispatchQueue.concurrentPerform(iterations: Scale.races) { id in
            traffic.start(id, [.low, .normal, .high][id % 3])
        }
        await traffic.sent.first(Scale.races)

        #expect(inside.withLock { $0.most } <= 3)
    }
}
