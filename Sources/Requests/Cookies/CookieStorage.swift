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

extension SetCookie {
    /// Why a cookie isn't kept: which one, and what is wrong with it.
    public struct Rejection: ExplainedError, Sendable, Hashable, CustomStringConvertible, LocalizedError {
        /// The beginning of the cookie's name, with control characters escaped; its value may be a secret, and isn't here.
        public let name: String
        /// What is wrong with it.
        public let reason: String

        /// Makes the error; the name is shortened here.
        public init(_ name: String, _ reason: String) {
            self.name = name.shortened()
            self.reason = reason
        }

        /// The error, in a sentence.
        public var description: String { "the cookie “\(name)” \(reason)" }

        /// The error, for people.
        public var errorDescription: String? { description }
    }
}

/// The cookies of an `HTTPCookieStorage`, such as those that a `URLSession` or a web view has too.
///
/// ```swift
/// let cookies = FoundationCookieStorage(.shared)
/// ```
///
/// `HTTPCookieStorage.shared` is shared with everything in the process, and kept on disk; a ``CookieJar`` is neither,
/// and the better choice unless that is the point. The rules are those of the jar: what a response may set, and what a
/// request gets, is asked here as well, since on Linux the storage itself looks neither at paths nor at `Secure`. How
/// many cookies there may be is the storage's own matter.
///
/// Its `cookieAcceptPolicy` is kept to as far as it can be: with `never` nothing is stored. There is no main document in
/// which cookies could be foreign, so `onlyFromMainDocumentDomain` stores all.
public final class FoundationCookieStorage: CookieStorage {
    private let storage: HTTPCookieStorage
    private let keepsNone: Bool
    private let now: @Sendable () -> Date

    /// Takes the cookies of a storage.
    ///
    /// - Parameters:
    ///   - storage: The storage, which isn't copied.
    ///   - now: The present, by which cookies end.
    public init(_ storage: HTTPCookieStorage, now: @escaping @Sendable () -> Date = { Date() }) {
        self.storage = storage
        self.now = now
        keepsNone = false
    }

    /// Takes the cookies of a session; nil where it has none, and keeps none.
    package init?(of configuration: URLSessionConfiguration) {
        guard let storage = configuration.httpCookieStorage else { return nil }
        self.storage = storage
        now = { Date() }
        keepsNone = configuration.httpCookieAcceptPolicy == .never
    }

    /// The cookies for a request to this address, those of longer paths first, then the older ones (RFC 6265, 5.4).
    public func cookies(for url: URL) -> [Cookie] {
        guard let stored = storage.cookies(for: url), !stored.isEmpty, let address = CookieAddress(url) else {
            return []
        }
        let now = now()
        return
            stored
            .map(CookieJar.StoredCookie.init)
            .filter { $0.goes(to: address) && !$0.hasEnded(at: now) }
            .sorted { $0.sendingOrder < $1.sendingOrder }
            .fitting()
            .map(\.cookie)
    }

    /// Keeps the cookies of a response from this address, as far as its host may set them (RFC 6265, 5.3).
    ///
    /// - Complexity: O(n) in what the storage holds, over `http` for each of the cookies.
    public func store(_ cookies: [SetCookie], from url: URL) {
        guard !keepsNone, storage.cookieAcceptPolicy != .never, let address = CookieAddress(url) else { return }
        let now = now()
        for cookie in cookies {
            guard let cookie = try? CookieJar.StoredCookie(cookie, from: address, at: now) else { continue }
            guard address.isSecure || !all.contains(where: { cookie.shadows(CookieJar.StoredCookie($0)) }) else {
                continue
            }
            if cookie.hasEnded(at: now) {
                remove(cookie)
            } else if let cookie = HTTPCookie(cookie) {
                storage.setCookie(cookie)
            }
        }
    }

    private var all: [HTTPCookie] { storage.cookies ?? [] }

    private func remove(_ cookie: CookieJar.StoredCookie) {
        for old in all where CookieJar.StoredCookie(old).isReplaced(by: cookie) { storage.deleteCookie(old) }
    }
}

extension CookieJar.StoredCookie {
    fileprivate init(_ cookie: HTTPCookie) {
        let isHostOnly = cookie.domain.utf8.first != UInt8(ascii: ".")
        self.init(
            name: cookie.name,
            value: cookie.value,
            domain: HostPattern.canonical(isHostOnly ? cookie.domain : String(cookie.domain.dropFirst())),
            isHostOnly: isHostOnly,
            path: cookie.path.isEmpty ? "/" : cookie.path,
            created: cookie.created,
            expires: cookie.expiresDate,
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            sameSite: nil
        )
    }

    fileprivate var sendingOrder: (Int, Date, String) { (-path.utf8.count, created, name) }

    fileprivate func isReplaced(by other: CookieJar.StoredCookie) -> Bool {
        domain == other.domain && id == other.id
    }
}

extension HTTPCookie {
    fileprivate convenience init?(_ cookie: CookieJar.StoredCookie) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name, .value: cookie.value, .path: cookie.path, .version: "0",
            .domain: cookie.isHostOnly ? cookie.domain : ".\(cookie.domain)",
        ]
        if cookie.isSecure { properties[.secure] = "TRUE" }
        // Names that Foundation reads and prints itself, and has no constants for on every platform.
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        // Foundation has a name for these two only.
        if let sameSite = cookie.sameSite, [.lax, .strict].contains(sameSite) {
            properties[HTTPCookiePropertyKey("SameSite")] = sameSite.rawValue.lowercasedASCII
        }
        if let expires = cookie.expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        self.init(properties: properties)
    }

    /// When the cookie was made, which Foundation says in no other way.
    fileprivate var created: Date {
        let seconds = properties?[HTTPCookiePropertyKey("Created")] as? Double
        return seconds.map(Date.init(timeIntervalSinceReferenceDate:)) ?? .distantPast
    }
}

extension FoundationCookieStorage: CustomReflectable {
    /// A mirror of nothing: Foundation shows the values of cookies.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
