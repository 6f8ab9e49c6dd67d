// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A request for a WebSocket, which makes its value from the messages.
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
/// The handshake is a request like any other: a GET with the settings of its environment. The scheme of the address, or
/// of the base URL, is `ws`, `wss`, `http` or `https`. A response other than 101 is a failure that has the response.
public protocol WebSocketRequest: NetworkRequest {
    /// ``WebSocketOperation``, unless the request brings a subclass.
    associatedtype OperationType = WebSocketOperation<Self>

    /// The protocols that are offered to the server, the preferred one first; none by default.
    var protocols: [String] { get }

    /// The number of bytes above which a message is refused, and the socket closed with the code 1009; 16 MiB by
    /// default.
    var maximumMessageSize: Int { get }

    /// The number of unconsumed bytes above which the peer has to wait, and of unsent bytes above which
    /// ``WebSocket/send(_:)-(WebSocket.Message)`` does; 256 KiB by default.
    var bufferSize: Int { get }

    /// Makes the value while the socket is open.
    ///
    /// The task that it runs in is cancelled with the operation. When it returns, the socket is closed with the code
    /// 1000 unless it was closed before, and with 1001 when it throws.
    ///
    /// - Throws: The failure of the request. An error of the socket that it rethrows is the failure of the connection.
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
