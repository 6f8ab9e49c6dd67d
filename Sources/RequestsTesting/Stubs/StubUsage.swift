// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The state of a stub: its responders, its limit and expectation, and the requests that it has taken.
struct StubUsage: Sendable {
    /// The source of a response.
    enum Responder: Sendable {
        case fixed(StubResponse)
        case computed(@Sendable (ReceivedRequest) async throws -> StubResponse)
    }

    /// The result for a request.
    enum Claim: Sendable {
        /// The stub responds to the request, which has the variables of its conditions.
        case matched(ReceivedRequest, Responder)
        /// The request goes to the network.
        case passThrough
        /// The stub doesn't respond to the request, for these reasons.
        case skipped([String])
    }

    /// One responder for each request in turn, the last of which repeats; `nil` until they are set.
    var responders: [Responder]?
    /// Whether requests go to the network.
    var passesThrough = false
    /// The maximum number of requests; `nil` for no limit.
    var limit: Int?
    /// The expected number of requests.
    var expectation: (description: String, isMet: @Sendable (Int) -> Bool)?
    private(set) var requests: [ReceivedRequest] = []

    /// Takes a request that meets every condition, unless the stub has no response for it.
    mutating func claim(_ request: ReceivedRequest) -> Claim {
        guard passesThrough || responders != nil else { return .skipped(["its response isn't set yet"]) }
        if let limit, requests.count >= limit { return .skipped(["it has answered as often as it may"]) }
        let index = requests.count
        requests.append(request)
        guard !passesThrough else { return .passThrough }
        guard let responders, let last = responders.last else { return .matched(request, .fixed(.status(.ok))) }
        return .matched(request, responders.indices.contains(index) ? responders[index] : last)
    }

    /// The unmet expectation in words; `nil` if it is met.
    var complaint: String? {
        guard let expectation, !expectation.isMet(requests.count) else { return nil }
        return "was called \(requests.count) times, expected \(expectation.description)"
    }
}

/// The error of a request that no stub matches, with the nearest stubs and their mismatches.
///
/// The request ends with it, unless ``HTTPStubber/unhandledMode`` lets the request through. It is the `underlying` of a
/// `RequestError` of code `notStubbed`; in a session without this library, its text is that of a `URLError`.
///
/// ```text
/// no stub matches POST https://api.example.com/login
/// - stub method GET, path /login (AppTests/LoginTests.swift:12): the method is POST
/// ```
///
/// Content isn't shown, nor are values whose names mark them as secrets.
public struct UnhandledRequest: ExplainedError, DescribedError, Sendable {
    /// The request.
    public let request: ReceivedRequest
    /// The request, and a line for each of the nearest stubs, at most three.
    public let description: String

    init(_ request: ReceivedRequest, candidates: [(stub: HTTPStub, mismatches: [String])], at callSite: CallSite) {
        self.request = request
        // Sorted by position too, since sorting alone may reorder equally near stubs.
        let sorted = candidates.enumerated().sorted {
            ($0.element.mismatches.count, $0.offset) < ($1.element.mismatches.count, $1.offset)
        }
        let lines = sorted.prefix(3).map { _, candidate in
            "- stub \(candidate.stub): \(candidate.mismatches.map { $0.shortened(to: 200) }.joined(separator: "; "))"
        }
        description = (["no stub matches \(request)"] + (lines.isEmpty ? ["- \(callSite): no stubs"] : lines))
            .joined(separator: "\n")
    }
}

extension RequestError.Code {
    /// A test has no stub for the request; the underlying ``UnhandledRequest`` names the nearest ones.
    public static let notStubbed = RequestError.Code("notStubbed", .callerError)
}

/// The error of ``HTTPStubber/verify(file:line:)`` and of an expectation about requests.
public struct UnmetExpectations: DescribedError, Sendable {
    /// One text for each, beginning with its callSite in the test: `AppTests/LoginTests.swift:12: the stub …`.
    public let complaints: [String]

    /// All of them, a line each.
    public var description: String { complaints.joined(separator: "\n") }
}
