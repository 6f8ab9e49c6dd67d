// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension DigestSession {
    /// A hash algorithm for `Digest` credentials; the cases are ordered from the weakest to the strongest.
    enum Algorithm: String, Sendable, CaseIterable {
        case md5 = "MD5"
        case sha256 = "SHA-256"
        case sha512of256 = "SHA-512-256"
        case sha512 = "SHA-512"

        func digest(_ bytes: some Sequence<UInt8>) -> String {
            switch self {
            case .md5: MD5.digest(of: bytes).hexadecimal
            case .sha256: SHA256.digest(of: bytes).hexadecimal
            case .sha512: SHA512.digest(of: bytes).hexadecimal
            case .sha512of256: SHA512.digest256(of: bytes).hexadecimal
            }
        }

        func digest(_ string: String) -> String { digest(Array(string.utf8)) }
    }
}
