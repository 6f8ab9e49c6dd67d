// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import Requests

// The cost of an operation: the same JSON response awaited over the transport alone, through a queue, through a client,
// and by a rival.
extension Measurement {
    static let engine: [Measurement] = [1, 8, 64].flatMap { width in
        [
            Measurement(name: "engine-transport-\(width)") {
                try FetchLoad(width: width, count: 40_000).measure { url in
                    let data = await withCheckedContinuation { continuation in
                        collect(url) { continuation.resume(returning: $0) }
                    }
                    _ = try JSONDecoder().decode(Todo.self, from: data)
                }
            },
            // The least that an operation on a queue can cost: no request type, no policy, no error, no cancellation.
            Measurement(name: "engine-bare-operation-\(width)") {
                let queue = OperationQueue()
                queue.maxConcurrentOperationCount = width
                return try FetchLoad(width: width, count: 40_000).measure { url in
                    let data = await withCheckedContinuation { continuation in
                        queue.addOperation(
                            BareOperation(work: { end in
                                collect(url) { data in
                                    end()
                                    continuation.resume(returning: data)
                                }
                            })
                        )
                    }
                    _ = try JSONDecoder().decode(Todo.self, from: data)
                }
            },
            Measurement(name: "engine-queue-\(width)") {
                let queue = OperationQueue()
                queue.maxConcurrentOperationCount = width
                return try FetchLoad(width: width, count: 40_000).measure { url in
                    _ = try await queue.fetch(TodoRequest(url: url))
                }
            },
            Measurement(name: "engine-client-\(width)") {
                let client = HTTPClient(maxConcurrentRequests: width)
                return try FetchLoad(width: width, count: 40_000).measure { url in
                    _ = try await client.fetch(TodoRequest(url: url))
                }
            },
            // A typed value with a path, which the client appends to its base URL.
            Measurement(name: "engine-get-\(width)") {
                let load = FetchLoad(width: width, count: 40_000)
                return try load.measure(makeFetch: { url in
                    let base = url.deletingLastPathComponent()
                    let client = HTTPClient(baseURL: base, maxConcurrentRequests: width)
                    let name = url.lastPathComponent
                    return { _ in _ = try await client.fetch(Get<Todo>("\(name)")) }
                })
            },
            Measurement(name: "async-http-client-\(width)") {
                let client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .singleton)
                defer { try? client.syncShutdown() }
                return try FetchLoad(width: width, count: 20_000).measure { url in
                    // As in its documentation.
                    let request = HTTPClientRequest(url: url.absoluteString)
                    let response = try await client.execute(request, timeout: .seconds(30))
                    let body = try await response.body.collect(upTo: 1 << 20)
                    _ = try JSONDecoder().decode(Todo.self, from: body)
                }
            },
        ]
    }
}

/// Keeps a number of tasks busy, each of which awaits one response after the other, until a count is reached.
struct FetchLoad: Sendable {
    let width: Int
    let count: Int

    /// Warms up, then measures the time, and then, since counting takes time, the allocations and the locks.
    func measure(
        _ kind: LoopbackServer.Kind = .plain,
        _ fetch: @escaping @Sendable (URL) async throws -> Void
    ) throws -> Usage {
        try measure(kind) { _ in fetch }
    }

    /// Does the same with a closure that is made for the address of the server.
    func measure(
        _ kind: LoopbackServer.Kind = .plain,
        makeFetch: (URL) -> @Sendable (URL) async throws -> Void
    ) throws -> Usage {
        let server = try LoopbackServer(kind)
        defer { server.stop() }
        let url = server.url
        let fetch = makeFetch(url)
        wait(width * 20, url, fetch)
        var usage = Usage.measure(count: count) { wait(count, url, fetch) }
        let few = count / 10
        usage.allocations = Usage.allocations { wait(few, url, fetch) } * 10
        usage.locks = Usage.locks { wait(few, url, fetch) } * 10
        return usage
    }

    /// Measures the time from the first request on, without anything before it.
    func measureCold(
        _ kind: LoopbackServer.Kind,
        _ fetch: @escaping @Sendable (URL) async throws -> Void
    ) throws -> Usage {
        let server = try LoopbackServer(kind)
        defer { server.stop() }
        return Usage.measure(count: count) { wait(count, server.url, fetch) }
    }

    func wait(_ count: Int, _ url: URL, _ fetch: @escaping @Sendable (URL) async throws -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await run(count, url, fetch)
            done.signal()
        }
        done.wait()
    }

    private func run(_ count: Int, _ url: URL, _ fetch: @escaping @Sendable (URL) async throws -> Void) async {
        let rest = Guarded(count)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    while rest.withLock({ rest in
                        rest -= 1
                        return rest >= 0
                    }) {
                        do { try await fetch(url) } catch { fatalError("a request failed: \(error)") }
                    }
                }
            }
        }
    }
}
