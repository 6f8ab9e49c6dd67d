// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The storage of cookies between requests.
///
/// **Choose.** A ``CookieJar`` in memory is right for nearly every application: private to its client, and deallocated
/// with it. One with a file keeps users logged in until the next start. A ``FoundationCookieStorage`` shares the
/// cookies of a `URLSession` or of a web view.
///
/// **Implement** it to store cookies elsewhere, such as in a keychain. Both methods are called for every response and
/// every request, redirects included, on any thread and by several at once, so they must not block. ``store(_:from:)``
/// receives the server's attributes, and has to check them: RFC 6265, 5.3 lists the conditions for accepting a `Domain`
/// or a `Secure`.
///
/// **Test** an implementation with two hosts that must be isolated: a cookie that `a.example.com` sets without a
/// `Domain` isn't sent to `b.example.com`, nor to `example.com`, and one that `https` sets as `Secure` isn't sent over
/// `http`.
public protocol CookieStorage: AnyObject, Sendable {
    /// The cookies for a request to this address, in the order in which they are sent: those of longer paths first,
    /// then the older ones (RFC 6265, 5.4).
    func cookies(for url: URL) -> [Cookie]

    /// Stores the cookies of a response from this address, as far as its host may set them.
    ///
    /// It ignores the rest, since an invalid cookie is no reason for a response to fail.
    func store(_ cookies: [SetCookie], from url: URL)
}

extension CookieStorage {
    /// The field with the cookies for a request to this address; `nil` without cookies.
    ///
    /// Servers set names that aren't tokens, such as `cart[id]`, and expect them back. Only cookies that would end a
    /// cookie or the field early are left out.
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
    /// Whether a server reads the cookie correctly: it has no separator and no control character where none is allowed.
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

    /// Whether cookies are sent and those of the response are stored, in the environment's storage as well as in that
    /// of a `URLSession`; true by default.
    public var usesCookies: Bool {
        get { self[UsesCookies.self] }
        set { self[UsesCookies.self] = newValue }
    }
}
