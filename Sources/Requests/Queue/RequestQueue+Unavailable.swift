// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Names from other libraries. They are unavailable here, and the compiler's message names the replacement.

extension HTTPClient {
    /// Use `transport:`.
    @available(*, unavailable, message: "use `transport:`; any URLSession is a transport")
    public convenience init(
        baseURL: URL?,
        session: any HTTPTransport,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) {
        self.init(baseURL: baseURL, transport: session, configure)
    }

    /// Use `transport:`.
    @available(*, unavailable, message: "use `transport:`; any URLSession is a transport")
    public convenience init(
        baseURL: String,
        session: any HTTPTransport,
        _ configure: (inout RequestEnvironment) throws -> Void = { _ in }
    ) throws {
        try self.init(baseURL: baseURL, transport: session, configure)
    }
}

extension RequestQueue {
    /// Use `addRequest`.
    @available(*, unavailable, message: "use addRequest(_:) for an operation, or `try await fetch(_:)` for a value")
    public func add<R: NetworkRequest>(_ request: R) -> R.OperationType { makeOperation(for: request, nil) }

    /// Pass the request as a value.
    @available(*, unavailable, message: "pass the request as a value: fetch(Get<User>(\"users/1\"))")
    public func fetch<Value: Sendable>(_ path: String, as type: Value.Type) async throws -> Value {
        throw CancellationError()
    }

    /// Pass the request as a value.
    @available(*, unavailable, message: "pass the request as a value: fetch(Get<User>(\"users/1\"))")
    public func get(_ path: String) async throws -> Data { throw CancellationError() }
}
