// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A value that can't be compared, such as a closure, compared by where it comes from: copies of one are equal.
struct IdentityEquatable<Value: Sendable>: Sendable, Hashable {
    private let box: Box<Value>

    init(_ value: Value) {
        box = Box(value)
    }

    var value: Value { box.value }

    static func == (one: IdentityEquatable, other: IdentityEquatable) -> Bool { one.box === other.box }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box)) }
}
