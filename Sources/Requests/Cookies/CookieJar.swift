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
/// A host can set cookies for itself and for its parent domains, but not for a public suffix such as `com`, `co.uk` or
/// `github.io`. On Linux, the jar uses the system's list of public suffixes (`/usr/share/publicsuffix`) if it exists.
/// Otherwise, and on Apple platforms, it uses a short list of the most common suffixes. Servers that can't rely on that
/// list should use names that begin with `__Host-`. This prefix is supported, and so are `__Secure-`, `__Http-` and
/// `__Host-Http-`.
///
/// The storage is limited to 4,096 bytes per cookie, 50 cookies per domain and 3,000 cookies in total. Cookies that
/// aren't `Secure` are evicted first, starting with the least recently used. A cookie expires after at most 400 days,
/// unless it is set again. A request includes at most 16 KiB of cookies. Over `http`, including `http://localhost`, a
/// server can't receive, set or replace a `Secure` cookie.
///
/// All methods may be called from any thread. Reading never waits for the disk.
///
/// - Complexity: Finding the cookies for a URL takes O(d + m log m), with d cookies of the host's domains and m
///   matching cookies. Both numbers are small.
public final class CookieJar: CookieStorage {
    private struct State: Sendable {
        var store = CookieStore()
        /// The revision of the store that was last written to the file.
        var savedRevision = 0
        var isSaveDue = false
    }

    private let state: Locked<State>
    private let now: @Sendable () -> Date
    private let file: CookieFile?
    /// The errors of the invalid records that were skipped when the file was read; empty for most jars.
    ///
    /// All valid records were read. The next write removes the invalid records from the file.
    public let skippedRecords: [FileError]
    // The queue is serial, so that writes are in the order of the revisions.
    private let diskQueue = DispatchQueue(label: "Requests.CookieJar", qos: .utility)

    /// Creates a jar in memory.
    ///
    /// - Parameter now: Returns the current time, for the expiry of cookies.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
        file = nil
        skippedRecords = []
        state = Locked(State())
    }

    /// Creates a jar with the cookies of a file, and keeps the file up to date.
    ///
    /// After each change, the jar writes the file in the background. Only the owner can read the file, but the values
    /// are unencrypted. Session cookies, which have no expiry date, aren't written. A write replaces the entire file,
    /// so the file is never incomplete. Several jars or processes may share a file, but they don't see each other's
    /// changes, and the last write wins.
    ///
    /// - Parameters:
    ///   - file: The file, which needn't exist, in an existing folder.
    ///   - now: Returns the current time, for the expiry of cookies.
    /// - Throws: ``FileError`` if the file exists, but can't be read, isn't a cookie file, or has another version. The
    ///   file isn't changed; to start over, remove it. A missing file isn't an error. Nor is an invalid record, which
    ///   is skipped (see ``skippedRecords``).
    public init(file: URL, now: @escaping @Sendable () -> Date = { Date() }) throws(FileError) {
        self.now = now
        self.file = CookieFile(url: file)
        let content = try CookieFile(url: file).read()
        skippedRecords = content.skipped
        state = Locked(State(store: CookieStore(content.cookies, at: now())))
    }

    /// The cookies, from the oldest to the newest.
    ///
    /// - Complexity: O(n log n) in the number of cookies.
    public var cookies: [CookieJar.StoredCookie] {
        let now = now()
        return state.withLock { $0.store }.cookies(at: now)
    }

    /// Returns the cookies for a request to this URL, sorted by decreasing path length and then by age (RFC 6265, 5.4).
    public func cookies(for url: URL) -> [Cookie] {
        // Most jars are empty, and parsing a URL costs more than this check.
        guard !state.withLock({ $0.store.isEmpty }), let address = CookieAddress(url) else { return [] }
        let now = now()
        return state.withLock { $0.store.cookies(for: address, at: now) }.map(\.cookie)
    }

    /// Stores those cookies of a response from this URL that its host may set (RFC 6265, 5.3).
    public func store(_ cookies: [SetCookie], from url: URL) {
        guard let address = CookieAddress(url) else { return }
        let now = now()
        let accepted = cookies.compactMap { try? CookieJar.StoredCookie($0, from: address, at: now) }
        change { store in
            for cookie in accepted { try? store.insert(cookie, isSecure: address.isSecure, at: now) }
        }
    }

    /// Stores a cookie as if a response from this URL had set it.
    ///
    /// - Throws: ``InvalidValue`` for a cookie that the host may not set; ``store(_:from:)`` ignores such a cookie. An
    ///   expired cookie isn't an error; it removes the cookie that it would replace.
    public func set(_ cookie: SetCookie, for url: URL) throws(InvalidValue) {
        guard let address = CookieAddress(url) else {
            throw InvalidValue(.cookie, "is for a URL whose host can't have cookies", excerpt: cookie.name)
        }
        let now = now()
        let accepted = try CookieJar.StoredCookie(cookie, from: address, at: now)
        try change { (store) throws(InvalidValue) in
            try store.insert(accepted, isSecure: address.isSecure, at: now)
        }
    }

    /// Removes the cookies that a closure selects.
    ///
    /// If a selected cookie is set again in the meantime, it isn't removed.
    public func remove(where isUnwanted: (CookieJar.StoredCookie) throws -> Bool) rethrows {
        let unwanted = try cookies.filter(isUnwanted)
        change { $0.remove(unwanted) }
    }

    /// Removes all cookies.
    public func removeAll() {
        change { $0.removeAll() }
    }

    /// Writes changes to the file now, and waits until they are written; does nothing for a jar in memory.
    ///
    /// A jar writes automatically soon after each change. Call this method before the program ends, or to find out why
    /// the file can't be written. A failed write in the background isn't reported; the next change tries again.
    ///
    /// - Throws: ``FileError`` if the file can't be written.
    public func save() throws(FileError) {
        try diskQueue.sync { write() }.get()
    }

    private func change<Failure: Error>(_ change: (inout CookieStore) throws(Failure) -> Void) throws(Failure) {
        let isSaveDue = try state.withLock { (state) throws(Failure) in
            try change(&state.store)
            guard file != nil, !state.isSaveDue, state.store.revision != state.savedRevision else { return false }
            state.isSaveDue = true
            return true
        }
        if isSaveDue { diskQueue.async { _ = self.write() } }
    }

    /// Writes the latest cookies to the file; called on the disk queue.
    private func write() -> Result<Void, FileError> {
        let (store, savedRevision) = state.withLock { state in
            state.isSaveDue = false
            return (state.store, state.savedRevision)
        }
        guard let file, store.revision != savedRevision else { return .success(()) }
        let now = now()
        return Result { () throws(FileError) in
            try file.replace(with: store.persistentCookies(at: now))
            state.withLock { $0.savedRevision = store.revision }
        }
    }
}

extension HTTPRequest {
    /// Returns the request with the stored cookies for its URL.
    ///
    /// Cookies of the request take precedence over stored ones with the same name.
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
