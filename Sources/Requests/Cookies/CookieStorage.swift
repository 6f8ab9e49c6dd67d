// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Where cookies are kept between requests.
///
/// **Choose.** A ``CookieJar`` in memory is right for nearly everyone: private to its client, and gone with it. One with
/// a file keeps people logged in until the next start. A ``FoundationCookieStorage`` shares the cookies of a
/// `URLSession` or of a web view.
///
/// **Implement** it to keep cookies elsewhere, such as in a keychain. Both methods are called for every response and
/// every request, redirects included, on any thread and by several at once; so they don't wait for anything.
/// ``store(_:from:)`` is told what a server says, and has to doubt it: RFC 6265, 5.3 lists what has to be asked before a
/// `Domain` or a `Secure` is believed.
///
/// **Test** an implementation with the two hosts that must not hear of each other: what `a.example.com` sets without a
/// `Domain` isn't sent to `b.example.com`, nor to `example.com`, and what `https` sets as `Secure` isn't sent over
/// `http`.
public protocol CookieStorage: AnyObject, Sendable {
    /// The cookies for a request to this address, in the order in which they are sent: those of longer paths first, then
    /// the older ones (RFC 6265, 5.4).
    func cookies(for url: URL) -> [Cookie]

    /// Keeps the cookies of a response from this address, as far as its host may set them; refuses the rest in silence,
    /// since a bad cookie is no reason for a response to fail.
    func store(_ cookies: [SetCookie], from url: URL)
}

extension CookieStorage {
    /// The field with the cookies for a request to this address; nil where there are none.
    ///
    /// Servers set names that are no tokens, such as `cart[id]`, and expect them back, so only what would end a cookie
    /// or the field early is left out.
    package func field(for url: URL) -> HTTPField? {
        let cookies = cookies(for: url).filter(\.isWhole)
        return cookies.isEmpty ? nil : HTTPField(.cookie, cookies.map(\.rawValue).joined(separator: "; "))
    }

    /// Keeps what a response sets.
    package func store(_ head: HTTPResponseHead, from url: URL) {
        let cookies = head[values: .setCookie].compactMap { SetCookie(parsing: $0) }
        if !cookies.isEmpty { store(cookies, from: url) }
    }
}

extension Cookie {
    /// Whether a server reads the cookie as it was meant: no separator and no control character where none may be.
    var isWhole: Bool {
        !name.isEmpty && name.isFieldValue && value.isFieldValue
            && !name.utf8.contains { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }
            && !value.utf8.contains(UInt8(ascii: ";"))
            && name.trimmedOfBlanks == name && value.trimmedOfBlanks == value
    }
}
