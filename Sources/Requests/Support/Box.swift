// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A reference to an immutable value.
///
/// Boxing speeds up generic code that stores or passes large values. A reference is cheap to copy, needs no witness
/// tables, and has the same size for any value.
final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
