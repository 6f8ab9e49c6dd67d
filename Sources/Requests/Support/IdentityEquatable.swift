// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Wraps any value, even a closure, and compares it by identity, so only copies of the same wrapper are equal.
struct IdentityEquatable<Value: Sendable>: Sendable, Hashable {
    private let box: Box<Value>

    init(_ value: Value) {
        box = Box(value)
    }

    var value: Value { box.value }

    static func == (one: IdentityEquatable, other: IdentityEquatable) -> Bool { one.box === other.box }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box)) }
}
