// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A weak reference as a value, which a closure can capture without an allocation.
struct Weak<Object: AnyObject & Sendable>: Sendable {
    private(set) weak var object: Object?

    init(_ object: Object?) {
        self.object = object
    }
}
