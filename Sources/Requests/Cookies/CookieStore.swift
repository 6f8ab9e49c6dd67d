// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The cookies of a jar by domain, with limits on their number.
///
/// The cost of a lookup depends on the number of cookies of the host's domains, not on the total number.
struct CookieStore: Sendable {
    /// The maximum size of a cookie's name and value, in bytes (RFC 6265, 6.1).
    static let maximumCookieSize = 4096
    /// The maximum number of cookies of one domain.
    static let maximumPerDomain = 50
    /// The maximum number of cookies in total.
    static let maximumCount = 3000
    /// The maximum size of the cookies of one request, in bytes.
    static let maximumFieldSize = 16_384
    /// The maximum lifetime of a cookie that isn't set again: 400 days, in seconds (RFC 6265bis, 5.5).
    static let maximumLifetime: TimeInterval = 400 * 86_400

    /// A cookie with the sequence numbers of its creation and its last use.
    struct Entry: Sendable, Codable {
        var cookie: CookieJar.StoredCookie
        /// The sequence number of the creation, because two cookies may have the same creation time.
        let order: Int
        /// The sequence number of the last use.
        var use: Int
    }

    private typealias Domain = [CookieJar.StoredCookie.ID: Entry]

    private var domains: [String: Domain] = [:]
    private var ticks = 0
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }
    /// The number of changes to persistent cookies.
    private(set) var revision = 0

    /// Returns the cookies, from the oldest to the newest.
    func cookies(at now: Date) -> [CookieJar.StoredCookie] {
        entries.filter { !$0.cookie.hasExpired(at: now) }.sorted { $0.order < $1.order }.map(\.cookie)
    }

    /// Returns the cookies for a request in the order in which they are sent (RFC 6265, 5.4).
    mutating func cookies(for address: CookieAddress, at now: Date) -> [CookieJar.StoredCookie] {
        guard count > 0 else { return [] }
        var found: [Entry] = []
        for domain in address.domains {
            guard let entries = domains[domain]?.values else { continue }
            for entry in entries where entry.cookie.isSent(to: address) {
                if entry.cookie.hasExpired(at: now) { remove(entry.cookie) } else { found.append(entry) }
            }
        }
        found.sort { one, other in
            let (length, otherLength) = (one.cookie.path.utf8.count, other.cookie.path.utf8.count)
            return length == otherLength ? one.order < other.order : length > otherLength
        }
        let cookies = found.map(\.cookie).limitedToFieldSize()
        ticks += 1
        for cookie in cookies { domains[cookie.domain]?[cookie.id]?.use = ticks }
        return Array(cookies)
    }

    /// Stores a cookie.
    ///
    /// An expired cookie removes the existing cookie with the same name, domain and path.
    ///
    /// - Throws: ``InvalidValue`` for a cookie that was set over an unencrypted connection, and that a server could
    ///   mistake for a `Secure` cookie.
    mutating func insert(_ cookie: CookieJar.StoredCookie, isSecure: Bool, at now: Date) throws(InvalidValue) {
        guard isSecure || !entries.contains(where: { cookie.shadows($0.cookie) }) else {
            let reason = "would shadow a Secure cookie, but was set over an insecure connection"
            throw InvalidValue(.cookie, reason, excerpt: cookie.name)
        }
        let old = domains[cookie.domain]?[cookie.id]
        if let old { remove(old.cookie) }
        guard !cookie.hasExpired(at: now) else { return }
        ticks += 1
        var entry = Entry(cookie: cookie, order: old?.order ?? ticks, use: ticks)
        if let old { entry.cookie.created = old.cookie.created }
        add(entry, at: now)
    }

    /// Removes these cookies, unless they have been set again.
    mutating func remove(_ cookies: [CookieJar.StoredCookie]) {
        for cookie in cookies where domains[cookie.domain]?[cookie.id]?.cookie == cookie { remove(cookie) }
    }

    mutating func removeAll() {
        let last = self
        self = CookieStore()
        (revision, ticks) = (last.revision + (last.count > 0 ? 1 : 0), last.ticks)
    }

    private var entries: some Sequence<Entry> { domains.values.lazy.flatMap(\.values) }

    /// Adds a cookie, and evicts others if there are too many.
    private mutating func add(_ entry: Entry, at now: Date) {
        let cookie = entry.cookie
        domains[cookie.domain, default: [:]][cookie.id] = entry
        count += 1
        if cookie.expires != nil { revision += 1 }
        let neighbors = domains[cookie.domain, default: [:]].values
        if neighbors.count > Self.maximumPerDomain { evict(1, of: neighbors, at: now) }
        guard count > Self.maximumCount else { return }
        // Evict a tenth of the cookies, so that not every insertion needs to sort them.
        let expired = entries.count { $0.cookie.hasExpired(at: now) }
        evict(expired > 0 ? expired : Self.maximumCount / 10, of: entries, at: now)
    }

    private mutating func remove(_ cookie: CookieJar.StoredCookie) {
        guard domains[cookie.domain]?.removeValue(forKey: cookie.id) != nil else { return }
        if domains[cookie.domain]?.isEmpty == true { domains[cookie.domain] = nil }
        count -= 1
        if cookie.expires != nil { revision += 1 }
    }

    /// Evicts expired cookies first, then the least recently used insecure cookies, then the least recently used
    /// cookies.
    ///
    /// So neither an unencrypted connection nor a large number of hosts can evict the cookie of a login over TLS.
    private mutating func evict(_ number: Int, of entries: some Sequence<Entry>, at now: Date) {
        func rank(_ entry: Entry) -> (Int, Int, Int) {
            (entry.cookie.hasExpired(at: now) ? 0 : 1, entry.cookie.isSecure ? 1 : 0, entry.use)
        }
        for entry in entries.sorted(by: { rank($0) < rank($1) }).prefix(number) { remove(entry.cookie) }
    }
}

extension CookieStore {
    /// Returns the cookies that have an expiry date, from the oldest to the newest.
    func persistentCookies(at now: Date) -> [Entry] {
        entries.filter { $0.cookie.expires != nil && !$0.cookie.hasExpired(at: now) }.sorted { $0.order < $1.order }
    }

    /// Restores saved cookies that haven't expired, from the oldest to the newest, up to the limits.
    init(_ saved: [Entry], at now: Date) {
        // The numbers come from a file and may have any values, so only their order counts.
        let inOrder = saved.enumerated().sorted { ($0.element.use, $0.offset) < ($1.element.use, $1.offset) }
        for (use, (order, saved)) in inOrder.enumerated() where !saved.cookie.hasExpired(at: now) {
            remove(saved.cookie)
            add(Entry(cookie: saved.cookie, order: order, use: use), at: now)
        }
        (ticks, revision) = (saved.count, 0)
    }
}
