// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// An address of IPv4 or IPv6.
struct IPAddress: Sendable, Hashable {
    /// Four bytes, or sixteen.
    private let bytes: [UInt8]

    /// Reads an address in its usual form, without brackets; `nil` for any other text, such as a name.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.bytes = Array(bytes.prefix(4))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    /// Whether a text is this address, or a network that has it, such as `10.0.0.0/8` (RFC 4632, 3.1).
    func matches(_ text: some StringProtocol) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard let first = parts.first, let network = IPAddress(first), network.bytes.count == bytes.count else {
            return false
        }
        let count = parts.count == 1 ? bytes.count * 8 : Int(parts[1]) ?? -1
        guard (0...bytes.count * 8).contains(count) else { return false }
        return (0..<count).allSatisfy { (bytes[$0 / 8] ^ network.bytes[$0 / 8]) & (0x80 >> UInt8($0 % 8)) == 0 }
    }
}
#endif
