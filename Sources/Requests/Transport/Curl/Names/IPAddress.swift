// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// An IPv4 or IPv6 address.
struct IPAddress: Sendable, Hashable {
    /// The bytes in network order: 4 for IPv4, 16 for IPv6.
    private let bytes: [UInt8]

    /// Parses an address without brackets; returns `nil` for any other string, such as a name.
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

    /// The number of bits, 32 or 128.
    var bitCount: Int { bytes.count * 8 }

    /// Returns whether the address is in a network, that is, has the same first `prefix` bits as the network.
    func isIn(_ network: IPAddress, prefix: Int) -> Bool {
        bitCount == network.bitCount
            && (0..<prefix).allSatisfy { (bytes[$0 / 8] ^ network.bytes[$0 / 8]) & (0x80 >> UInt8($0 % 8)) == 0 }
    }
}
#endif
