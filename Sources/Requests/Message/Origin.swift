// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Who is talked to: scheme, host and port, with the scheme's own port where none is given (RFC 6454).
struct Origin: Sendable, Hashable {
    let scheme: String
    let host: String
    let port: Int?

    /// The origin of an address.
    init(_ url: URL) {
        let scheme = url.scheme?.lowercased() ?? ""
        self.scheme = scheme
        host = url.host(percentEncoded: true)?.lowercased() ?? ""
        port = url.port ?? (scheme == "https" ? 443 : scheme == "http" ? 80 : nil)
    }
}
