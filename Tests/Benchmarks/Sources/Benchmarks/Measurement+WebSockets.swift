// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import CCounting
import Foundation
import Requests
import RequestsTesting
import RequestsWebSockets

// Messages over a socket, to a server in the same process: the counts include the server's half, which is the same.
extension Measurement {
    static let webSockets: [Measurement] = [
        Measurement(name: "socket-echo") {
            let server = try MockServer { _ in .webSocket { try $0.echo() } }
            defer { server.stop() }
            let client = HTTPClient(baseURL: server.url)
            return try blocking {
                let socket = try await client.webSocket("")
                try await echo(200, over: socket)
                let (cpu, start) = (Usage.processorTime(), ContinuousClock.now)
                try await echo(10_000, over: socket)
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                var usage = Usage(seconds: seconds, cpuSeconds: Usage.processorTime() - cpu, count: 10_000)
                ccounting_start_allocations()
                try await echo(1_000, over: socket)
                usage.allocations = ccounting_stop_allocations() * 10
                ccounting_start_locks()
                try await echo(1_000, over: socket)
                usage.locks = ccounting_stop_locks() * 10
                await socket.close()
                return usage
            }
        }
    ]

    private static func echo(_ count: Int, over socket: WebSocket) async throws {
        let message = Data(repeating: 7, count: 64)
        var answers = socket.messages.makeAsyncIterator()
        for _ in 0..<count {
            try await socket.send(message)
            guard try await answers.next() == .data(message) else { throw CocoaError(.fileReadCorruptFile) }
        }
    }

    /// Runs an asynchronous closure, and waits for it.
    static func blocking(_ body: @escaping @Sendable () async throws -> Usage) throws -> Usage {
        let (done, result) = (DispatchSemaphore(value: 0), Guarded<Result<Usage, any Error>?>(nil))
        Task.detached {
            do {
                let usage = try await body()
                result.withLock { $0 = .success(usage) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            done.signal()
        }
        done.wait()
        guard let usage = try result.withLock({ $0 })?.get() else { throw CancellationError() }
        return usage
    }
}
