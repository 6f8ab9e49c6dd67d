// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The cookies of one client, in memory or in a file.
///
/// ```swift
/// let jar = CookieJar()
/// let kept = try CookieJar(file: folder.appending(path: "cookies.json"))
/// ```
///
/// A host sets cookies for itself, and for the domains above it up to the first public suffix: no cookie is stored for
/// all of `com`, `co.uk` or `github.io`. The suffixes come from the system's list (`/usr/share/publicsuffix`) if a
/// Linux distribution has one; otherwise, also on Apple platforms, from a short list of the most common ones. Servers
/// that must not depend on that use names that begin with `__Host-`, which are supported, as are `__Secure-`, `__Http-`
/// and `__Host-Http-`.
///
/// The storage is bounded: 4,096 bytes a cookie, 50 cookies a domain and 3,000 in all. Cookies that aren't `Secure` are
/// evicted first, and of those the least recently used ones. A cookie expires after 400 days, unless it is set again. A
/// request includes at most 16 KiB of cookies. Over `http`, which includes `http://localhost`, a server can't receive,
/// set or replace a `Secure` cookie.
///
/// Every method is safe from any thread. Reading never waits for the disk.
///
/// - Complexity: Cookies for an address are found in O(d + m log m), with d cookies of its own domains, and m matching
///   ones; both numbers are small.
public final class CookieJar: CookieStorage {
    private struct State: Sendable {
        var store = CookieStore()
        /// The revision that was written to the file.
        var savedRevision = 0
        var isSaveDue = false
    }

    private let state: Locked<State>
    private let now: @Sendable () -> Date
    private let file: CookieFile?
    /// The invalid records of the file, one error each, which were skipped when it was read; empty for most jars.
    ///
    /// The valid ones were read. The next write of the file leaves the others out.
    public let skippedRecords: [FileError]
    // Serial: newer revisions are written later.
    private let disk = DispatchQueue(label: "Requests.CookieJar", qos: .utility)

    /// Makes a jar in memory.
    ///
    /// - Parameter now: Returns the current time, for the expiry of cookies.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
        file = nil
        skippedRecords = []
        state = Locked(State())
    }

    /// Makes a jar with the cookies of a file, which it keeps up to date.
    ///
    /// The file is written in the background after each change, readable for its owner only; the values are
    /// unencrypted. Session cookies, which a server sets without an expiry, aren't written. A write replaces the whole
    /// file, so it is never incomplete. Several jars, or processes, may therefore share a file, but don't see each
    /// other's changes: the last write counts.
    ///
    /// - Parameters:
    ///   - file: The file, in an existing folder; it needn't exist yet.
    ///   - now: Returns the current time, for the expiry of cookies.
    /// - Throws: ``FileError`` if there is a file that can't be read, isn't a cookie file, or is of another
    ///   version. The file is left unchanged; to start over, remove it. Neither a missing file is an error nor an
    ///   invalid record, which is skipped: see ``skippedRecords``.
    public init(file: URL, now: @escaping @Sendable () -> Date = { Date() }) throws(FileError) {
        self.now = now
        self.file = CookieFile(url: file)
        let content = try CookieFile(url: file).read()
        skippedRecords = content.skipped
        state = Locked(State(store: CookieStore(content.cookies, at: now())))
    }

    /// The cookies, older ones first.
    ///
    /// - Complexity: O(n log n) in their number.
    public var cookies: [CookieJar.StoredCookie] {
        let now = now()
        return state.withLock { $0.store }.cookies(at: now)
    }

    /// The cookies for a request to this address, those of longer paths first, then the older ones (RFC 6265, 5.4).
    public func cookies(for url: URL) -> [Cookie] {
        // Most jars are empty: parsing an address costs more than this check.
        guard !state.withLock({ $0.store.isEmpty }), let address = CookieAddress(url) else { return [] }
        let now = now()
        return state.withLock { $0.store.cookies(for: address, at: now) }.map(\.cookie)
    }

    /// Stores the cookies of a response from this address, as far as its host may set them (RFC 6265, 5.3).
    public func store(_ cookies: [SetCookie], from url: URL) {
        guard let address = CookieAddress(url) else { return }
        let now = now()
        let accepted = cookies.compactMap { try? CookieJar.StoredCookie($0, from: address, at: now) }
        change { store in
            for cookie in accepted { try? store.insert(cookie, isSecure: address.isSecure, at: now) }
        }
    }

    /// Stores a cookie as if a response from this address had set it.
    ///
    /// - Throws: ``InvalidValue`` for a cookie that the address can't set; ``store(_:from:)`` skips it. An expired
    ///   cookie isn't an error, and removes the one that it would replace.
    public func set(_ cookie: SetCookie, for url: URL) throws(InvalidValue) {
        guard let address = CookieAddress(url) else {
            throw InvalidValue(.cookie, "is for an address whose host can't have cookies", excerpt: cookie.name)
        }
        let now = now()
        let accepted = try CookieJar.StoredCookie(cookie, from: address, at: now)
        try change { (store) throws(InvalidValue) in
            try store.insert(accepted, isSecure: address.isSecure, at: now)
        }
    }

    /// Removes the cookies that a closure selects.
    ///
    /// A cookie that is set again in the meantime stays.
    public func remove(where isUnwanted: (CookieJar.StoredCookie) throws -> Bool) rethrows {
        let unwanted = try cookies.filter(isUnwanted)
        change { $0.remove(unwanted) }
    }

    /// Removes all cookies.
    public func removeAll() {
        change { $0.removeAll() }
    }

    /// Writes changes to the file now, and waits for it; does nothing for a jar in memory.
    ///
    /// A jar writes automatically soon after each change. Call this before the program ends, or to learn why the file
    /// can't be written: in the background that is no error, and is retried with the next change.
    ///
    /// - Throws: ``FileError`` if the file can't be written.
    public func save() throws(FileError) {
        try disk.sync { write() }.get()
    }

    private func change<Failure: Error>(_ change: (inout CookieStore) throws(Failure) -> Void) throws(Failure) {
        let isSaveDue = try state.withLock { (state) throws(Failure) in
            try change(&state.store)
            guard file != nil, !state.isSaveDue, state.store.revision != state.savedRevision else { return false }
            state.isSaveDue = true
            return true
        }
        if isSaveDue { disk.async { _ = self.write() } }
    }

    /// Writes the newest cookies; called on the queue of the disk.
    private func write() -> Result<Void, FileError> {
        let (store, savedRevision) = state.withLock { state in
            state.isSaveDue = false
            return (state.store, state.savedRevision)
        }
        guard let file, store.revision != savedRevision else { return .success(()) }
        let now = now()
        return Result { () throws(FileError) in
            try file.replace(with: store.kept(at: now))
            state.withLock { $0.savedRevision = store.revision }
        }
    }
}

extension HTTPRequest {
    /// The request with the cookies for its address added to its own, which take precedence over others of the same
    /// name.
    func addingCookies(of storage: any CookieStorage) -> HTTPRequest {
        let own = headers[values: .cookie]
        let names = Set(own.flatMap { Cookie.list(parsing: $0) }.map(\.name))
        let others = storage.cookies(for: url).filter { $0.isWellFormed && !names.contains($0.name) }
        guard !others.isEmpty else { return self }
        var request = self
        request.headers.set(HTTPField(.cookie, (own + others.map(\.rawValue)).joined(separator: "; ")))
        return request
    }
}
