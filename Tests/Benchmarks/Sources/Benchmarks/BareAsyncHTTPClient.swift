// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

/// AsyncHTTPClient as its documentation shows it, with the same decoding: a task for each request in flight.
enum BareAsyncHTTPClient {
    static func measure(width: Int, count: Int) throws -> Usage {
        let server = try LoopbackServer()
        defer { server.stop() }
        let url = server.url.absoluteString
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let done = DispatchSemaphore(value: 0)
        let usage = Guarded(Usage())
        Task.detached {
            await run(width * 20, width, url, client)
            let cpu = Usage.processorTime()
            let start = ContinuousClock.now
            await run(count, width, url, client)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            usage.withLock { $0 = Usage(seconds: seconds, cpuSeconds: Usage.processorTime() - cpu, count: count) }
            try? await client.shutdown()
            done.signal()
        }
        done.wait()
        return usage.withLock { $0 }
    }

    private static func run(_ count: Int, _ width: Int, _ url: String, _ client: HTTPClient) async {
        let rest = Guarded(count)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    while rest.withLock({ rest in
                        rest -= 1
                        return rest >= 0
                    }) {
                        do {
                            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
                            let body = try await response.body.collect(upTo: 1 << 20)
                            _ = try JSONDecoder().decode(Todo.self, from: body)
                        } catch {
                            fatalError("a request failed: \(error)")
                        }
                    }
                }
            }
        }
    }
}
