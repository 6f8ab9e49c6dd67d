// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension CookieJar {
    /// A cookie as a ``CookieJar`` stores it: the attributes that a server set, its scope and its expiry.
    public struct StoredCookie: Sendable, Hashable, Codable {
        /// The name.
        public let name: String
        /// The value, as it was sent.
        public let value: String
        /// The host that receives the cookie, or the domain, in lower case; an address in its usual form.
        public let domain: String
        /// Whether only that host receives the cookie, and not its subdomains.
        public let isHostOnly: Bool
        /// The path below which the cookie counts.
        public let path: String
        /// The time at which the cookie was first set; a new value doesn't change it.
        public internal(set) var created: Date
        /// The time at which the cookie expires; `nil` for a session cookie, which ends with the jar.
        public let expires: Date?
        /// Whether the cookie is sent over TLS only.
        public let isSecure: Bool
        /// Whether the cookie is hidden from scripts; stored for programs that have scripts, and not used here.
        public let isHTTPOnly: Bool
        /// Whether requests from other sites include it.
        ///
        /// It isn't used here, since requests have no sites.
        public let sameSite: SetCookie.SameSite?

        /// The cookie as it is sent back.
        public var cookie: Cookie { Cookie(name, value) }

        /// The identity of a cookie: a new one replaces an old one with the same identity.
        struct ID: Sendable, Hashable {
            let name: String
            let path: String
            let isHostOnly: Bool
        }

        var id: ID { ID(name: name, path: path, isHostOnly: isHostOnly) }

        /// Whether the cookie has expired.
        func hasEnded(at now: Date) -> Bool {
            expires.map { $0 <= now } ?? false
        }

        /// Whether a request to an address includes the cookie (RFC 6265, 5.4).
        func goes(to address: CookieAddress) -> Bool {
            (domain == address.host || !isHostOnly && address.isBelow(domain))
                && address.path.isPath(below: path)
                && (!isSecure || address.isSecure)
        }

        /// Whether this cookie, set over an unencrypted connection, could be taken for one that is sent over TLS only.
        ///
        /// An attacker on `http` could otherwise log a user in under another account (RFC 6265bis, 5.7).
        func shadows(_ other: CookieJar.StoredCookie) -> Bool {
            other.isSecure && name == other.name
                && (domain == other.domain || domain.isSubdomain(of: other.domain)
                    || other.domain.isSubdomain(of: domain))
                && path.isPath(below: other.path)
        }
    }
}

extension CookieJar.StoredCookie: DescribedMirror {
    /// The name and the scope; the value may be a secret, and is left out.
    public var description: String { "\(cookie) for \(isHostOnly ? "" : "*.")\(domain)\(path.shortened())" }
}

extension [CookieJar.StoredCookie] {
    /// The cookies that one request sends: in their order, up to the size that servers accept.
    ///
    /// A neighbour in the domain could otherwise set enough cookies to make the server refuse every request.
    func fitting() -> ArraySlice<CookieJar.StoredCookie> {
        var rest = CookieStore.maximumFieldSize
        return prefix { cookie in
            rest -= cookie.name.utf8.count + cookie.value.utf8.count + 3
            return rest >= 0
        }
    }
}

// MARK: - Rules

extension CookieJar.StoredCookie {
    /// Makes a stored cookie of a host's cookie, if the host may set it (RFC 6265, 5.3, and its successor's prefixes).
    ///
    /// - Throws: ``InvalidValue`` for a cookie that isn't stored. An expired cookie isn't an error: it removes an older
    ///   one.
    init(_ cookie: SetCookie, from address: CookieAddress, at now: Date) throws(InvalidValue) {
        let name = cookie.name
        guard cookie.cookie.isWellFormed else {
            throw InvalidValue(.cookie, "has no name, or contains a separator or a control character", excerpt: name)
        }
        guard name.utf8.count + cookie.value.utf8.count <= CookieStore.maximumCookieSize else {
            throw InvalidValue(.cookie, "is larger than \(CookieStore.maximumCookieSize) bytes", excerpt: name)
        }
        let (domain, isHostOnly) = try Self.domain(of: cookie, from: address)
        guard address.isSecure || !cookie.isSecure else {
            throw InvalidValue(.cookie, "is secure, and was set without TLS", excerpt: name)
        }
        if let reason = cookie.violation { throw InvalidValue(.cookie, reason, excerpt: name) }
        let limit = now.addingTimeInterval(CookieStore.maximumLifetime)
        self.init(
            name: name,
            value: cookie.value,
            domain: domain,
            isHostOnly: isHostOnly,
            path: cookie.usablePath ?? address.defaultPath,
            created: now,
            expires: cookie.expirationDate(receivedAt: now).map { min($0, limit) },
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            sameSite: cookie.sameSite
        )
    }

    /// The domain that may receive a cookie.
    private static func domain(
        of cookie: SetCookie,
        from address: CookieAddress
    ) throws(InvalidValue) -> (String, isHostOnly: Bool) {
        let domain = (cookie.domain ?? "").lowercasedASCII
        guard !domain.isEmpty else { return (address.host, true) }
        let isPublic = PublicSuffixes.system.contains(domain)
        if domain == address.host { return (domain, isHostOnly: address.isNumeric || isPublic) }
        guard address.isBelow(domain), !isPublic else {
            let problem = isPublic ? "is a public suffix" : "doesn't include the host"
            throw InvalidValue(.cookie, "is for “\(domain.shortened())”, which \(problem)", excerpt: cookie.name)
        }
        return (domain, false)
    }
}

extension SetCookie {
    /// The path, if it is valid.
    fileprivate var usablePath: String? {
        guard let path, path.utf8.first == UInt8(ascii: "/"), path.utf8.count <= 1024, path.isFieldValue,
            !path.utf8.contains(UInt8(ascii: ";"))
        else { return nil }
        return path
    }

    /// The violation of a name prefix by the attributes: a server that sees the name relies on them.
    fileprivate var violation: String? {
        guard let prefix = CookieNamePrefix(of: name) else { return nil }
        let isOfHost = (domain ?? "").isEmpty && path == "/"
        guard !isSecure || prefix.requiresHTTPOnly && !isHTTPOnly || prefix.requiresHost && !isOfHost else {
            return nil
        }
        let attributes = ["be secure"] + (prefix.requiresHTTPOnly ? ["be HttpOnly"] : [])
        let scope = prefix.requiresHost ? ["have the path “/”", "have no domain"] : []
        return "has the prefix “\(prefix.rawValue)”, and must \((attributes + scope).joined(separator: ", "))"
    }
}
