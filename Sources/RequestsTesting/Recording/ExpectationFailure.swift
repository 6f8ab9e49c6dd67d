// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// The error of an assertion: which request was expected, and what differs in the one that comes nearest.
///
/// ```text
/// no request is as expected: POST /users
/// the nearest of 2: POST https://api.example.com/users
/// - header Accept: expected application/json, was */*
/// - body.name: expected "Ada", was "Bob"
/// ```
///
/// Values of credentials, cookies and what else is a secret by its name aren't shown.
public struct ExpectationFailure: Error, Sendable, CustomStringConvertible {
    /// What was expected.
    public let expected: ExpectedRequest
    /// The request that comes nearest; nil where there was none at all.
    public let nearest: StubbedRequest?
    /// What differs in it.
    public let differences: [RequestDifference]
    /// How many requests there were.
    public let count: Int

    init(expected: ExpectedRequest, nearest: StubbedRequest?, differences: [RequestDifference], count: Int) {
        (self.expected, self.nearest, self.differences, self.count) = (expected, nearest, differences, count)
    }

    /// The request that was expected, and a line for each difference.
    public var description: String {
        guard let nearest else { return "no request is as expected: \(expected)\nthere was none" }
        let title =
            count == 1
            ? "the request isn't as expected: \(expected)\nit is: \(nearest)"
            : "no request is as expected: \(expected)\nthe nearest of \(count): \(nearest)"
        return ([title] + differences.map { "- \($0)" }).joined(separator: "\n")
    }
}
