// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Wraps a stored property so that it is ignored when the enclosing value is compared or hashed.
struct IgnoredInEquality<Value: Sendable>: Sendable, Hashable {
    var value: Value

    static func == (one: IgnoredInEquality, other: IgnoredInEquality) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
