// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The state of a stub: its responders, its limit and expectation, and the requests that it has received.
struct StubUsage: Sendable {
    /// A fixed response, or a closure that computes one.
    enum Responder: Sendable {
        case fixed(StubResponse)
        case computed(@Sendable (ReceivedRequest) async throws -> StubResponse)
    }

    /// The outcome of offering a request to a stub.
    enum Claim: Sendable {
        /// The stub responds; the request includes the variables of the stub's URI templates.
        case matched(ReceivedRequest, Responder)
        /// The stub sends the request over the network.
        case passThrough
        /// The stub doesn't respond, for these reasons.
        case skipped([String])
    }

    /// The responders of the first, second and further requests, the last of which repeats; `nil` until they are set.
    var responders: [Responder]?
    /// Whether the stub sends its requests over the network.
    var passesThrough = false
    /// The maximum number of requests; `nil` for no limit.
    var limit: Int?
    /// The expected number of requests.
    var expectation: (description: String, isMet: @Sendable (Int) -> Bool)?
    private(set) var requests: [ReceivedRequest] = []

    /// Records a request that meets every condition, and returns its responder, unless the stub is exhausted or not set
    /// up yet.
    mutating func claim(_ request: ReceivedRequest) -> Claim {
        guard passesThrough || responders != nil else { return .skipped(["its response hasn't been set yet"]) }
        if let limit, requests.count >= limit { return .skipped(["it has reached its maximum number of responses"]) }
        let index = requests.count
        requests.append(request)
        guard !passesThrough else { return .passThrough }
        guard let responders, let last = responders.last else { return .matched(request, .fixed(.status(.ok))) }
        return .matched(request, responders.indices.contains(index) ? responders[index] : last)
    }

    /// The description of an unmet expectation; `nil` if the expectation is met, or there is none.
    var complaint: String? {
        guard let expectation, !expectation.isMet(requests.count) else { return nil }
        return "was called \(requests.count.counting("time")), expected \(expectation.description)"
    }
}

/// The error of a request that no stub matches; it lists the nearest stubs and their mismatches.
///
/// The request fails with this error, unless ``HTTPStubber/unhandledMode`` sends it over the network. It is the
/// `underlying` error of a `RequestError` with the code `notStubbed`. A session without this library reports it as the
/// message of a `URLError`.
///
/// ```text
/// no stub matches POST https://api.example.com/login
/// - stub method GET, path /login (AppTests/LoginTests.swift:12): the method is POST
/// ```
///
/// The message doesn't show content, or values whose names mark them as secrets.
public struct UnhandledRequest: ExplainedError, DescribedError, Sendable {
    /// The request.
    public let request: ReceivedRequest
    /// The request, and up to three of the nearest stubs, one per line.
    public let description: String

    init(_ request: ReceivedRequest, candidates: [(stub: HTTPStub, mismatches: [String])], at callSite: CallSite) {
        self.request = request
        // The position breaks ties, because the sort isn't guaranteed to be stable.
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
    /// No stub matches the request; the underlying ``UnhandledRequest`` lists the nearest stubs.
    public static let notStubbed = RequestError.Code("notStubbed", .callerError)
}

/// The error that ``HTTPStubber/verify(file:line:)`` and `expect` throw if expectations aren't met.
public struct UnmetExpectations: DescribedError, Sendable {
    /// The unmet expectations, each with its source location in the test: `AppTests/LoginTests.swift:12: the stub …`.
    public let complaints: [String]

    /// All complaints, one per line.
    public var description: String { complaints.joined(separator: "\n") }
}
