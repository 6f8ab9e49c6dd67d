// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The WebSocket handshake: the header fields of the request, and the check of the response (RFC 6455, 4.1 and 4.2.2).
package enum WebSocketHandshake {
    package static let keyName: HTTPField.Name = "Sec-WebSocket-Key"
    package static let acceptName: HTTPField.Name = "Sec-WebSocket-Accept"
    package static let protocolName: HTTPField.Name = "Sec-WebSocket-Protocol"
    private static let versionName: HTTPField.Name = "Sec-WebSocket-Version"
    private static let extensionsName: HTTPField.Name = "Sec-WebSocket-Extensions"
    /// The header fields that make a request a handshake.
    static let fieldNames: [HTTPField.Name] = [.connection, .upgrade, keyName, versionName, extensionsName]

    /// Adds the WebSocket fields to those of an upgrade, with a new key, because each connection needs a separate key.
    static func addFields(_ headers: inout HTTPHeaders, _ random: inout RandomSource) {
        let key = (0..<2).flatMap { _ in withUnsafeBytes(of: random.next()) { Data($0) } }
        headers[versionName] = "13"
        headers[keyName] = Data(key).base64EncodedString()
        headers[extensionsName] = nil
    }

    /// Returns the value of `Sec-WebSocket-Accept` for a key.
    package static func accept(for key: String) -> String {
        SHA1.digest(of: Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)).base64EncodedString()
    }

    /// Returns what is wrong with the head of a 101 response; `nil` if the handshake succeeded.
    ///
    /// The caller has already checked the `Upgrade` and `Connection` fields.
    static func flaw(in head: HTTPResponseHead, to headers: HTTPHeaders) -> String? {
        guard head[values: acceptName] == [accept(for: headers[keyName] ?? "")] else {
            return "the server's Sec-WebSocket-Accept doesn't match the handshake key"
        }
        guard head[values: extensionsName].allSatisfy({ FieldScanner.elements(of: $0).isEmpty }) else {
            return "the server uses an extension that wasn't requested"
        }
        let offered = FieldScanner.members(of: headers[values: protocolName])
        let chosen = head[values: protocolName]
        guard chosen.count <= 1, chosen.allSatisfy({ offered.contains($0) }) else {
            return "the server selected a protocol that wasn't offered"
        }
        return nil
    }
}
