// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The state of a stub: its responders, its limit and expectation, and the requests that it has taken.
struct StubUsage: Sendable {
    /// The source of a response.
    enum Responder: Sendable {
        case ready(StubResponse)
        case made(@Sendable (StubbedRequest) async throws -> StubResponse)
    }

    /// The result for a request that meets every condition.
    enum Claim: Sendable {
        case answer(Responder)
        /// The stub's responses aren't set yet.
        case unanswered
        /// The stub has responded as often as it may.
        case spent
    }

    /// The expected number of requests of a stub.
    struct Expectation: Sendable {
        let description: String
        let isMet: @Sendable (Int) -> Bool
    }

    /// One responder for each request in turn, the last of which repeats; `nil` until they are set.
    var responders: [Responder]?
    /// The maximum number of requests; `nil` for no limit.
    var limit: Int?
    var expectation: Expectation?
    private(set) var requests: [StubbedRequest] = []

    /// Takes a request that meets every condition, unless the stub has no response for it.
    mutating func claim(_ request: StubbedRequest) -> Claim {
        guard let responders else { return .unanswered }
        if let limit, requests.count >= limit { return .spent }
        let index = requests.count
        requests.append(request)
        guard let last = responders.last else { return .answer(.ready(.status(.ok))) }
        return .answer(responders.indices.contains(index) ? responders[index] : last)
    }

    /// The unmet expectation in words; `nil` if it is met.
    var complaint: String? {
        guard let expectation, !expectation.isMet(requests.count) else { return nil }
        return "answered \(requests.count), expected \(expectation.description)"
    }
}

/// The error of a request that no stub matches, with the nearest stubs and their mismatches.
///
/// The request ends with it, unless ``HTTPStubber/unhandledMode`` lets the request through. It is the `underlying` of a
/// `RequestError` of code `unsupported`; in a session without this library, its text is that of a `URLError`.
///
/// ```text
/// no stub is meant for POST https://api.example.com/login
/// - stub method GET, path /login: the method is POST
/// ```
///
/// Content and the values of parameters and header fields aren't shown, since they may be secrets.
public struct UnhandledRequest: ExplainedError, Sendable, CustomStringConvertible, LocalizedError {
    /// A stub and its mismatches.
    public struct Candidate: Sendable, Hashable {
        /// The conditions of the stub in words.
        public let stub: String
        /// The unmet conditions, a few words for each.
        public let mismatches: [String]
    }

    /// The request.
    public let request: StubbedRequest
    /// The stubs that came nearest: those with the fewest mismatches, at most three.
    public let nearest: [Candidate]

    init(_ request: StubbedRequest, candidates: [Candidate]) {
        self.request = request
        // Sorted by position too, since sorting alone may reorder equally near stubs.
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

    /// The error, for the user.
    public var errorDescription: String? { description }

    package var explanation: String { description.replacing("\n", with: " ") }
}

/// The error of ``HTTPStubber/verify()``, with the stubs that weren't called as often as expected.
public struct UnmetExpectations: Error, Sendable, CustomStringConvertible {
    /// One sentence for each stub, such as `stub method POST, path /login: answered 0, expected 1`.
    public let complaints: [String]

    /// The sentences of all stubs, a line each.
    public var description: String { complaints.joined(separator: "\n") }
}
