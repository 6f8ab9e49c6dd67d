// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A value that is a header field: a type of your own that stands in a ``HeadersBuilder``.
///
/// ```swift
/// struct TraceID: HTTPFieldConvertible {
///     let id: UUID
///     var field: HTTPField { HTTPField("X-Trace-ID", id.uuidString) }
/// }
/// ```
public protocol HTTPFieldConvertible {
    /// The field.
    var field: HTTPField { get }
}

extension Authorization: HTTPFieldConvertible {
    /// The field of its name.
    public var field: HTTPField { .authorization(self) }
}

extension CacheControl: HTTPFieldConvertible {
    /// The field of its name.
    public var field: HTTPField { .cacheControl(self) }
}
