// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The cookies of an `HTTPCookieStorage`, which may be shared with a `URLSession` or a web view.
///
/// ```swift
/// let cookies = FoundationCookieStorage(.shared)
/// ```
///
/// `HTTPCookieStorage.shared` is shared with everything in the process, and stored on disk; unless you need that, a
/// ``CookieJar`` is the better choice. The rules are those of the jar: the cookies that a response sets and a request
/// gets are checked here as well, since on Linux the storage itself checks neither paths nor `Secure`. The number of
/// cookies is limited by the storage itself.
///
/// Its `cookieAcceptPolicy` is respected as far as possible: with `never` nothing is stored. There is no main document
/// that could make cookies foreign, so `onlyFromMainDocumentDomain` stores all.
public final class FoundationCookieStorage: CookieStorage {
    private let storage: HTTPCookieStorage
    private let keepsNone: Bool
    private let now: @Sendable () -> Date

    /// Uses the cookies of a storage.
    ///
    /// - Parameters:
    ///   - storage: The storage, which isn't copied.
    ///   - now: Returns the current time, for the expiry of cookies.
    public init(_ storage: HTTPCookieStorage, now: @escaping @Sendable () -> Date = { Date() }) {
        self.storage = storage
        self.now = now
        keepsNone = false
    }

    /// Uses the cookies of a session; `nil` if it has no storage, or stores none.
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

    /// Stores the cookies of a response from this address, as far as its host may set them (RFC 6265, 5.3).
    ///
    /// - Complexity: O(n) in the cookies of the storage, over `http` for each of the cookies.
    public func store(_ cookies: [SetCookie], from url: URL) {
        guard !keepsNone, storage.cookieAcceptPolicy != .never, let address = CookieAddress(url) else { return }
        let now = now()
        for cookie in cookies {
            guard let cookie = try? CookieJar.StoredCookie(cookie, from: address, at: now) else { continue }
            guard address.isSecure || !all.contains(where: { cookie.shadows(CookieJar.StoredCookie($0)) }) else {
                continue
            }
            if !cookie.hasEnded(at: now) {
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
    /// An empty mirror: Foundation's own would show the values of cookies.
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
        // Names that Foundation reads and prints itself, without constants on every platform.
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        // Foundation has names for these two values only.
        if let sameSite = cookie.sameSite, [.lax, .strict].contains(sameSite) {
            properties[HTTPCookiePropertyKey("SameSite")] = sameSite.rawValue.lowercasedASCII
        }
        if let expires = cookie.expires { properties[.expires] = expires } else { properties[.discard] = "TRUE" }
        self.init(properties: properties)
    }

    /// The creation time of the cookie, which Foundation provides in no other way.
    fileprivate var created: Date {
        let seconds = properties?[HTTPCookiePropertyKey("Created")] as? Double
        return seconds.map(Date.init(timeIntervalSinceReferenceDate:)) ?? .distantPast
    }
}
