// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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
