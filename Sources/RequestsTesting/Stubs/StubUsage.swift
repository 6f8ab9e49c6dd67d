// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
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

/// The error of a request that no stub is meant for: it tells which stubs came nearest, and why they aren't.
///
/// It is what a request ends with, unless ``HTTPStubber/unhandledMode`` lets it through: the `underlying` of a
/// `RequestError` of code `unsupported`, or in a session without this library the text of a `URLError`.
///
/// ```text
/// no stub is meant for POST https://api.example.com/login
/// - stub method GET, path /login: the method is POST
/// ```
///
/// Neither the values of parameters and header fields nor content are shown, since they may be secrets.
public struct UnhandledRequest: ExplainedError, Sendable, CustomStringConvertible, LocalizedError {
    /// A stub, and why it wasn't meant.
    public struct Candidate: Sendable, Hashable {
        /// What the stub is meant for.
        public let stub: String
        /// Why it isn't meant for the request, a few words for each condition that isn't met.
        public let mismatches: [String]
    }

    /// The request.
    public let request: StubbedRequest
    /// The stubs that came nearest: those with the fewest mismatches, at most three.
    public let nearest: [Candidate]

    init(_ request: StubbedRequest, candidates: [Candidate]) {
        self.request = request
        // By position too: sorting alone may change the order of those that are equally near.
        let sorted = candidates.enumerated().sorted {
            ($0.element.mismatches.count, $0.offset) < ($1.element.mismatches.count, $1.offset)
        }
        nearest = sorted.prefix(3).map(\.element)
    }

    /// The request, and a line for each of the nearest stubs.
    public var description: String {
        let lines = nearest.map { candidate in
            "- stub \(candidate.stub.shortened(to: 200)): "
                + candidate.mismatches.map { $0.shortened(to: 200) }.joined(separator: "; ")
        }
        return (["no stub is meant for \(request)"] + (lines.isEmpty ? ["- there are no stubs"] : lines))
            .joined(separator: "\n")
    }

    /// The error, for people.
    public var errorDescription: String? { description }

    package var explanation: String { description.replacing("\n", with: " ") }
}

/// The error of ``HTTPStubber/verify()``: which stubs weren't called as they were expected to be.
public struct UnmetExpectations: Error, Sendable, CustomStringConvertible {
    /// One sentence for each stub, such as `stub method POST, path /login: answered 0, expected 1`.
    public let complaints: [String]

    /// All of them, a line each.
    public var description: String { complaints.joined(separator: "\n") }
}
