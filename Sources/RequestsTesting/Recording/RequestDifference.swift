// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A place where a request isn't as expected.
public struct RequestDifference: Sendable, Hashable, CustomStringConvertible {
    /// The place: `method`, `path`, `query page`, `header Accept`, `body.user.name`, `body[12]`.
    public let place: String
    /// What was expected there, shortened and without secrets; nil for nothing.
    public let expected: String?
    /// What was there, shortened and without secrets; nil for nothing.
    public let actual: String?

    /// The difference in a line, such as `header Accept: expected text/html, was */*`.
    public var description: String {
        switch (expected, actual) {
        case (let expected?, nil): "\(place): expected \(expected), is missing"
        case (nil, let actual?): "\(place): unexpected, was \(actual)"
        case (let expected?, let actual?) where expected == actual: "\(place): expected \(expected), was another value"
        case (let expected, let actual): "\(place): expected \(expected ?? "nothing"), was \(actual ?? "nothing")"
        }
    }
}
