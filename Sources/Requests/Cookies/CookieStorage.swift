// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A type that stores cookies between requests.
///
/// **Choose.** A ``CookieJar`` in memory is right for nearly every application. It is private to its client, and is
/// deallocated with the client. A jar with a file keeps users logged in across launches. A ``FoundationCookieStorage``
/// shares the cookies of a `URLSession` or a web view.
///
/// **Implement** this protocol to store cookies elsewhere, such as in a keychain. Both methods are called for every
/// request and every response, including redirects. They may be called from any thread, even simultaneously, and must
/// not block. ``store(_:from:)`` receives the server's attributes and must check them. RFC 6265, 5.3 lists the
/// conditions for accepting `Domain` and `Secure`.
///
/// **Test** an implementation with two hosts that must be isolated. A cookie that `a.example.com` sets without a
/// `Domain` must not be sent to `b.example.com` or `example.com`. A `Secure` cookie that was set over `https` must not
/// be sent over `http`.
public protocol CookieStorage: AnyObject, Sendable {
    /// Returns the cookies for a request to this URL, sorted by decreasing path length and then by age (RFC 6265, 5.4).
    func cookies(for url: URL) -> [Cookie]

    /// Stores those cookies of a response from this URL that its host may set.
    ///
    /// Other cookies are ignored, because an invalid cookie shouldn't make a response fail.
    func store(_ cookies: [SetCookie], from url: URL)
}

extension CookieStorage {
    /// Returns the `Cookie` field for a request to this URL; `nil` if there are no cookies.
    ///
    /// Some servers set cookies whose names aren't tokens, such as `cart[id]`, and expect them back. So a cookie is
    /// omitted only if it contains a character that would end the cookie or the field early.
    package func field(for url: URL) -> HTTPField? {
        let cookies = cookies(for: url).filter(\.isWellFormed)
        return cookies.isEmpty ? nil : HTTPField(.cookie, cookies.map(\.rawValue).joined(separator: "; "))
    }

    /// Stores the cookies that a response sets.
    package func store(_ head: HTTPResponseHead, from url: URL) {
        let cookies = head[values: .setCookie].compactMap { SetCookie(parsing: $0) }
        if !cookies.isEmpty { store(cookies, from: url) }
    }
}

extension Cookie {
    /// Whether a server can parse the cookie correctly, because it contains no separators or control characters.
    var isWellFormed: Bool {
        (!name.isEmpty || !value.isEmpty && !value.utf8.contains(UInt8(ascii: "="))) && name.isFieldValue
            && value.isFieldValue
            && !name.utf8.contains { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }
            && !value.utf8.contains(UInt8(ascii: ";"))
            && name.trimmedOfBlanks == name && value.trimmedOfBlanks == value
    }
}

extension RequestOptions {
    private enum UsesCookies: RequestOption {
        static let unset = true
        static let isPartOfFingerprint = false
    }

    /// Whether cookies are sent and stored, both by the environment's storage and by a `URLSession`; `true` by default.
    public var usesCookies: Bool {
        get { self[UsesCookies.self] }
        set { self[UsesCookies.self] = newValue }
    }
}
