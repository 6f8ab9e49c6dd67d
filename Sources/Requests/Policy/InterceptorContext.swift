// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What an interceptor knows about the operation.
public struct InterceptorContext: Sendable {
    /// The identifier of the request.
    public let identifier: String
    /// Which try this is; 1 is the first, and redirects that are followed don't count.
    public let attempt: Int
    /// What relative addresses of the operation's environment are appended to; nil where there is nothing.
    ///
    /// Credentials that aren't a request's own belong to this origin, and to no other that a request may name.
    public let baseURL: URL?
    /// What was asked for, where a response is to be transformed; nil before there is one.
    public internal(set) var request: HTTPRequest?
    /// Whose refreshes the operation is a part of: they would wait for it, and so mustn't be waited for.
    let refreshing: Set<ObjectIdentifier>
    /// Makes the encoder of JSON for bodies that bring none; nil takes a plain one.
    var makeEncoder: (@Sendable () -> JSONEncoder)?
    /// Sends a request as the operation would; nil where there is no operation.
    var send: (@Sendable (HTTPRequest) async throws -> HTTPResponse<Data>)?
    /// Tells who watches the operation of its waiting; nil where nobody does.
    var report: (@Sendable (AuthenticationReport) -> Void)?
    /// What interceptors remember about the operation.
    let notes: InterceptorNotes

    /// Makes a context, for tests of an interceptor.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the request.
    ///   - attempt: Which try this is; 1 is the first.
    ///   - baseURL: What relative addresses are appended to; nil, the default, is nothing.
    public init(identifier: String, attempt: Int, baseURL: URL? = nil) {
        self.init(identifier: identifier, attempt: attempt, baseURL: baseURL, refreshing: [], notes: InterceptorNotes())
    }

    init(
        identifier: String,
        attempt: Int,
        baseURL: URL?,
        refreshing: Set<ObjectIdentifier>,
        notes: InterceptorNotes
    ) {
        self.identifier = identifier
        self.attempt = attempt
        self.baseURL = baseURL
        self.refreshing = refreshing
        self.notes = notes
    }
}
