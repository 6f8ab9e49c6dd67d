// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Stores responses, and answers requests with them, as RFC 9111 defines for a private cache: in memory, and optionally
/// on disk.
///
/// ```swift
/// let cache = try ResponseCache(directory: .cachesDirectory.appending(path: "responses"))
/// ```
///
/// The server decides: a response is used for the time of `Cache-Control: max-age` or `Expires`, and is then validated
/// with its `ETag` or `Last-Modified`, which transfers no content if nothing has changed. If the server sets no
/// lifetime, one is guessed only for an address without a query, requested without credentials, that has a
/// `Last-Modified`: a tenth of the time since then, and at most a day.
///
/// The request decides too: its `cachePolicy`, and the directives of its `Cache-Control`. A request that isn't a `GET`,
/// has a body, a `Range` or conditions of its own goes to the server, and its caller gets the server's answer, also a
/// 304.
///
/// **A user never gets another user's response.** A response is found by the address, by the fields that `Vary` names,
/// and by the identity of the user: every field that the caller or an interceptor has set, except those that say
/// nothing about a user, and all cookies. With ``ResponseCache/Identity``, you can exclude some of them. Other
/// distinctions between users aren't seen: a client certificate, headers and cookies that a `URLSession` adds itself. Use a cache for each of them, or for the latter an
/// ``HTTPClient`` that is made from the session's configuration. When a user logs out, call ``removeAll()``.
///
/// A stale response is used in two cases that the server allows (RFC 5861): with `stale-while-revalidate`, while a
/// validation runs in the background, one at a time; with `stale-if-error`, if the server fails or can't be reached.
///
/// On disk, each response is a file that only its owner can read. It doesn't contain credentials and addresses, and its
/// name is a digest; the content is unencrypted. Fields of a response that are known to be secrets, such as
/// `Set-Cookie`, are never stored. Damaged files are ignored. Several caches, in several processes too, may share a
/// directory; a response that one of them removes may still be in the memory of the others.
///
/// It may be used from any thread.
public final class ResponseCache: Sendable {
    /// Returns the response to store: the given one, another one, or `nil` to store none.
    ///
    /// It is called for each response that may be stored, and the returned response is judged again: with a
    /// `Cache-Control` that you add, you can set the lifetime if the server doesn't.
    public typealias Filter = @Sendable (_ response: HTTPResponse<Data>, _ request: HTTPRequest) -> HTTPResponse<Data>?

    let state: Locked<CacheState>
    let files: CacheFiles?
    let filter: Filter
    let identity: ResponseCache.Identity
    let now: @Sendable () -> Date

    /// Makes a cache in memory.
    ///
    /// - Parameters:
    ///   - memoryLimit: The approximate number of bytes to store; 16 MiB by default. The least recently used responses
    ///     are evicted for new ones, and one that is larger than a quarter isn't stored.
    ///   - identity: The identity of a user; by default all header fields but harmless ones, and all cookies.
    ///   - now: Returns the current time.
    ///   - filter: Returns the response to store; by default the whole response.
    public convenience init(
        memoryLimit: Int = 16 << 20,
        identity: ResponseCache.Identity = .automatic,
        now: @escaping @Sendable () -> Date = { Date() },
        keeping filter: @escaping Filter = { response, _ in response }
    ) {
        self.init(nil, memoryLimit: memoryLimit, identity, now, filter)
    }

    /// Makes a cache on disk, with a cache in memory before it.
    ///
    /// - Parameters:
    ///   - directory: The directory of the files; it is created, for its owner alone, if it doesn't exist. Other files
    ///     in it are left alone.
    ///   - diskLimit: The maximum size of the files, in whole blocks of 4 KiB; 128 MiB by default. A second process may
    ///     exceed it by an eighth.
    ///   - memoryLimit: The approximate number of bytes in memory; 16 MiB by default, and 0 for none.
    ///   - identity: The identity of a user; by default all header fields but harmless ones, and all cookies.
    ///   - now: Returns the current time.
    ///   - filter: Returns the response to store; by default the whole response.
    /// - Throws: ``FileError`` if the directory doesn't exist and can't be created. A file that can't be read or
    ///   written later is no error: its response is then not cached.
    public convenience init(
        directory: URL,
        diskLimit: Int = 128 << 20,
        memoryLimit: Int = 16 << 20,
        identity: ResponseCache.Identity = .automatic,
        now: @escaping @Sendable () -> Date = { Date() },
        keeping filter: @escaping Filter = { response, _ in response }
    ) throws(FileError) {
        guard directory.isFileURL else {
            throw FileError(.cannotWriteFile, directory, "it isn't the URL of a directory")
        }
        let files: CacheFiles
        do {
            files = try CacheFiles(directory: directory, limit: diskLimit)
        } catch {
            throw FileError(directory, writing: error)
        }
        self.init(files, memoryLimit: memoryLimit, identity, now, filter)
    }

    private init(
        _ files: CacheFiles?,
        memoryLimit: Int,
        _ identity: ResponseCache.Identity,
        _ now: @escaping @Sendable () -> Date,
        _ filter: @escaping Filter
    ) {
        self.files = files
        self.identity = identity
        self.now = now
        self.filter = filter
        state = Locked(CacheState(memoryLimit: memoryLimit))
    }

    /// The approximate byte count in memory.
    public var memorySize: Int { state.withLock { $0.memorySize } }

    /// The size of the files, in whole blocks; 0 for a cache that is in memory only.
    ///
    /// - Complexity: O(n) in the number of files, which are listed.
    public var diskSize: Int { files?.size() ?? 0 }

    /// Returns the stored responses to requests for an address, those that are stale included, the newest first.
    ///
    /// They include the responses of all users: to look up the answer to one request, send it with the cache policy
    /// `returnCacheDataDontLoad`.
    ///
    /// - Parameter url: The address.
    /// - Returns: The responses, with their `Age`; empty if nothing is stored.
    /// - Complexity: O(n) in the number of responses in memory, and of the files of the address.
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

    /// Removes all responses, for example when a user logs out.
    ///
    /// Responses to running requests aren't stored either.
    ///
    /// - Complexity: O(n) in the number of files.
    public func removeAll() {
        remove({ $0.removeAll() }, files: { $0.removeAll() })
    }

    /// Removes every response to requests for an address, for all users.
    ///
    /// Responses to running requests aren't stored either.
    ///
    /// - Complexity: O(n) in the number of responses in memory, and of the files of the address.
    public func remove(for url: URL) {
        let resource = CacheKey.resource(of: url)
        remove({ $0.remove(resource) }, files: { $0.remove(resource) })
    }

    // Once before, so that responses that are just being stored aren't kept; and once after, since another thread may
    // have read a file that was still there.
    private func remove(_ change: @Sendable (inout CacheState) -> Void, files remove: (CacheFiles) -> Void) {
        state.withLock { change(&$0) }
        guard let files else { return }
        remove(files)
        state.withLock { change(&$0) }
    }
}

// MARK: - Records

/// The records, which are read from and written to files without a lock.
extension ResponseCache {
    /// Removes responses that are outdated by a successful request that changes something (RFC 9111, 4.4).
    ///
    /// It does nothing for requests that change nothing, and for failed ones.
    func invalidate(after request: HTTPRequest, response head: HTTPResponseHead) {
        for url in CacheRules.invalidated(by: request, head) { remove(for: url) }
    }

    /// Looks for a record, on behalf of a request that has begun after a removal.
    func record(_ key: CacheKey, since removal: Int) -> CacheRecord? {
        if let known = state.withLock({ $0.find(key) }) {
            // Keeps a frequently used response from becoming the oldest on disk.
            files?.touch(key, at: now())
            return known
        }
        guard let record = files?.load(key, at: now()) else { return nil }
        state.withLock { $0.take(record, for: key, since: removal) }
        return record
    }

    /// Stores the records of a response to a request that has begun after a removal, unless another one followed.
    func keep(_ records: [(CacheKey, CacheRecord)], since removal: Int) {
        for (key, record) in records { save(record, for: key) }
        let isKept = state.withLock { $0.keep(records, since: removal) }
        guard !isKept else { return }
        // Only now, since a removal while the files were being written didn't see them. It counts as a new removal,
        // since another request may have read them.
        for (key, _) in records { remove({ $0.remove(key.resource) }, files: { $0.remove(key) }) }
    }

    /// Removes the oldest variants of a user, if there are too many.
    func limitVariants(of key: CacheKey) {
        state.withLock { $0.limitVariants(of: key) }
        files?.limitVariants(of: key)
    }

    private func save(_ record: CacheRecord, for key: CacheKey) {
        guard let files else { return }
        let bytes = record.bytes(for: key) ?? Data()
        let size = CacheFiles.size(bytes.count)
        guard !bytes.isEmpty, files.admits(size) else { return files.remove(key) }
        let time = now()
        if !state.withLock({ $0.takeRoom(for: size) }) {
            let room = files.makeRoom(for: size, at: time)
            state.withLock { $0.room = max(0, room - size) }
        }
        files.save(bytes, as: key, at: time)
    }

    /// Removes a record.
    func forget(_ key: CacheKey) {
        // Twice, since another thread may have read the file while it was still there.
        state.withLock { $0.forget(key) }
        files?.remove(key)
        state.withLock { $0.forget(key) }
    }
}
