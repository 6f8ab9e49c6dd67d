// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A request for a WebSocket, which creates its value from the messages.
///
/// ```swift
/// struct Chat: WebSocketRequest {
///     typealias Success = Int
///     let server: URL
///     let room: String
///     let protocols = ["chat.v2"]
///
///     func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
///         completion(Result { try HTTPRequest("rooms/\(room)").toURLRequest(baseURL: server) })
///     }
///
///     func process(_ socket: WebSocket) async throws -> Int {
///         try await socket.send("hello")
///         return try await socket.messages.reduce(0) { count, _ in count + 1 }
///     }
/// }
/// ```
///
/// The handshake is a GET request like any other, with the settings of its environment. The scheme of the URL, or of
/// the base URL, is `ws`, `wss`, `http` or `https`. A response other than 101 is a failure, whose error contains the
/// response.
public protocol WebSocketRequest: NetworkRequest {
    /// ``WebSocketOperation``, unless the request specifies a subclass.
    associatedtype OperationType = WebSocketOperation<Self>

    /// The protocols to offer to the server, most preferred first; none by default.
    var protocols: [String] { get }

    /// The maximum byte count of a message; 16 MiB by default.
    ///
    /// A larger message is rejected, and the socket is closed with the code 1009.
    var maximumMessageSize: Int { get }

    /// The buffer size in bytes for each direction; 256 KiB by default.
    ///
    /// The peer must wait above this number of unconsumed bytes, and ``WebSocket/send(_:)-(WebSocket.Message)`` above
    /// this number of unsent bytes.
    var bufferSize: Int { get }

    /// Creates the value while the socket is open.
    ///
    /// Cancelling the operation cancels the task that runs this method. When the method returns, the socket is closed
    /// with the code 1000, unless it was closed before. When it throws, the socket is closed with the code 1001.
    ///
    /// - Throws: The error with which the request fails. If the method rethrows an error of the socket, this counts as
    ///   a failure of the connection.
    func process(_ socket: WebSocket) async throws -> Success
}

extension WebSocketRequest {
    /// None.
    public var protocols: [String] { [] }
    /// 16 MiB.
    public var maximumMessageSize: Int { 16 << 20 }
    /// 256 KiB.
    public var bufferSize: Int { 256 << 10 }
}

extension WebSocketRequest where ValidHTTPStatusCodes == [Int] {
    /// 101.
    public var validHTTPStatusCodes: [Int] { [101] }
}
