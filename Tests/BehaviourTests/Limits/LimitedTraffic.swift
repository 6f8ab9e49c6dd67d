// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting

/// The requests of a rate-limited or host-limited client, and the order in which they are sent.
final class LimitedTraffic: Sendable {
    /// The numbers of the requests, in the order in which they were sent.
    let sent: Recorder<Int>
    let client: HTTPClient

    init(
        _ configure: (inout RequestEnvironment) -> Void,
        answer: @escaping @Sendable (Int) -> StubResponse = { _ in .status(.ok) }
    ) {
        let sent = Recorder<Int>()
        self.sent = sent
        let transport = InMemoryTransport(recordsRequests: false) { request in
            let id = Int(request.url.lastPathComponent) ?? -1
            sent.record(id)
            return answer(id)
        }
        client = HTTPClient(transport: transport, configure)
    }

    static func request(_ id: Int) -> HTTPRequest { HTTPRequest(url: URL(string: "https://a.example/\(id)")!) }

    func fetch(_ id: Int) async throws { _ = try await client.fetch(Self.request(id)) }

    /// Starts a request on this thread: when this method returns, the request is sent or queued.
    @discardableResult
    func start(_ id: Int, _ priority: Operation.QueuePriority = .normal) -> HTTPRequest.OperationType {
        let operation = client.makeOperation(for: Self.request(id))
        operation.queuePriority = priority
        operation.start()
        return operation
    }
}

/// A clock that jumps to the end of each sleep, so that its time is the total sleep time.
final class LeapingClock: Clock {
    private let time = Locked(ManualClock.Instant())

    var now: ManualClock.Instant { time.withLock { $0 } }
    var elapsed: Duration { now.offset }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        time.withLock { $0 = max($0, deadline) }
    }

    func advance(by duration: Duration) {
        time.withLock { $0 = $0.advanced(by: duration) }
    }
}
