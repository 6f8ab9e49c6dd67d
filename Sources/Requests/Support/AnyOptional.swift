// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An optional whose wrapped type is known only at run time.
protocol AnyOptional {
    static var empty: Self { get }
    var wrapped: Any? { get }
}

extension Optional: AnyOptional {
    static var empty: Wrapped? { nil }
    var wrapped: Any? { self }
}
