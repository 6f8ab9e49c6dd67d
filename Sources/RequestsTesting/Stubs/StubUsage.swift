// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// What a stub does and has done: which answer is whose, how many it gives, and how many are expected.
struct StubUsage: Sendable {
    typealias Responder = @Sendable (StubbedRequest) async throws -> StubResponse

    /// How often a stub is expected to answer.
    struct Expectation: Sendable {
        let description: String
        let isMet: @Sendable (Int) -> Bool
    }

    /// One for each request in turn; the last one also for all that come later.
    var responders: [Responder] = []
    /// How many requests are answered; nil for all.
    var limit: Int?
    var expectation: Expectation?
    private(set) var requests: [StubbedRequest] = []

    /// Takes a request that fulfils every condition; nil where the stub has answered as many as it may.
    mutating func claim(_ request: StubbedRequest) -> Responder? {
        if let limit, requests.count >= limit { return nil }
        let index = requests.count
        requests.append(request)
        guard let last = responders.last else { return { _ in .status(.ok) } }
        return responders.indices.contains(index) ? responders[index] : last
    }

    /// What isn't as expected, in words; nil where all is.
    var complaint: String? {
        guard let expectation, !expectation.isMet(requests.count) else { return nil }
        return "answered \(requests.count), expected \(expectation.description)"
    }
}
