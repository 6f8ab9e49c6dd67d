// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A reference that doesn't retain its object; as a value, a closure captures it without a box.
struct Weak<Object: AnyObject & Sendable>: Sendable {
    private(set) weak var object: Object?

    init(_ object: Object?) {
        self.object = object
    }
}

/// A value behind a reference.
///
/// Boxing avoids repeated work with witness tables in generic code that stores or passes on large values. A reference
/// has one size, whatever is behind it, and a copy of it is cheap.
final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// A value that can't be compared, such as a closure, compared by where it comes from: copies of one are equal.
struct Identified<Value: Sendable>: Sendable, Hashable {
    private let box: Box<Value>

    init(_ value: Value) {
        box = Box(value)
    }

    var value: Value { box.value }

    static func == (one: Identified, other: Identified) -> Bool { one.box === other.box }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box)) }
}

/// A value that takes no part in the comparison of the value that it belongs to.
struct Uncompared<Value: Sendable>: Sendable, Hashable {
    var value: Value

    static func == (one: Uncompared, other: Uncompared) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
