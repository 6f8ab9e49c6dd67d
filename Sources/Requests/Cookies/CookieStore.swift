// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The cookies of a jar, by their domains, with limits on their number.
///
/// The cost of a look-up depends on the cookies of a host's own domains, not on those of the jar.
struct CookieStore: Sendable {
    /// The maximum bytes of the name and the value of one cookie (RFC 6265, 6.1).
    static let maximumCookieSize = 4096
    /// The maximum number of cookies of one domain.
    static let maximumPerDomain = 50
    /// The maximum number of cookies.
    static let most = 3000
    /// The maximum bytes of the cookies that one request sends.
    static let maximumFieldSize = 16_384
    /// The maximum lifetime of a cookie, unless it is set again: 400 days, in seconds (RFC 6265bis, 5.5).
    static let maximumLifetime: TimeInterval = 400 * 86_400

    /// A cookie with its place among the others.
    struct Entry: Sendable, Codable {
        var cookie: CookieJar.StoredCookie
        /// The sequence number of the creation: two cookies may have the same time.
        let order: Int
        /// The sequence number of the last use.
        var use: Int
    }

    private typealias Domain = [CookieJar.StoredCookie.ID: Entry]

    private var domains: [String: Domain] = [:]
    private var ticks = 0
    /// The number of cookies.
    private(set) var count = 0
    var isEmpty: Bool { count == 0 }
    /// The number of changes that outlive the session.
    private(set) var revision = 0

    /// The cookies, older ones first.
    func cookies(at now: Date) -> [CookieJar.StoredCookie] {
        entries.filter { !$0.cookie.hasEnded(at: now) }.sorted { $0.order < $1.order }.map(\.cookie)
    }

    /// The cookies for a request, in the order in which they are sent (RFC 6265, 5.4).
    mutating func cookies(for address: CookieAddress, at now: Date) -> [CookieJar.StoredCookie] {
        guard count > 0 else { return [] }
        var found: [Entry] = []
        for domain in address.domains {
            guard let entries = domains[domain]?.values else { continue }
            for entry in entries where entry.cookie.goes(to: address) {
                if entry.cookie.hasEnded(at: now) { remove(entry.cookie) } else { found.append(entry) }
            }
        }
        found.sort { one, other in
            let (length, otherLength) = (one.cookie.path.utf8.count, other.cookie.path.utf8.count)
            return length == otherLength ? one.order < other.order : length > otherLength
        }
        let cookies = found.map(\.cookie).fitting()
        ticks += 1
        for cookie in cookies { domains[cookie.domain]?[cookie.id]?.use = ticks }
        return Array(cookies)
    }

    /// Stores a cookie; an expired one removes that of the same name, domain and path.
    ///
    /// - Throws: ``InvalidValue`` for one over an unencrypted connection that a server could take for one over TLS.
    mutating func insert(_ cookie: CookieJar.StoredCookie, isSecure: Bool, at now: Date) throws(InvalidValue) {
        guard isSecure || !entries.contains(where: { cookie.shadows($0.cookie) }) else {
            throw InvalidValue(.cookie, "would shadow a secure cookie, and was set without TLS", excerpt: cookie.name)
        }
        let old = domains[cookie.domain]?[cookie.id]
        if let old { remove(old.cookie) }
        guard !cookie.hasEnded(at: now) else { return }
        ticks += 1
        var entry = Entry(cookie: cookie, order: old?.order ?? ticks, use: ticks)
        if let old { entry.cookie.created = old.cookie.created }
        add(entry, at: now)
    }

    /// Removes these cookies, unless they have been set again.
    mutating func remove(_ cookies: [CookieJar.StoredCookie]) {
        for cookie in cookies where domains[cookie.domain]?[cookie.id]?.cookie == cookie { remove(cookie) }
    }

    /// Removes everything.
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
        guard count > Self.most else { return }
        // A tenth at once, so that they aren't sorted each time.
        let expired = entries.count { $0.cookie.hasEnded(at: now) }
        evict(expired > 0 ? expired : Self.most / 10, of: entries, at: now)
    }

    private mutating func remove(_ cookie: CookieJar.StoredCookie) {
        guard domains[cookie.domain]?.removeValue(forKey: cookie.id) != nil else { return }
        if domains[cookie.domain]?.isEmpty == true { domains[cookie.domain] = nil }
        count -= 1
        if cookie.expires != nil { revision += 1 }
    }

    /// Evicts expired cookies; else the least recently used insecure ones; else the least recently used.
    ///
    /// Neither an unencrypted connection nor many hosts can therefore evict a login over TLS.
    private mutating func evict(_ number: Int, of entries: some Sequence<Entry>, at now: Date) {
        func rank(_ entry: Entry) -> (Int, Int, Int) {
            (entry.cookie.hasEnded(at: now) ? 0 : 1, entry.cookie.isSecure ? 1 : 0, entry.use)
        }
        for entry in entries.sorted(by: { rank($0) < rank($1) }).prefix(number) { remove(entry.cookie) }
    }
}

extension CookieStore {
    /// The cookies that outlive the session, older ones first.
    func kept(at now: Date) -> [Entry] {
        entries.filter { $0.cookie.expires != nil && !$0.cookie.hasEnded(at: now) }.sorted { $0.order < $1.order }
    }

    /// Restores saved cookies that haven't expired, older ones first, up to the limits.
    init(_ kept: [Entry], at now: Date) {
        // Only the order of the uses counts: the numbers are those of a file, and may be any.
        let inOrder = kept.enumerated().sorted { ($0.element.use, $0.offset) < ($1.element.use, $1.offset) }
        for (use, (order, kept)) in inOrder.enumerated() where !kept.cookie.hasEnded(at: now) {
            remove(kept.cookie)
            add(Entry(cookie: kept.cookie, order: order, use: use), at: now)
        }
        (ticks, revision) = (kept.count, 0)
    }
}
