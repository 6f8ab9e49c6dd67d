// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

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
public struct UnhandledRequest: Error, Sendable, CustomStringConvertible {
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
}
