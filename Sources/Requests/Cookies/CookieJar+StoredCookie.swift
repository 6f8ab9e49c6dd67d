// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension CookieJar {
    /// A cookie in a ``CookieJar``, with the server's attributes, the scope and the expiry date.
    public struct StoredCookie: Sendable, Hashable, Codable {
        /// The name.
        public let name: String
        /// The value, exactly as the server sent it.
        public let value: String
        /// The host or the domain that receives the cookie, in lower case; an IP address in its canonical form.
        public let domain: String
        /// Whether only the host receives the cookie, but not its subdomains.
        public let isHostOnly: Bool
        /// The path that the cookie applies to, including all paths below it.
        public let path: String
        /// The time when the cookie was first set; setting a new value doesn't change it.
        public internal(set) var created: Date
        /// The time when the cookie expires; `nil` for a session cookie, which lasts as long as the jar.
        public let expires: Date?
        /// Whether the cookie is sent only over TLS.
        public let isSecure: Bool
        /// Whether the cookie is hidden from scripts.
        ///
        /// This library stores the attribute for programs that run scripts, but doesn't use it.
        public let isHTTPOnly: Bool
        /// Whether requests from other sites include the cookie.
        ///
        /// This library doesn't use the value, because its requests don't come from a site.
        public let sameSite: SetCookie.SameSite?

        /// The name and value, as they are sent back to the server.
        public var cookie: Cookie { Cookie(name, value) }

        /// The identity of a cookie; a new cookie replaces an existing one with the same identity.
        struct ID: Sendable, Hashable {
            let name: String
            let path: String
            let isHostOnly: Bool
        }

        var id: ID { ID(name: name, path: path, isHostOnly: isHostOnly) }

        func hasExpired(at now: Date) -> Bool {
            expires.map { $0 <= now } ?? false
        }

        /// Returns whether requests to an address include the cookie (RFC 6265, 5.4).
        func isSent(to address: CookieAddress) -> Bool {
            (domain == address.host || !isHostOnly && address.isBelow(domain))
                && address.path.isPath(below: path)
                && (!isSecure || address.isSecure)
        }

        /// Returns whether this cookie, set over an unencrypted connection, could be mistaken for a `Secure` cookie.
        ///
        /// Such a cookie is rejected, because an attacker on `http` could use it to log a user in to another account
        /// (RFC 6265bis, 5.7).
        func shadows(_ other: CookieJar.StoredCookie) -> Bool {
            other.isSecure && name == other.name
                && (domain == other.domain || domain.isSubdomain(of: other.domain)
                    || other.domain.isSubdomain(of: domain))
                && path.isPath(below: other.path)
        }
    }
}

extension CookieJar.StoredCookie: DescribedMirror {
    /// The name and the scope, without the value, which may be secret.
    public var description: String { "\(cookie) for \(isHostOnly ? "" : "*.")\(domain)\(path.shortened())" }
}

extension [CookieJar.StoredCookie] {
    /// Returns as many of the first cookies as fit into a header field that servers accept.
    ///
    /// Without this limit, another host in the domain could set so many cookies that the server would reject every
    /// request.
    func limitedToFieldSize() -> ArraySlice<CookieJar.StoredCookie> {
        var rest = CookieStore.maximumFieldSize
        return prefix { cookie in
            rest -= cookie.name.utf8.count + cookie.value.utf8.count + 3
            return rest >= 0
        }
    }
}

// MARK: - Rules

extension CookieJar.StoredCookie {
    /// Creates a stored cookie from a host's cookie, if the host may set it (RFC 6265, 5.3, and the prefixes of RFC
    /// 6265bis).
    ///
    /// - Throws: ``InvalidValue`` for a cookie that must not be stored. An expired cookie isn't an error, because it
    ///   removes an existing cookie.
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
            throw InvalidValue(.cookie, "is marked Secure, but was set over an insecure connection", excerpt: name)
        }
        if let reason = cookie.prefixViolation { throw InvalidValue(.cookie, reason, excerpt: name) }
        let limit = now.addingTimeInterval(CookieStore.maximumLifetime)
        self.init(
            name: name,
            value: cookie.value,
            domain: domain,
            isHostOnly: isHostOnly,
            path: cookie.validPath ?? address.defaultPath,
            created: now,
            expires: cookie.expirationDate(receivedAt: now).map { min($0, limit) },
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            sameSite: cookie.sameSite
        )
    }

    /// Returns the domain that receives a cookie, or throws an error if the host may not set it.
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
            throw InvalidValue(
                .cookie,
                "has the domain “\(domain.shortened())”, which \(problem)",
                excerpt: cookie.name
            )
        }
        return (domain, false)
    }
}

extension SetCookie {
    /// The path, if it is valid.
    fileprivate var validPath: String? {
        guard let path, path.utf8.first == UInt8(ascii: "/"), path.utf8.count <= 1024, path.isFieldValue,
            !path.utf8.contains(UInt8(ascii: ";"))
        else { return nil }
        return path
    }

    /// The reason why the cookie violates the rules of its name prefix, on which servers rely; `nil` if it obeys them.
    fileprivate var prefixViolation: String? {
        guard let prefix = CookieNamePrefix(of: name) else { return nil }
        let isHostOnlyAtRoot = (domain ?? "").isEmpty && path == "/"
        guard !isSecure || prefix.requiresHTTPOnly && !isHTTPOnly || prefix.requiresHost && !isHostOnlyAtRoot else {
            return nil
        }
        let attributes = ["be marked Secure"] + (prefix.requiresHTTPOnly ? ["be marked HttpOnly"] : [])
        let scope = prefix.requiresHost ? ["have the path “/”", "have no domain"] : []
        return "has the prefix “\(prefix.rawValue)”, so it must \((attributes + scope).joined(separator: ", "))"
    }
}
