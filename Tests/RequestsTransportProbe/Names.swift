// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Requests addresses with names that no name server answers, and counts the resources.
///
/// The arguments are the number of requests, the number of names, and the maximum number of threads. It prints the
/// actual maximum, and ends with 1 if that was higher, or if descriptors are left open.
func askSilentNames(_ arguments: [String]) async throws {
    let numbers = arguments.compactMap(Int.init)
    guard numbers.count == 3 else {
        print("usage: RequestsTransportProbe names <requests> <names> <threads>")
        exit(64)
    }
    func entries(_ folder: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0 }
    let before = entries("/proc/self/fd")
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = numbers[0]
    let operations = (0..<numbers[0]).map { number in
        let url = URL(string: "http://name-\(number % numbers[1]).example/") ?? URL(fileURLWithPath: "/")
        return queue.addRequest(Fetch(url: url, timeout: 2))
    }

    var (threads, descriptors) = (0, 0)
    while operations.contains(where: { !$0.isFinished }) {
        threads = max(threads, entries("/proc/self/task"))
        descriptors = max(descriptors, entries("/proc/self/fd"))
        try await Task.sleep(for: .milliseconds(20))
    }
    let codes = Set(operations.map { "\(($0.result?.failure as? RequestError)?.code ?? .other)" })
    print("\(numbers[0]) requests for \(numbers[1]) names: \(codes.sorted().joined(separator: ", "));", terminator: " ")
    print("at most \(threads) threads; \(before) descriptors before, \(descriptors) at most")
    exit(threads <= numbers[2] && descriptors <= before + 2 * numbers[1] + 8 ? 0 : 1)
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
