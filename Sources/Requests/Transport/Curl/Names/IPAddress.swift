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

    /// The number of bits: 32 or 128.
    var bitCount: Int { bytes.count * 8 }

    /// Whether the first bits of the address are those of a network.
    func isIn(_ network: IPAddress, prefix: Int) -> Bool {
        bitCount == network.bitCount
            && (0..<prefix).allSatisfy { (bytes[$0 / 8] ^ network.bytes[$0 / 8]) & (0x80 >> UInt8($0 % 8)) == 0 }
    }
}
#endif
