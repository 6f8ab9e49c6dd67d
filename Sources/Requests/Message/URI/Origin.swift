// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The origin of an address: scheme, host and port, with the default port of the scheme if none is given (RFC 6454).
struct Origin: Sendable, Hashable {
    let scheme: String
    /// The host in its canonical form.
    let host: String
    let port: Int?
}

extension Origin {
    /// Creates the origin of an address.
    init(_ url: URL) {
        let scheme = url.scheme?.lowercased() ?? ""
        self.scheme = scheme
        host = url.wireHost?.canonicalHost ?? ""
        port = url.port ?? (scheme == "https" ? 443 : scheme == "http" ? 80 : nil)
    }
}

/// How far a request has moved from the origin that its header fields were meant for.
enum OriginChange: Sendable, Hashable, Comparable {
    /// Not at all.
    case none
    /// From http to https of the same host, on the default ports: credentials stay behind.
    case upgrade
    /// To another origin: only harmless and released fields follow.
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

    /// Compares the origins of two addresses.
    init(from url: URL, to other: URL) {
        self.init(from: Origin(url), to: Origin(other))
    }
}
