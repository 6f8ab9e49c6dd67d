// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A value that takes no part in the comparison of the value that it belongs to.
struct IgnoredInEquality<Value: Sendable>: Sendable, Hashable {
    var value: Value

    static func == (one: IgnoredInEquality, other: IgnoredInEquality) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
