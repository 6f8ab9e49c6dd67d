// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

// What a client does besides, request by request: its environment, what is shared, what stands in between.
extension Measurement {
    static let client: [Measurement] = pipelines + coalescing + chains

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

    private static let coalescing: [Measurement] = [1, 100].map { count in
        Measurement(name: "coalesced-\(count)") {
            let rounds = 200
            let client = HTTPClient(transport: InMemoryTransport.counting())
            func run() {
                let done = DispatchGroup()
                // Added while nothing runs, so that it is certain that they share.
                client.isSuspended = true
                for _ in 0..<count {
                    done.enter()
                    client.addRequest(CountRequest(number: 1), coalescing: true) { _ in done.leave() }
                }
                client.isSuspended = false
                done.wait()
            }
            run()
            return Usage.measure(count: rounds) { for _ in 0..<rounds { run() } }
        }
    }

    // MARK: What stands in between

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
}
