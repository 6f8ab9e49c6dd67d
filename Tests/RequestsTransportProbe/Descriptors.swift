// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Uses up all descriptors, and then connects to a server without a free one.
///
/// The arguments are the ports of two servers, the first of which responds after a number of requests, and that number.
func connectWithoutDescriptors(_ arguments: [String]) async throws {
    let numbers = arguments.compactMap(Int.init)
    guard numbers.count == 3 else {
        print("usage: RequestsTransportProbe descriptors <port> <other port> <number>")
        exit(64)
    }
    func url(_ port: Int) -> URL { URL(string: "http://127.0.0.1:\(port)/") ?? URL(fileURLWithPath: "/") }
    let queue = OperationQueue()
    // As many connections at once.
    queue.maxConcurrentOperationCount = numbers[2]
    try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<numbers[2] {
            let address = url(numbers[0]).appending(path: "\(number)")
            group.addTask { _ = try await queue.fetch(Fetch(url: address)) }
        }
        try await group.waitForAll()
    }

    // The descriptors that are open now are all that are available.
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let last = dup(0)
    limit.rlim_cur = rlim_t(last + 1)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    while dup(0) >= 0 {}

    _ = try await queue.fetch(Fetch(url: url(numbers[1])))
    exit(0)
}
