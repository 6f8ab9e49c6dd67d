// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A value behind a reference.
///
/// Generic code that keeps a value or hands it on has to find out first what it is made of, each time: that takes longer
/// than to do it. A reference is of one size, whatever is behind it, and a copy of it is cheap.
final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
