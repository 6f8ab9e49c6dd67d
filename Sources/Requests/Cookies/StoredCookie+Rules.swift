// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension StoredCookie {
    /// Takes what a host says of a cookie, as far as it may say it (RFC 6265, 5.3, and its successor's prefixes).
    ///
    /// - Throws: ``InvalidCookie`` for a cookie that isn't kept. One that has ended is none of these: it ends an older
    ///   one.
    init(_ cookie: SetCookie, from address: CookieAddress, at now: Date) throws(InvalidCookie) {
        let name = cookie.name
        guard cookie.cookie.isWhole else {
            throw InvalidCookie(name, "has no name, or a separator or a control character in it")
        }
        guard name.utf8.count + cookie.value.utf8.count <= CookieStore.largestCookie else {
            throw InvalidCookie(name, "is larger than \(CookieStore.largestCookie) bytes")
        }
        let (domain, isHostOnly) = try Self.domain(of: cookie, from: address)
        guard address.isSecure || !cookie.isSecure else {
            throw InvalidCookie(name, "is for TLS only, and was set without")
        }
        if let reason = cookie.breaksPromise { throw InvalidCookie(name, reason) }
        let limit = now.addingTimeInterval(CookieStore.longestLife)
        self.init(
            name: name,
            value: cookie.value,
            domain: domain,
            isHostOnly: isHostOnly,
            path: cookie.usablePath ?? address.defaultPath,
            created: now,
            expires: cookie.end(from: now).map { min($0, limit) },
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            sameSite: cookie.sameSite
        )
    }

    /// Whom a cookie may go to.
    private static func domain(
        of cookie: SetCookie,
        from address: CookieAddress
    ) throws(InvalidCookie) -> (String, isHostOnly: Bool) {
        var domain = (cookie.domain ?? "").lowercasedASCII
        if domain.utf8.first == UInt8(ascii: ".") { domain.removeFirst() }
        guard !domain.isEmpty else { return (address.host, true) }
        if domain == address.host {
            return (domain, isHostOnly: address.isNumeric || !domain.utf8.contains(UInt8(ascii: ".")))
        }
        guard address.isBelow(domain) else {
            throw InvalidCookie(cookie.name, "is for “\(domain.shortened())”, which isn't the host's to speak for")
        }
        guard domain.utf8.contains(UInt8(ascii: ".")) else {
            throw InvalidCookie(cookie.name, "is for all of “\(domain.shortened())”")
        }
        return (domain, false)
    }
}

extension SetCookie {
    /// The path, where there is one that counts.
    fileprivate var usablePath: String? {
        guard let path, path.utf8.first == UInt8(ascii: "/"), path.utf8.count <= 1024, path.isFieldValue,
            !path.utf8.contains(UInt8(ascii: ";"))
        else { return nil }
        return path
    }

    /// What the name promises and the attributes don't keep: a server that sees the name relies on it.
    fileprivate var breaksPromise: String? {
        let name = name.lowercasedASCII.utf8
        if name.starts(with: "__secure-".utf8) {
            return isSecure ? nil : "is called secure, and isn't"
        }
        guard name.starts(with: "__host-".utf8) else { return nil }
        let isOfHost = isSecure && (domain ?? "").isEmpty && path == "/"
        return isOfHost ? nil : "is called the host's own, and isn't secure, without a domain, and of the path “/”"
    }
}
