// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The handshake of a WebSocket: the fields of the request, and the check of the answer (RFC 6455, 4.1 and 4.2.2).
package enum WebSocketHandshake {
    package static let keyName: HTTPField.Name = "Sec-WebSocket-Key"
    package static let acceptName: HTTPField.Name = "Sec-WebSocket-Accept"
    package static let protocolName: HTTPField.Name = "Sec-WebSocket-Protocol"
    private static let extensionsName: HTTPField.Name = "Sec-WebSocket-Extensions"

    /// Adds the fields that ask for a socket, with a new key, since each connection has its own.
    static func complete(_ headers: inout HTTPHeaders, _ random: inout RandomSource) {
        let key = (0..<2).flatMap { _ in withUnsafeBytes(of: random.next()) { Data($0) } }
        headers[.connection] = "Upgrade"
        headers[.upgrade] = "websocket"
        headers["Sec-WebSocket-Version"] = "13"
        headers[keyName] = Data(key).base64EncodedString()
        headers[extensionsName] = nil
    }

    /// The answer to a key.
    package static func accept(for key: String) -> String {
        SHA1.digest(of: Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)).base64EncodedString()
    }

    /// Returns what is wrong with the head of a 101, by the fields of the request; `nil` if the socket is open.
    static func flaw(in head: HTTPResponseHead, to headers: HTTPHeaders) -> String? {
        func has(_ name: HTTPField.Name, _ token: String) -> Bool {
            head[values: name].contains { FieldScanner.elements(of: $0).contains { $0.equalsIgnoringASCIICase(token) } }
        }
        guard has(.upgrade, "websocket"), has(.connection, "Upgrade") else {
            return "the server has switched to another protocol than that of WebSockets"
        }
        guard head[values: acceptName] == [accept(for: headers[keyName] ?? "")] else {
            return "the answer of the server to the key of the handshake is wrong"
        }
        guard head[values: extensionsName].allSatisfy({ FieldScanner.elements(of: $0).isEmpty }) else {
            return "the server uses an extension that wasn't asked for"
        }
        let offered = headers[values: protocolName].flatMap { FieldScanner.elements(of: $0) }
        let chosen = head[values: protocolName]
        guard chosen.count <= 1, chosen.allSatisfy({ offered.contains($0) }) else {
            return "the server has chosen a protocol that wasn't offered"
        }
        return nil
    }
}

/// SHA-1 (FIPS 180-4), with which a server shows that it has read the key of a handshake.
///
/// It secures nothing.
enum SHA1 {
    static func digest(of data: Data) -> Data {
        var bytes = [UInt8](data) + [0x80]
        bytes += [UInt8](repeating: 0, count: (119 - data.count % 64) % 64)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: data.count * 8 >> shift))
        }
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        for start in stride(from: 0, to: bytes.count, by: 64) { compress(bytes[start..<start + 64], into: &state) }
        return Data(state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    }

    // 6.1.2
    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
            block[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for t in 16..<80 { words.append((words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16]).rotated(1)) }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for t in 0..<80 {
            let mixed: UInt32
            switch t / 20 {
            case 0: mixed = (b & c | ~b & d) &+ 0x5A82_7999
            case 1: mixed = (b ^ c ^ d) &+ 0x6ED9_EBA1
            case 2: mixed = (b & c | b & d | c & d) &+ 0x8F1B_BCDC
            default: mixed = (b ^ c ^ d) &+ 0xCA62_C1D6
            }
            (a, b, c, d, e) = (a.rotated(5) &+ mixed &+ e &+ words[t], a, b.rotated(30), c, d)
        }
        for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
    }
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { self << count | self >> (32 - count) }
}
