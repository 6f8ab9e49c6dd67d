// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension RequestQueue {
    /// Opens a WebSocket.
    ///
    /// ```swift
    /// let socket = try await client.webSocket("rooms/\(room)", protocols: ["chat.v2"])
    /// ```
    ///
    /// The operation runs until the socket is closed. Releasing the socket closes it with the code 1001.
    ///
    /// - Parameters:
    ///   - path: The path, which is appended to the base URL, or an absolute URL with the scheme `ws`, `wss`, `http` or
    ///     `https`.
    ///   - protocols: The protocols to offer, most preferred first; none by default.
    ///   - session: The transport; `nil`, the default, uses the queue's transport.
    /// - Returns: The open socket.
    /// - Throws: The failure of the handshake; if the status isn't 101, the error contains the response.
    public func webSocket(
        _ path: HTTPRequest.Path,
        protocols: [String] = [],
        session: (any HTTPTransport)? = nil
    ) async throws(RequestError) -> WebSocket {
        try await webSocket(HTTPRequest(path), protocols: protocols, session: session)
    }

    /// Opens a WebSocket with any request, such as a request with header fields, credentials or a timeout.
    ///
    /// Cancelling the task that waits for the socket cancels the handshake.
    ///
    /// - Parameters:
    ///   - request: The request: a GET without content.
    ///   - protocols: The protocols to offer, most preferred first; none by default.
    ///   - session: The transport; `nil`, the default, uses the queue's transport.
    /// - Returns: The open socket.
    /// - Throws: The failure of the handshake; if the status isn't 101, the error contains the response.
    public func webSocket<R: NetworkRequest>(
        _ request: R,
        protocols: [String] = [],
        session: (any HTTPTransport)? = nil
    ) async throws(RequestError) -> WebSocket {
        let opened = OpenedSocket(request: request, protocols: protocols)
        return try await runUntilReply(opened, to: opened.socket, session)
    }
}

/// Wraps any request, and passes its socket to the waiting caller.
private struct OpenedSocket<Base: NetworkRequest>: WebSocketRequest, NamedRequestType {
    typealias Success = Void
    typealias Failure = RequestError

    static var typeName: String { "\(Base.shownTypeName) (socket)" }

    let request: Base
    let protocols: [String]
    var options: RequestOptions
    let socket = OneShot<Result<WebSocket, RequestError>>()

    init(request: Base, protocols: [String]) {
        (self.request, self.protocols) = (request, protocols)
        options = request.resolvedOptions
        // The changes are applied in `makeHTTPRequest` below.
        options.changes = []
        // Ignore the request's status codes, because they are meant for a response with content.
        options.validStatusCodes = nil
    }

    var identifier: String { request.identifier }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        request.makeURLRequest(completion: completion)
    }

    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        request.makeHTTPRequest(in: environment, changedBy: request.resolvedOptions, completion: completion)
    }

    // The operation finishes when the caller or the peer has closed the socket.
    func process(_ socket: WebSocket) async {
        self.socket.fill(.success(socket.newReference()))
        await socket.core.waitUntilOver()
    }
}
