// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Cookies in memory, or in a file, of one client and nobody else.
///
/// ```swift
/// let jar = CookieJar()
/// let kept = try CookieJar(file: folder.appending(path: "cookies.json"))
/// ```
///
/// A host sets cookies for itself, and for the domains above it up to the first public suffix: no cookie is kept for all of
/// `com`, `co.uk` or `github.io`. Which domains those are, the system's list says (`/usr/share/publicsuffix`), where a
/// Linux distribution has one; elsewhere, on Apple platforms too, a short list of the most common ones. Servers that must
/// not depend on that protect themselves with names that begin with `__Host-`, which are honoured.
///
/// What is kept is bounded, whatever servers send: 4,096 bytes a cookie, 50 cookies a domain and 3,000 in all, where
/// those go first that aren't `Secure`, and of those the ones that weren't needed for longest; 400 days, unless a cookie is set anew. A request takes along 16 KiB of
/// them. Over `http`, which includes `http://localhost`, a server neither gets nor sets nor replaces a cookie that is
/// `Secure`.
///
/// Every method is safe on any thread. Reading never waits for the disk.
///
/// - Complexity: Cookies for an address are found in O(d + m log m), d being the cookies of its own domains, and m those
///   that match; an address has few of either.
public final class CookieJar: CookieStorage {
    private struct State: Sendable {
        var store = CookieStore()
        /// The revision that the file has.
        var savedRevision = 0
        var isSaveDue = false
    }

    private let state: Locked<State>
    private let now: @Sendable () -> Date
    private let file: CookieFile?
    // Serial: what is newer is written later.
    private let disk = DispatchQueue(label: "Requests.CookieJar", qos: .utility)

    /// Makes a jar in memory.
    ///
    /// - Parameter now: The present, by which cookies end.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
        file = nil
        state = Locked(State())
    }

    /// Makes a jar with the cookies of a file, which it keeps up to date.
    ///
    /// The file is written in the background after each change, readable for its owner only; the values stand in it as
    /// they are. Cookies of the session, which a server sets without an end, aren't in it. A write replaces the file as
    /// a whole, so it is never half there. Several jars, or processes, may therefore share a file, but don't hear of one
    /// another: what is written last is what counts.
    ///
    /// - Parameters:
    ///   - file: The file, in a folder that exists; there need not be one yet.
    ///   - now: The present, by which cookies end.
    /// - Throws: ``CookieJar/FileError`` where there is a file that can't be read or is damaged. It is left as it is; to
    ///   begin anew, remove it. That there is none isn't an error.
    public init(file: URL, now: @escaping @Sendable () -> Date = { Date() }) throws(CookieJar.FileError) {
        self.now = now
        self.file = CookieFile(url: file)
        state = Locked(State(store: CookieStore(try CookieFile(url: file).read(), at: now())))
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
        // Most jars are empty, and most requests are of clients with such a one: an address costs more than a look.
        guard !state.withLock({ $0.store.isEmpty }), let address = CookieAddress(url) else { return [] }
        let now = now()
        return state.withLock { $0.store.cookies(for: address, at: now) }.map(\.cookie)
    }

    /// Keeps the cookies of a response from this address, as far as its host may set them (RFC 6265, 5.3).
    public func store(_ cookies: [SetCookie], from url: URL) {
        guard let address = CookieAddress(url) else { return }
        let now = now()
        let believed = cookies.compactMap { try? CookieJar.StoredCookie($0, from: address, at: now) }
        change { store in
            for cookie in believed { try? store.insert(cookie, isSecure: address.isSecure, at: now) }
        }
    }

    /// Keeps a cookie as if a response from this address had set it.
    ///
    /// - Throws: ``SetCookie/Rejection`` for a cookie that the address can't set; ``store(_:from:)`` passes over it. One that
    ///   has ended isn't an error, and ends the one in whose place it would be.
    public func set(_ cookie: SetCookie, for url: URL) throws(SetCookie.Rejection) {
        guard let address = CookieAddress(url) else {
            throw SetCookie.Rejection(cookie.name, "is for an address without a host that could have cookies")
        }
        let now = now()
        let believed = try CookieJar.StoredCookie(cookie, from: address, at: now)
        let outcome = change { store -> Result<Void, SetCookie.Rejection> in
            Result { () throws(SetCookie.Rejection) in
                try store.insert(believed, isSecure: address.isSecure, at: now)
            }
        }
        try outcome.get()
    }

    /// Removes the cookies that a closure picks.
    ///
    /// One that is set anew in the meantime stays.
    public func remove(where isUnwanted: (CookieJar.StoredCookie) throws -> Bool) rethrows {
        let unwanted = try cookies.filter(isUnwanted)
        change { $0.remove(unwanted) }
    }

    /// Removes all cookies.
    public func removeAll() {
        change { $0.removeAll() }
    }

    /// Writes what has changed to the file now, and waits for it; of a jar in memory, nothing.
    ///
    /// A jar writes by itself soon after each change. Call this before the program ends, or to learn why the file can't
    /// be written: in the background that is no error, and tried again with the next change.
    ///
    /// - Throws: ``CookieJar/FileError`` where the file can't be written.
    public func save() throws(CookieJar.FileError) {
        try disk.sync { write() }.get()
    }

    private func change<Outcome: Sendable>(_ change: (inout CookieStore) -> Outcome) -> Outcome {
        let (outcome, isSaveDue) = state.withLock { state in
            let outcome = change(&state.store)
            guard file != nil, !state.isSaveDue, state.store.revision != state.savedRevision else {
                return (outcome, false)
            }
            state.isSaveDue = true
            return (outcome, true)
        }
        if isSaveDue { disk.async { _ = self.write() } }
        return outcome
    }

    /// Writes the newest cookies; on the queue of the disk.
    private func write() -> Result<Void, CookieJar.FileError> {
        let (store, savedRevision) = state.withLock { state in
            state.isSaveDue = false
            return (state.store, state.savedRevision)
        }
        guard let file, store.revision != savedRevision else { return .success(()) }
        let now = now()
        return Result { () throws(CookieJar.FileError) in
            try file.replace(with: store.kept(at: now))
            state.withLock { $0.savedRevision = store.revision }
        }
    }
}

/// Adds the cookies for an address, and stores those of each response as soon as its head is there.
struct CookieLink: Interceptor {
    let cookies: any CookieStorage

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        guard request.usesCookies else { return try await next(request) }
        let complete = request.addingCookies(of: cookies) ?? request
        return try await next(complete) { [cookies, url = complete.url] head in cookies.store(head, from: url) }
    }
}

extension HTTPRequest {
    /// The request with the cookies for its address beside those that it has, which take precedence over any of the same
    /// name; nil if there are none.
    fileprivate func addingCookies(of storage: any CookieStorage) -> HTTPRequest? {
        guard let field = storage.field(for: url) else { return nil }
        var request = self
        request.add(field)
        return request
    }

    private mutating func add(_ field: HTTPField) {
        let own = headers[values: .cookie]
        guard !own.isEmpty else { return headers.add(field) }
        let names = Set(own.flatMap { Cookie.list(parsing: $0) }.map(\.name))
        let others = Cookie.list(parsing: field.value).filter { !names.contains($0.name) }.map(\.rawValue)
        headers.set(HTTPField(.cookie, (own + others).joined(separator: "; ")))
    }
}
