// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct LimitTests {
    private func request(_ host: String = "a", _ priority: Operation.QueuePriority = .normal) -> Get<Data> {
        Get<Data>().modified { $0.http = HTTPRequest(url: URL(string: "https://\(host).example/")!) }
            .priority(priority)
    }

    @Test func transfersPerHostAreLimited() async {
        let gates = ["a": Gate(), "b": Gate()]
        let sent = Recorder<String>()
        let transport = InMemoryTransport { request in
            let host = String(request.url.host()?.prefix(1) ?? "")
            sent.record(host)
            return .status(.ok).held(by: gates[host] ?? Gate())
        }
        let queue = TestQueue(transport) { $0.hostLimiter = HostLimiter(limit: 2) }
        let operations = (0..<5).map { _ in queue.addRequest(request("a")) } + [queue.addRequest(request("b"))]

        let first = await sent.first(3)
        #expect(first.count { $0 == "a" } == 2 && first.contains("b"))
        for gate in gates.values { gate.open() }
        for operation in operations { await operation.end() }

        #expect(sent.count == 6)
    }

    @Test func finishedTransferAdmitsNextOne() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport) { $0.hostLimiter = HostLimiter(limit: 2) }
        let operations = (0..<20).map { _ in queue.addRequest(request("a")) }

        for ended in operations.indices {
            let transfer = try await transport.awaitTransfer(count: ended + 1)
            #expect(transport.transfers.count <= ended + 2)
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            transfer.receive(.end(nil))
        }
        for operation in operations { await operation.end() }

        #expect(transport.transfers.count == 20)
    }

    @Test func rateLimitedRequestsAreSentByPriority() async {
        let (clock, sent) = (TestClock(), Recorder<String>())
        let transport = InMemoryTransport { request in
            sent.record(request.url.path)
            return .status(.ok)
        }
        let queue = TestQueue(transport) {
            $0.rateLimiter = RateLimiter(1, per: .seconds(1), clock: clock)
        }
        // The operation runs on this thread until it has to wait: when `start()` returns, it is queued.
        func add(_ path: String, _ priority: Operation.QueuePriority) -> Operation {
            let url = URL(string: "https://a.example/\(path)")!
            let request = Get<Data>().modified { $0.http = HTTPRequest(url: url) }.priority(priority)
            let operation = queue.makeOperation(for: request)
            operation.start()
            return operation
        }
        let first = add("first", .normal)
        await first.end()
        let low = add("low", .veryLow)
        _ = await clock.sleeps.first(1)
        let high = add("high", .veryHigh)
        clock.advance(by: .seconds(1))
        _ = await sent.first(2)
        _ = await clock.sleeps.first(2)
        clock.advance(by: .seconds(1))
        _ = await sent.first(3)
        for operation in [low, high] { await operation.end() }

        #expect(sent.elements == ["/first", "/high", "/low"])
    }

    @Test func cancelledWaitingRequestTakesNoToken() async {
        let gate = Gate()
        let sent = Recorder<Void>()
        let transport = InMemoryTransport { _ in
            sent.record(())
            return .status(.ok).held(by: gate)
        }
        let queue = TestQueue(transport) { $0.hostLimiter = HostLimiter(limit: 1) }
        let first = queue.addRequest(request())
        _ = await sent.first(1)
        let second = queue.addRequest(request())
        let third = queue.addRequest(request())

        second.cancel()
        await second.end()
        gate.open()
        for operation in [first, third] { await operation.end() }

        #expect(second.result?.error?.code == .cancelled && third.result?.error == nil && sent.count == 2)
    }

    @Test func cancellationReleasesSlotAtAnyTime() async {
        let limiter = HostLimiter(limit: 1)
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok) }) { $0.hostLimiter = limiter }

        for round in 0..<Scale.races {
            let operations = (0..<4).map { _ in queue.addRequest(request()) }
            DispatchQueue.global().async { operations[round % 4].cancel() }
            for operation in operations { await operation.end() }
        }

        let last = queue.addRequest(request())
        await last.end()
        #expect(last.result?.error == nil)
    }
}
