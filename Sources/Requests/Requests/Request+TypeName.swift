// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A type of requests that is known by another name than its own.
protocol NamedRequestType {
    /// The name that people know it by.
    static var typeName: String { get }
}

extension Request {
    /// The name of the type as monitors and pictures show it.
    static var shownTypeName: String {
        (Self.self as? any NamedRequestType.Type)?.typeName ?? String(describing: Self.self)
    }
}
