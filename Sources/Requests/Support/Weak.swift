// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A reference that doesn't retain its object; as a value, a closure captures it without a box.
struct Weak<Object: AnyObject & Sendable>: Sendable {
    private(set) weak var object: Object?

    init(_ object: Object?) {
        self.object = object
    }
}
