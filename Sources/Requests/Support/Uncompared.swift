// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A value that takes no part in the comparison of the value that it belongs to.
struct Uncompared<Value: Sendable>: Sendable, Hashable {
    var value: Value

    static func == (one: Uncompared, other: Uncompared) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
