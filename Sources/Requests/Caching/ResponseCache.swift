// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Keeps responses, and answers requests with them as RFC 9111 lets a private cache do: in memory, and on disk if asked.
///
/// ```swift
/// let cache = try ResponseCache(directory: .cachesDirectory.appending(path: "responses"))
/// ```
///
/// What the server says counts: a response is used as long as `Cache-Control: max-age` or `Expires` says, and is then
/// asked about with its `ETag` or `Last-Modified`, which costs no transfer of content where nothing changed. Where the
/// server says nothing, a lifetime is guessed only for an address without a query, asked for without credentials, that
/// has a `Last-Modified`: a tenth of the time since then, and no more than a day.
///
/// What the request says counts too: its `cachePolicy`, and the directives of its `Cache-Control`. A request that isn't
/// a `GET`, has a body, a `Range` or conditions of its own goes to the server, and its caller sees what the server says,
/// a 304 included.
///
/// **One user never sees what another was answered.** A response is found by the address, by the fields that `Vary` names,
/// and by what identifies the user: the fields whose names are secrets (``HTTPField/Name/isSecret``: `Authorization`, what
/// sounds like one, those that you mark), and the cookies that may be those of a login. ``ResponseCache/Identity`` says which those
/// are, and lets you name them. What else tells users apart isn't seen: a client certificate, headers and cookies that a
/// `URLSession` adds by itself. Take a cache for each of them, or for the latter an ``HTTPClient`` that is made from the
/// session's configuration. When a user logs out, call ``removeAll()``.
///
/// A stale response is used in two cases that the server names (RFC 5861): with `stale-while-revalidate`, while a
/// validation runs in the background, one at a time; with `stale-if-error`, if the server fails or isn't reached.
///
/// On disk, each response is a file that only its owner can read. Credentials and addresses aren't in it, and its name
/// is a digest; the content is as it came. Fields of a response that are known for secrets, such as `Set-Cookie`, are
/// never kept. Damaged files are as good as none. Several caches, in several processes too, may share a directory; what
/// one of them removes, the others may have in memory still.
///
/// It may be used from any thread.
public final class ResponseCache: Sendable {
    /// What of a response is kept: the response itself, another one, or nil for nothing.
    ///
    /// It is asked for each response that may be kept by what it says after you changed it: with a `Cache-Control` that
    /// you add, you decide about a server that says nothing.
    public typealias Filter = @Sendable (_ response: HTTPResponse<Data>, _ request: HTTPRequest) -> HTTPResponse<Data>?

    let state: Locked<CacheState>
    let files: CacheFiles?
    let filter: Filter
    let identity: ResponseCache.Identity
    let now: @Sendable () -> Date

    /// Makes a cache in memory.
    ///
    /// - Parameters:
    ///   - memoryLimit: How many bytes are kept, about; 16 MiB by default. The least recently used responses make room
    ///     for new ones, and one that is larger than a quarter isn't kept.
    ///   - identity: What identifies a user; by default all secrets in header fields, and the cookies of a login.
    ///   - now: What tells the time.
    ///   - filter: What of a response is kept; all of it by default.
    public init(
        memoryLimit: Int = 16 << 20,
        identity: ResponseCache.Identity = .automatic,
        now: @escaping @Sendable () -> Date = { Date() },
        keeping filter: @escaping Filter = { response, _ in response }
    ) {
        self.identity = identity
        state = Locked(CacheState(memoryLimit: memoryLimit))
        files = nil
        self.filter = filter
        self.now = now
    }

    /// Makes a cache on disk, and in memory before it.
    ///
    /// - Parameters:
    ///   - directory: Where the files are; it is made, for its owner alone, where it isn't there. Other files in it are
    ///     left alone.
    ///   - diskLimit: How many bytes the files may take, in whole blocks of 4 KiB; 128 MiB by default. A second process
    ///     may overstep it by an eighth.
    ///   - memoryLimit: How many bytes are kept in memory, about; 16 MiB by default, and 0 for none.
    ///   - identity: What identifies a user; by default all secrets in header fields, and the cookies of a login.
    ///   - now: What tells the time.
    ///   - filter: What of a response is kept; all of it by default.
    /// - Throws: ``DirectoryError`` where the directory isn't there and can't be made. That a file can't be read or
    ///   written later is no error: the cache then has nothing.
    public init(
        directory: URL,
        diskLimit: Int = 128 << 20,
        memoryLimit: Int = 16 << 20,
        identity: ResponseCache.Identity = .automatic,
        now: @escaping @Sendable () -> Date = { Date() },
        keeping filter: @escaping Filter = { response, _ in response }
    ) throws(DirectoryError) {
        self.identity = identity
        guard directory.isFileURL else {
            throw DirectoryError(directory: directory, reason: "isn't the address of a file")
        }
        do {
            files = try CacheFiles(directory: directory)
        } catch {
            throw DirectoryError(directory: directory, reason: "can't be made: \(error.localizedDescription)")
        }
        state = Locked(CacheState(memoryLimit: memoryLimit, diskLimit: diskLimit))
        self.filter = filter
        self.now = now
    }

    /// Why a cache can't be kept in a directory.
    public struct DirectoryError: ExplainedError, Sendable, CustomStringConvertible, LocalizedError {
        /// The directory.
        public let directory: URL
        /// What is wrong with it.
        public let reason: String

        /// The error, in a sentence.
        public var description: String { "the directory “\(directory.redactedDescription)” \(reason)" }

        /// The error, for people.
        public var errorDescription: String? { description }
    }

    /// How many bytes are kept in memory, about.
    public var memorySize: Int { state.withLock { $0.memorySize } }

    /// How many bytes the files take, in whole blocks; 0 for a cache that is in memory only.
    ///
    /// - Complexity: O(n) in the number of files, which are looked at.
    public var diskSize: Int { files?.size() ?? 0 }

    /// Returns the stored responses to requests for an address, those that are stale included, the newest first.
    ///
    /// They are of whatever users have asked: to look up what one request would get, send it with the cache policy
    /// `returnCacheDataDontLoad`.
    ///
    /// - Parameter url: The address.
    /// - Returns: The responses, with their `Age`; empty if nothing is stored.
    /// - Complexity: O(n) in the number of responses and files.
    public func responses(for url: URL) -> [HTTPResponse<Data>] {
        let resource = CacheKey.resource(of: url)
        let time = now()
        var records = state.withLock { $0.records(of: resource) }
        for key in files?.keys(of: resource) ?? [] where records[key] == nil {
            records[key] = files?.load(key, at: time)
        }
        return records.values.compactMap(\.response).sorted { $0.receivedAt > $1.receivedAt }.map {
            $0.response(from: url, age: Freshness(of: $0, guessing: false, at: time).age)
        }
    }

    /// Removes everything, such as when a user logs out.
    ///
    /// Responses to requests that are under way aren't kept either.
    ///
    /// - Complexity: O(n) in the number of files.
    public func removeAll() {
        remove({ $0.removeAll(at: $1) }, files: { $0.removeAll() })
    }

    /// Removes every response to requests for an address, whoever made them.
    ///
    /// Responses to requests that are under way aren't kept either.
    ///
    /// - Complexity: O(n) in the number of files.
    public func remove(for url: URL) {
        remove([url])
    }

    func remove(_ urls: [URL]) {
        guard !urls.isEmpty else { return }
        let resources = Set(urls.map(CacheKey.resource(of:)))
        remove({ $0.remove(resources, at: $1) }, files: { $0.remove(resources) })
    }

    // Once before, so that what is about to be kept isn't; and once after, since somebody may have read a file that was
    // still there.
    private func remove(_ change: @Sendable (inout CacheState, Date) -> Void, files remove: (CacheFiles) -> Void) {
        let time = now()
        state.withLock { change(&$0, time) }
        guard let files else { return }
        remove(files)
        state.withLock { change(&$0, time) }
    }
}

// MARK: - Answering

/// What the pipeline asks of a cache.
///
/// All of it may read or write a file, and calls nobody back but the filter.
extension ResponseCache {
    /// Looks for a response to a request.
    ///
    /// - Parameters:
    ///   - request: The request as it would be sent, with all its headers, cookies and credentials.
    ///   - isRetry: Whether the answer before was rejected, which may be the one that is stored.
    ///   - policy: How the request uses the cache.
    /// - Returns: What to do about the request.
    func answer(
        to request: HTTPRequest,
        isRetry: Bool = false,
        _ policy: ResponseCache.Policy = .standard
    ) -> CacheAnswer {
        let user = user(of: request)
        let rules = CacheRules(request, hasUser: !user.isEmpty, policy)
        return rules.answer(with: rules.wantsStored ? find(request, of: user) : nil, at: now(), isRetry: isRetry)
    }

    /// What may be given to a caller where a validation failed: no answer came, or one that says that the server failed.
    ///
    /// Nil unless the response or the request allows that with `stale-if-error` (RFC 5861, 4).
    func answer(
        insteadOfError stored: CachedResponse,
        for request: HTTPRequest,
        _ policy: ResponseCache.Policy = .standard
    ) -> HTTPResponse<Data>? {
        CacheRules(request, policy).answer(insteadOfError: stored, at: now())
    }

    /// The response after a validation that a 304 answered, kept again with what the 304 says.
    ///
    /// A 304 about another response than ours leaves ours as it was, to be asked about again.
    ///
    /// - Parameters:
    ///   - stored: The response that was asked about.
    ///   - head: The head of the 304.
    ///   - request: The request that ``answer(to:)`` was asked about, not the one that it gave.
    ///   - requestedAt: When that was sent.
    ///   - isStoredElsewhere: Whether another request that shares the 304 has it stored.
    ///   - policy: How the request uses the cache.
    /// - Returns: The whole response, for the caller.
    func refresh(
        _ stored: CachedResponse,
        with head: HTTPResponseHead,
        for request: HTTPRequest,
        requestedAt: Date,
        isStoredElsewhere: Bool = false,
        _ policy: ResponseCache.Policy = .standard
    ) -> HTTPResponse<Data> {
        guard stored.isMeant(by: head) else {
            let age = Freshness(of: stored, guessing: false, at: now()).age
            return stored.response(from: request.url, age: age)
        }
        let response = HTTPResponse(
            head: HTTPResponseHead(
                status: stored.status,
                headers: stored.headers(validatedBy: head.headers),
                url: request.url
            ),
            body: stored.body
        )
        if !isStoredElsewhere { store(response, for: request, requestedAt: requestedAt, policy) }
        return response
    }

    /// Keeps a response where that is allowed, and else does nothing, or removes what it shows to be over.
    ///
    /// - Parameters:
    ///   - response: The whole response.
    ///   - request: The request that ``answer(to:)`` was asked about, not the one that it gave.
    ///   - requestedAt: When that was sent.
    ///   - policy: How the request uses the cache.
    func store(
        _ response: HTTPResponse<Data>,
        for request: HTTPRequest,
        requestedAt: Date,
        _ policy: ResponseCache.Policy = .standard
    ) {
        let rules = CacheRules(request, policy)
        // An answer from elsewhere, which a transport was redirected to, is no answer that this address gives.
        guard rules.concernsCache,
            response.url.map({ CacheKey.address(of: $0) == CacheKey.address(of: request.url) }) ?? true
        else { return }
        if let kept = filter(response, request) {
            let cached = CachedResponse(
                status: kept.status,
                headers: kept.headers,
                body: kept.body,
                requestedAt: requestedAt,
                receivedAt: now()
            )
            if rules.allowsStoring(cached) { return keep(cached, for: request) }
        }
        if rules.replacesStored(response.status) { forget(request) }
    }

    /// Removes what is over since a request that changes something succeeded (RFC 9111, 4.4).
    ///
    /// Does nothing for requests that change nothing, and those that failed.
    func invalidate(after request: HTTPRequest, answeredWith head: HTTPResponseHead) {
        remove(CacheRules(request).invalidated(by: head))
    }

    // MARK: Users

    /// The name of what is stored for a request; other users of its address have another one.
    func name(of request: HTTPRequest) -> String { CacheKey(request, user: user(of: request)).name }

    /// Records which cookies a response sets, as far as it matters who sets them.
    func recordCookies(of head: HTTPResponseHead, to request: HTTPRequest, requestedAt: Date) {
        let mayLogIn = !request.method.isSafe && request.headers.contains(.cookie)
        guard identity.followsCookies, mayLogIn || head.headers.contains(.setCookie) else { return }
        let kept = CachedResponse(
            status: head.status,
            headers: head.headers,
            body: Data(),
            requestedAt: requestedAt,
            receivedAt: now()
        )
        let isReusable = CacheRules(request).isReusable(kept, at: now())
        _ = aliases()
        let changed = state.withLock { state in
            state.changeAliases { $0.record(head, to: request, isReusable: isReusable) }
        }
        if let changed { save(.aliases(changed), for: .aliases) }
    }

    private func user(of request: HTTPRequest) -> [String] {
        identity.parts(of: request, request.headers.contains(.cookie) ? aliases() : CookieAliases())
    }

    private func aliases() -> CookieAliases {
        if let known = state.withLock({ $0.aliases }) { return known }
        let read = if case .aliases(let read)? = files?.load(.aliases, at: now()) { read } else { CookieAliases() }
        return state.withLock { $0.take(read) }
    }

    // MARK: Records

    private func find(_ request: HTTPRequest, of user: [String]) -> CachedResponse? {
        switch record(CacheKey(request, user: user)) {
        case .response(let response):
            return response
        case .varies(let names):
            let key = CacheKey(request, user: user, varyingBy: names)
            guard case .response(let response) = record(key) else { return nil }
            return response
        case .aliases, nil:
            return nil
        }
    }

    private func record(_ key: CacheKey) -> CacheRecord? {
        let finding = state.withLock { $0.find(key) }
        if let known = finding.record {
            // So that what is used all the time isn't the oldest on the disk.
            files?.touch(key, at: now())
            return known
        }
        guard let record = files?.load(key, at: now()) else { return nil }
        state.withLock { $0.take(record, for: key, after: finding) }
        return record
    }

    private func keep(_ response: CachedResponse, for request: HTTPRequest) {
        let user = user(of: request)
        let key = CacheKey(request, user: user)
        var records = [(key, CacheRecord.response(response))]
        if let names = response.varyingNames, !names.isEmpty {
            // The signpost last: whoever sees it finds where it leads.
            records = [(CacheKey(request, user: user, varyingBy: names), .response(response)), (key, .varies(names))]
        }
        for (key, record) in records { save(record, for: key) }
        let time = now()
        let isKept = state.withLock { [records] in $0.keep(records, askedAt: response.requestedAt, now: time) }
        // Only now, since the removal may have come while the files were written, and not have seen them.
        if !isKept { for (key, _) in records { files?.remove(key) } }
    }

    private func save(_ record: CacheRecord, for key: CacheKey) {
        guard let files else { return }
        let bytes = record.bytes(for: key)
        let size = CacheFiles.size(bytes.count)
        let (isAdmitted, hasRoom, disk) = state.withLock { state in
            let isAdmitted = state.disk.admits(size)
            return (isAdmitted, isAdmitted && state.disk.take(size), state.disk)
        }
        guard isAdmitted else { return files.remove(key) }
        if !hasRoom {
            let found = files.sweep(ifAbove: disk.limit - size, downTo: disk.target(for: size), at: now())
            state.withLock { $0.disk.take(size, besides: found) }
        }
        files.save(bytes, as: key, at: now())
    }

    private func forget(_ request: HTTPRequest) {
        let key = CacheKey(request, user: user(of: request))
        // Twice, since somebody may have read the file while it was still there.
        state.withLock { $0.forget(key) }
        files?.remove(key)
        state.withLock { $0.forget(key) }
    }
}
