// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

// The cost of a client's features for each request: its environment, sharing, and interceptors.
extension Measurement {
    static let client: [Measurement] = pipelines + coalescing + chains + counts

    // MARK: The default environment

    private static let pipelines: [Measurement] = [
        Measurement(name: "client-default-10000") {
            let client = HTTPClient(transport: InMemoryTransport.counting())
            return all(10_000) { client.addRequest(CountRequest(number: $0), completion: $1) }
        },
        Measurement(name: "client-without-cookies-10000") {
            let client = HTTPClient(transport: InMemoryTransport.counting()) { $0.cookies = nil }
            return all(10_000) { client.addRequest(CountRequest(number: $0), completion: $1) }
        },
        Measurement(name: "client-queue-10000") {
            let queue = OperationQueue()
            let transport = InMemoryTransport.counting()
            return all(10_000) { queue.addRequest(CountRequest(number: $0), session: transport, completion: $1) }
        },
    ]

    private typealias Completion = @Sendable (Result<Int, any Error>) -> Void

    /// Runs requests to the last completion, after a tenth of them to warm up.
    private static func all(_ count: Int, _ add: (Int, @escaping Completion) -> Void) -> Usage {
        func run(_ count: Int) {
            let done = DispatchGroup()
            for number in 0..<count {
                done.enter()
                add(number) { result in
                    guard case .success = result else { fatalError("a request failed") }
                    done.leave()
                }
            }
            done.wait()
        }
        run(count / 10)
        return Usage.measure(count: count) { run(count) }
    }

    // MARK: One transfer for many

    private static let coalescing: [Measurement] = [
        Measurement(name: "shared-late-1") { shared(1, over: .late) },
        Measurement(name: "shared-late-100") { shared(100, over: .late) },
        Measurement(name: "shared-100") { shared(100, over: .counting()) },
        Measurement(name: "alone-100") { shared(100, over: .counting(), coalescing: false) },
        Measurement(name: "bare-100") {
            let queue = OperationQueue()
            return together(
                100,
                isSuspended: { queue.isSuspended = $0 },
                add: { done in queue.addOperation(BareOperation { _ in done() }) }
            )
        },
    ]

    private static func shared(_ count: Int, over transport: InMemoryTransport, coalescing: Bool = true) -> Usage {
        let client = HTTPClient(transport: transport)
        return together(
            count,
            isSuspended: { client.isSuspended = $0 },
            add: { done in client.addRequest(CountRequest(number: 1), coalescing: coalescing) { _ in done() } }
        )
    }

    /// Adds equal requests while none runs, so that they certainly share a transfer, and waits for all; repeatedly.
    private static func together(
        _ count: Int,
        isSuspended: (Bool) -> Void,
        add: (@escaping @Sendable () -> Void) -> Void
    ) -> Usage {
        let rounds = 100
        func run() {
            let done = DispatchGroup()
            isSuspended(true)
            for _ in 0..<count {
                done.enter()
                add { done.leave() }
            }
            isSuspended(false)
            done.wait()
        }
        run()
        return Usage.measure(count: rounds) { for _ in 0..<rounds { run() } }
    }

    // MARK: Interceptors

    private static let chains: [Measurement] = [0, 1, 5, 10].map { length in
        Measurement(name: "chain-\(length)-1000") {
            let client = HTTPClient(transport: InMemoryTransport.counting()) { environment in
                for number in 0..<length {
                    environment.interceptors.append(
                        .adapting { $0.headers.set("\(number)", for: HTTPField.Name("X-\(number)")) }
                    )
                    environment.validators.append(.closure { _, _ in .accept })
                }
            }
            return all(1_000) { client.addRequest(CountRequest(number: $0), completion: $1) }
        }
    }

    // MARK: Allocations and locks

    private static let counts: [Measurement] = CountedFetch.allCases.map { fetch in
        Measurement(name: "count-\(fetch)") {
            let usage = Guarded(Usage())
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                do {
                    let cost = try await fetch.measure()
                    usage.withLock { ($0.allocations, $0.locks) = (cost.allocations, cost.locks) }
                } catch { fatalError("a request failed: \(error)") }
                done.signal()
            }
            done.wait()
            return usage.withLock { $0 }
        }
    }
}
