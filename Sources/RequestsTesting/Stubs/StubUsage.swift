// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// What a stub does and has done: which answer is whose, how many it gives, and how many are expected.
struct StubUsage: Sendable {
    /// Where an answer comes from.
    enum Responder: Sendable {
        case ready(StubResponse)
        case made(@Sendable (StubbedRequest) async throws -> StubResponse)
    }

    /// What becomes of a request that fulfils every condition.
    enum Claim: Sendable {
        case answer(Responder)
        /// Nobody has said yet what the stub answers.
        case unanswered
        /// The stub has answered as many as it may.
        case spent
    }

    /// How often a stub is expected to answer.
    struct Expectation: Sendable {
        let description: String
        let isMet: @Sendable (Int) -> Bool
    }

    /// One for each request in turn, the last one also for all that come later; nil until it is said.
    var responders: [Responder]?
    /// How many requests are answered; nil for all.
    var limit: Int?
    var expectation: Expectation?
    private(set) var requests: [StubbedRequest] = []

    /// Takes a request that fulfils every condition, unless there is no answer to it.
    mutating func claim(_ request: StubbedRequest) -> Claim {
        guard let responders else { return .unanswered }
        if let limit, requests.count >= limit { return .spent }
        let index = requests.count
        requests.append(request)
        guard let last = responders.last else { return .answer(.ready(.status(.ok))) }
        return .answer(responders.indices.contains(index) ? responders[index] : last)
    }

    /// What isn't as expected, in words; nil where all is.
    var complaint: String? {
        guard let expectation, !expectation.isMet(requests.count) else { return nil }
        return "answered \(requests.count), expected \(expectation.description)"
    }
}
