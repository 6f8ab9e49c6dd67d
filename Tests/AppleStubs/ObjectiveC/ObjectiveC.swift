// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Stands in for Apple's module ObjectiveC in Scripts/apple-check: what the sources use of it, and no more.
// Nothing of it is ever run.

public struct Selector {
    /// Stands for `#selector`, which Swift doesn't know on Linux.
    public init(_ method: () -> Void) {}
}

public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
