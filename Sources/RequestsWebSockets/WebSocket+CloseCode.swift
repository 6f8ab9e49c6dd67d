// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension WebSocket {
    /// The code with which a WebSocket was closed (RFC 6455, 7.4): a standard code, or a custom code from 3000 to 4999.
    public struct CloseCode: RawRepresentable, Sendable, Hashable {
        /// The number.
        public let rawValue: UInt16

        /// Creates a code from its number.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// 1000: the purpose of the connection is fulfilled.
        public static let normalClosure = CloseCode(rawValue: 1000)
        /// 1001: an endpoint goes away, for example a server that stops, or a client that cancels.
        public static let goingAway = CloseCode(rawValue: 1001)
        /// 1002: the other side violated the protocol.
        public static let protocolError = CloseCode(rawValue: 1002)
        /// 1003: the message has a type that isn't accepted.
        public static let unsupportedData = CloseCode(rawValue: 1003)
        /// 1005: the peer closed without a code; this code is never sent.
        public static let noStatusReceived = CloseCode(rawValue: 1005)
        /// 1006: the connection ended without a closing handshake; this code is never sent.
        public static let abnormalClosure = CloseCode(rawValue: 1006)
        /// 1007: a text message isn't valid UTF-8, which is checked when the entire message has been received.
        public static let invalidPayload = CloseCode(rawValue: 1007)
        /// 1008: the message violates a policy.
        public static let policyViolation = CloseCode(rawValue: 1008)
        /// 1009: the message is too large.
        public static let messageTooBig = CloseCode(rawValue: 1009)
        /// 1010: the client needs an extension that the server doesn't support.
        public static let missingExtension = CloseCode(rawValue: 1010)
        /// 1011: the server encountered an unexpected condition.
        public static let internalError = CloseCode(rawValue: 1011)
        /// 1012: the server restarts.
        public static let serviceRestart = CloseCode(rawValue: 1012)
        /// 1013: the server is overloaded.
        public static let tryAgainLater = CloseCode(rawValue: 1013)

        /// Whether a close frame may contain the code.
        var isSendable: Bool {
            switch rawValue {
            case 1000...1003, 1007...1014, 3000...4999: true
            default: false
            }
        }
    }
}

extension WebSocket.CloseCode: CustomStringConvertible {
    /// The number.
    public var description: String { "\(rawValue)" }
}
