// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Keeps a number of requests in flight until a count is reached.
struct Load: Sendable {
    /// Gets a URL, and reports whether the response was right.
    typealias Get = @Sendable (URL, @escaping @Sendable (Bool) -> Void) -> Void

    let width: Int
    let count: Int

    /// Warms up, then measures.
    func measure(_ get: @escaping Get) throws -> Usage {
        let server = try LoopbackServer()
        defer { server.stop() }
        run(width * 20, server.url, get)
        return Usage.measure(count: count) { run(count, server.url, get) }
    }

    private func run(_ count: Int, _ url: URL, _ get: @escaping Get) {
        let rest = Guarded(count)
        let done = DispatchGroup()
        for _ in 0..<min(width, count) {
            done.enter()
            Self.next(rest, url, get, done)
        }
        done.wait()
    }

    private static func next(_ rest: Guarded<Int>, _ url: URL, _ get: @escaping Get, _ done: DispatchGroup) {
        let goesOn = rest.withLock { rest in
            rest -= 1
            return rest >= 0
        }
        guard goesOn else { return done.leave() }
        get(url) { succeeded in
            guard succeeded else { fatalError("a request failed") }
            next(rest, url, get, done)
        }
    }
}
