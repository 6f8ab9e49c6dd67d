// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// The error of ``HTTPStubber/verify()``: which stubs weren't called as they were expected to be.
public struct UnmetExpectations: Error, Sendable, CustomStringConvertible {
    /// One sentence for each stub, such as `stub method POST, path /login: answered 0, expected 1`.
    public let complaints: [String]

    /// All of them, a line each.
    public var description: String { complaints.joined(separator: "\n") }
}
