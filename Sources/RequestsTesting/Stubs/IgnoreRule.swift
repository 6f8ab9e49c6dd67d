// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A rule of an ``HTTPStubber``, by which requests go to the network.
///
/// Made by ``HTTPStubber/ignore(_:)``; it is of use to whoever takes the rule back again.
public final class IgnoreRule: Sendable, CustomStringConvertible {
    let conditions: [StubCondition]

    init(_ conditions: [StubCondition]) {
        self.conditions = conditions
    }

    /// What the rule lets through, such as `host cdn.example.com`.
    public var description: String { conditions.summary }
}
