// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The cookies of an `HTTPCookieStorage`, which may be shared with a `URLSession` or a web view.
///
/// ```swift
/// let cookies = FoundationCookieStorage(.shared)
/// ```
///
/// `HTTPCookieStorage.shared` is shared by all code in the process, and is stored on disk. Unless you need that, prefer a
/// ``CookieJar``. The same rules as for a jar apply. This class also checks which cookies a response may set and which
/// a request may include, because on Linux the storage checks neither paths nor `Secure`. The storage itself limits the
/// number of cookies.
///
/// The storage's `cookieAcceptPolicy` is respected where possible. With `never`, nothing is stored. With
/// `onlyFromMainDocumentDomain`, all cookies are stored, because there is no main document.
public final class FoundationCookieStorage: CookieStorage {
    private let storage: HTTPCookieStorage
    private let rejectsAll: Bool
    private let now: @Sendable () -> Date

    /// Creates a storage with the cookies of an `HTTPCookieStorage`.
    ///
    /// - Parameters:
    ///   - storage: The storage, which isn't copied.
    ///   - now: Returns the current time, for the expiry of cookies.
    public init(_ storage: HTTPCookieStorage, now: @escaping @Sendable () -> Date = { Date() }) {
        self.storage = storage
        self.now = now
        rejectsAll = false
    }

    /// Creates a storage with the cookies of a session; `nil` if the session has no storage.
    ///
    /// If the session never accepts cookies, nothing is stored.
    package init?(of configuration: URLSessionConfiguration) {
        guard let storage = configuration.httpCookieStorage else { return nil }
        self.storage = storage
        now = { Date() }
        rejectsAll = configuration.httpCookieAcceptPolicy == .never
    }

    /// Returns the cookies for a request to this URL, sorted by decreasing path length and then by age (RFC 6265, 5.4).
    public func cookies(for url: URL) -> [Cookie] {
        guard let stored = storage.cookies(for: url), !stored.isEmpty, let address = CookieAddress(url) else {
            return []
        }
        let now = now()
        return
            stored
            .map(CookieJar.StoredCookie.init)
            .filter { $0.isSent(to: address) && !$0.hasExpired(at: now) }
            .sorted { $0.sendingOrder < $1.sendingOrder }
            .limitedToFieldSize()
            .map(\.cookie)
    }

    /// Stores those cookies of a response from this URL that its host may set (RFC 6265, 5.3).
    ///
    /// - Complexity: O(n) in the number of stored cookies; over `http`, for each of the response's cookies.
    public func store(_ cookies: [SetCookie], from url: URL) {
        guard !rejectsAll, storage.cookieAcceptPolicy != .never, let address = CookieAddress(url) else { return }
        let now = now()
        for cookie in cookies {
            guard let cookie = try? CookieJar.StoredCookie(cookie, from: address, at: now) else { continue }
            guard address.isSecure || !all.contains(where: { cookie.shadows(CookieJar.StoredCookie($0)) }) else {
                continue
            }
            if !cookie.hasExpired(at: now) {
                if let cookie = HTTPCookie(cookie) { storage.setCookie(cookie) }
                continue
            }
            for old in all {
                let stored = CookieJar.StoredCookie(old)
                if stored.domain == cookie.domain, stored.id == cookie.id { storage.deleteCookie(old) }
            }
        }
    }

    private var all: [HTTPCookie] { storage.cookies ?? [] }
}

extension FoundationCookieStorage: CustomReflectable {
    /// An empty mirror, because Foundation's mirror would show the values of cookies.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension CookieJar.StoredCookie {
    fileprivate init(_ cookie: HTTPCookie) {
        let isHostOnly = cookie.domain.utf8.first != UInt8(ascii: ".")
        self.init(
            name: cookie.name,
            value: cookie.value,
            domain: (isHostOnly ? cookie.domain : String(cookie.domain.dropFirst())).canonicalHost,
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
}

extension HTTPCookie {
    fileprivate convenience init?(_ cookie: CookieJar.StoredCookie) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name, .value: cookie.value, .path: cookie.path, .version: "0",
            .domain: cookie.isHostOnly ? cookie.domain : ".\(cookie.domain)",
        ]
        if cookie.isSecure { properties[.secure] = "TRUE" }
        // Foundation reads and prints these names itself, but doesn't have constants for them on every platform.
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        // Foundation only has names for these two values.
        if let sameSite = cookie.sameSite, [.lax, .strict].contains(sameSite) {
            properties[HTTPCookiePropertyKey("SameSite")] = sameSite.rawValue.lowercasedASCII
        }
        if let expires = cookie.expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        self.init(properties: properties)
    }

    /// The creation time of the cookie, which Foundation only provides in this way.
    fileprivate var created: Date {
        let seconds = properties?[HTTPCookiePropertyKey("Created")] as? Double
        return seconds.map(Date.init(timeIntervalSinceReferenceDate:)) ?? .distantPast
    }
}
