// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The operation of a ``DecodableRequest``: asks for JSON, where the request doesn't say what it accepts.
// Sendable: Operation demands that it be restated; nothing is added here.
open class DecodableOperation<R: DecodableRequest>: DataOperation<R>, @unchecked Sendable {
    /// Asks for JSON.
    ///
    /// - Throws: What a subclass throws.
    open override func prepare(_ request: inout HTTPRequest) throws {
        if !request.headers.contains(.accept) { request.headers[.accept] = "application/json" }
        try super.prepare(&request)
    }
}
