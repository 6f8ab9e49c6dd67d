// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestConvertible {
    /// Runs the request on a client, and waits for its value.
    ///
    /// ```swift
    /// let user = try await Get<User>("users", "1").fetch(on: client)
    /// ```
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameter client: What runs it; ``HTTPClient/shared`` by default, which needs an absolute address.
    /// - Returns: What came of the request.
    /// - Throws: The failure of the request.
    public func fetch(on client: HTTPClient = .shared) async throws(Failure) -> Success {
        try await client.fetch(self)
    }

    /// Runs the request on a client, and waits for its value together with the response that it was made of.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Parameter client: What runs it; ``HTTPClient/shared`` by default, which needs an absolute address.
    /// - Returns: The response, with what came of the request as its body.
    /// - Throws: The failure of the request.
    public func send(on client: HTTPClient = .shared) async throws(Failure) -> HTTPResponse<Success> {
        try await client.send(self)
    }
}

extension HTTPRequest {
    /// Runs the request on a client, and waits for the value that the JSON of the answer says.
    ///
    /// ```swift
    /// let todo = try await HTTPRequest("https://api.example.com/todos/1").fetch(Todo.self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: What the content decodes to.
    ///   - client: What runs it; ``HTTPClient/shared`` by default, which needs an absolute address.
    ///   - decoder: Makes the decoder; by default the client's.
    /// - Returns: The value.
    /// - Throws: The failure of the request.
    public func fetch<Value: Decodable & Sendable>(
        _ type: Value.Type,
        on client: HTTPClient = .shared,
        decoder: (@Sendable () -> JSONDecoder)? = nil
    ) async throws(RequestError) -> Value {
        try await client.fetch(decoding(decoder.map { .json(type, decoder: $0()) } ?? .json))
    }
}
