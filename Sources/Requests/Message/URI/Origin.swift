// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The origin of a URL (RFC 6454): its scheme, host and port.
///
/// If the URL has no port, the port is the default of its scheme.
struct Origin: Sendable, Hashable {
    let scheme: String
    /// The host in its canonical form; see `canonicalHost`.
    let host: String
    let port: Int?
}

extension Origin {
    /// Creates the origin of a URL.
    init(_ url: URL) {
        let scheme = url.scheme?.lowercased() ?? ""
        self.scheme = scheme
        host = url.wireHost?.canonicalHost ?? ""
        port = url.port ?? (scheme == "https" ? 443 : scheme == "http" ? 80 : nil)
    }
}

/// How the origin of a request's URL differs from the origin for which its header fields were set.
enum OriginChange: Sendable, Hashable, Comparable {
    /// The same origin.
    case none
    /// From `http` to `https` on the same host and the default ports; credentials aren't carried over.
    case upgrade
    /// Any other change of origin; only harmless and explicitly released header fields are carried over.
    case other

    /// Compares two origins.
    init(from origin: Origin?, to other: Origin?) {
        guard let origin, let other else {
            self = origin == other ? .none : .other
            return
        }
        guard origin != other else {
            self = .none
            return
        }
        let isUpgrade =
            origin.host == other.host && (origin.scheme, origin.port) == ("http", 80)
            && (other.scheme, other.port) == ("https", 443)
        self = isUpgrade ? .upgrade : .other
    }

    /// Compares the origins of two URLs.
    init(from url: URL, to other: URL) {
        self.init(from: Origin(url), to: Origin(other))
    }
}
