// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import CCounting
import Foundation
import Requests

/// A fetch with recorded numbers of allocations and locks. They are exact: a single one more fails a test.
///
/// The benchmarks share this file, and compare the figures of a release build.
enum CountedFetch: String, CaseIterable {
    case queue = "queue.fetch, a custom request"
    case client = "client.fetch, a custom request"
    case get = "client.fetch, a Get"
    case intercepted = "client.fetch, with an interceptor and a retry policy"
    case timeout = "client.fetch, a Get with a timeout"

    struct Cost: Hashable, CustomStringConvertible {
        var allocations: Int
        var locks: Int

        var description: String { "\(allocations) allocations, \(locks) locks" }
    }

    /// The recorded cost. If you change it on purpose, record the new cost here, for both builds.
    ///
    /// An unoptimized build allocates much more, such as a box for a value of a generic type.
    var recorded: Cost {
        #if DEBUG
        switch self {
        case .queue: Cost(allocations: 194, locks: 21)
        case .client: Cost(allocations: 215, locks: 24)
        case .get: Cost(allocations: 215, locks: 24)
        case .intercepted: Cost(allocations: 306, locks: 32)
        case .timeout: Cost(allocations: 219, locks: 24)
        }
        #else
        switch self {
        case .queue: Cost(allocations: 38, locks: 21)
        case .client: Cost(allocations: 41, locks: 24)
        case .get: Cost(allocations: 41, locks: 24)
        case .intercepted: Cost(allocations: 66, locks: 32)
        case .timeout: Cost(allocations: 43, locks: 24)
        }
        #endif
    }

    /// Whether the recorded figures hold for this build: they depend on the compiler, Foundation and the C library.
    static var isComparable: Bool {
        #if os(Linux) && arch(x86_64) && compiler(>=6.3) && compiler(<6.4)
        ccounting_start_locks()
        return ccounting_stop_locks() >= 0
        #else
        return false
        #endif
    }

    /// Measures the cost of one fetch, in a process that does nothing else.
    ///
    /// The result is the lowest mean of several series, rounded. Whatever isn't part of every fetch only adds to some
    /// series: a new thread allocates about 35 times. Dispatch caches its blocks per thread, so while one thread always
    /// enqueues them and another always runs them, each fetch allocates two more. Rounding is for the locks at the end
    /// of an operation, which may fall into the next series, because the caller gets its result first.
    func measure() async throws -> Cost {
        let fetch = makeFetch()
        let count = 20
        for _ in 0..<50 { try await fetch() }
        var lowest = Cost(allocations: .max, locks: .max)
        for _ in 0..<20 {
            ccounting_start_allocations()
            ccounting_start_locks()
            for _ in 0..<count { try await fetch() }
            let (locks, allocations) = (ccounting_stop_locks(), ccounting_stop_allocations())
            lowest.allocations = min(lowest.allocations, (allocations + count / 2) / count)
            lowest.locks = min(lowest.locks, (locks + count / 2) / count)
        }
        return lowest
    }

    private func makeFetch() -> @Sendable () async throws -> Void {
        let (transport, url) = (DispatchTransport(), DispatchTransport.url)
        switch self {
        case .queue:
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            return { _ = try await queue.fetch(LengthRequest(url: url), session: transport) }
        case .client:
            let client = HTTPClient(maxConcurrentRequests: 1, transport: transport)
            return { _ = try await client.fetch(LengthRequest(url: url)) }
        case .get:
            let client = HTTPClient(baseURL: url, maxConcurrentRequests: 1, transport: transport)
            return { _ = try await client.fetch(Get<Data>("recipes")) }
        case .intercepted:
            let client = HTTPClient(maxConcurrentRequests: 1, transport: transport) {
                $0.interceptors.append(PassingInterceptor())
                $0.retry = .default
            }
            return { _ = try await client.fetch(LengthRequest(url: url)) }
        case .timeout:
            let client = HTTPClient(baseURL: url, maxConcurrentRequests: 1, transport: transport)
            return { _ = try await client.fetch(Get<Data>("recipes").timeout(10)) }
        }
    }
}

private struct PassingInterceptor: Interceptor {}

private struct LengthRequest: DataRequest {
    typealias Success = Int
    let url: URL
    var identifier: String { url.path }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: url)))
    }

    func processData(_ data: Data) throws -> Int { data.count }
}

/// Responds from another thread, as a network does, and allocates little.
private final class DispatchTransport: HTTPTransport {
    private final class Handle: TransferHandle {
        func cancel() {}
    }

    static let url = URL(string: "http://localhost/recipes")!
    private let head = HTTPResponseHead(status: 200, headers: ["Content-Type": "application/json"], url: url)
    private let content = Data(#"{"id":1}"#.utf8)

    var capabilities: TransportCapabilities { .concurrentDelivery }

    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        DispatchQueue.global().async { [head, content] in
            receive(.head(head))
            receive(.data(content))
            receive(.end(nil))
        }
        return Handle()
    }
}
