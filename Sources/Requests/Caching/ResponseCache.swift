// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A private cache (RFC 9111) that stores responses in memory and, optionally, on disk.
///
/// ```swift
/// let cache = try ResponseCache(directory: .cachesDirectory.appending(path: "responses"))
/// ```
///
/// The server decides how long a response is used, with `Cache-Control: max-age` or `Expires`. After that, the response
/// is validated with its `ETag` or `Last-Modified`, which transfers no content if nothing has changed. If the server
/// sets no lifetime, a heuristic applies to responses with a `Last-Modified`: the lifetime is a tenth of the time since
/// that date, and at most one day. The heuristic applies only to a URL without a query, requested without credentials.
///
/// The request decides too, with its `cachePolicy` and the directives of its `Cache-Control`. A request that isn't a
/// `GET`, or has a body or its own conditions, goes to the server. Its caller gets the server's response, even if that
/// is a 304. A request with a `Range` goes to the server unless the complete response is stored and usable.
///
/// **A user never gets another user's response.** The key of a response consists of the URL, the fields that `Vary`
/// names, and the identity of the user. The identity includes all cookies and every field that the caller or an
/// interceptor has set, except those that don't identify a user. With ``ResponseCache/Identity``, you can exclude more.
/// The cache doesn't see other distinctions between users, such as a client certificate, or headers and cookies that a
/// `URLSession` adds itself. If users differ only in such ways, use a separate cache for each user. To make the
/// additions of a `URLSession` visible to the cache, use an ``HTTPClient`` created from the session's configuration.
/// When a user logs out, call ``removeAll()``.
///
/// A stale response is used in two cases, if the server allows it (RFC 5861). With `stale-while-revalidate`, it is used
/// while a single validation runs in the background. With `stale-if-error`, it is used if the server fails or can't be
/// reached.
///
/// On disk, each response is a file that only its owner can read. The file doesn't contain credentials or URLs, and its
/// name is a digest, but the content is unencrypted. Response fields that are known to be secret, such as `Set-Cookie`,
/// are never stored. Damaged files are ignored. Several caches may share a directory, even in several processes. If one
/// of them removes a response, the others may still have it in memory.
///
/// All members may be used from any thread.
public final class ResponseCache: Sendable {
    /// Returns the response to store: the given response, another response, or `nil` to store nothing.
    ///
    /// The closure is called for each response that may be stored, and the rules apply to the response that it returns.
    /// For example, add a `Cache-Control` field to set the lifetime if the server doesn't.
    public typealias Filter = @Sendable (_ response: HTTPResponse<Data>, _ request: HTTPRequest) -> HTTPResponse<Data>?

    let state: Locked<CacheState>
    let files: CacheFiles?
    let filter: Filter
    let identity: ResponseCache.Identity
    let now: @Sendable () -> Date

    /// Creates a cache in memory.
    ///
    /// - Parameters:
    ///   - memoryLimit: The approximate number of bytes to store; 16 MiB by default. New responses evict the least
    ///     recently used ones. A response larger than a quarter of the limit isn't stored.
    ///   - identity: What identifies a user; by default, all header fields except harmless ones, and all cookies.
    ///   - now: Returns the current time.
    ///   - filter: Returns the response to store; by default, the complete response.
    public convenience init(
        memoryLimit: Int = 16 << 20,
        identity: ResponseCache.Identity = .automatic,
        now: @escaping @Sendable () -> Date = { Date() },
        keeping filter: @escaping Filter = { response, _ in response }
    ) {
        self.init(nil, memoryLimit: memoryLimit, identity, now, filter)
    }

    /// Creates a cache on disk, in addition to a cache in memory.
    ///
    /// - Parameters:
    ///   - directory: The directory of the files. If it doesn't exist, it is created so that only its owner can read
    ///     it. Other files in it aren't touched.
    ///   - diskLimit: The maximum size of the files, in complete blocks of 4 KiB; 128 MiB by default. A second process
    ///     may exceed it by an eighth.
    ///   - memoryLimit: The approximate number of bytes in memory; 16 MiB by default, and 0 for none.
    ///   - identity: What identifies a user; by default, all header fields except harmless ones, and all cookies.
    ///   - now: Returns the current time.
    ///   - filter: Returns the response to store; by default, the complete response.
    /// - Throws: ``FileError`` if the directory doesn't exist and can't be created. If a file can't be read or written
    ///   later, its response just isn't cached.
    public convenience init(
        directory: URL,
        diskLimit: Int = 128 << 20,
        memoryLimit: Int = 16 << 20,
        identity: ResponseCache.Identity = .automatic,
        now: @escaping @Sendable () -> Date = { Date() },
        keeping filter: @escaping Filter = { response, _ in response }
    ) throws(FileError) {
        guard directory.isFileURL else {
            throw FileError(.cannotWriteFile, directory, "not a file URL")
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

    /// The approximate size of the responses in memory, in bytes.
    public var memorySize: Int { state.withLock { $0.memorySize } }

    /// The size of the files in bytes, rounded up to complete blocks; 0 for a cache that is only in memory.
    ///
    /// - Complexity: O(n) in the number of files, which are listed.
    public var diskSize: Int { files?.size() ?? 0 }

    /// Returns the stored responses for a URL, including stale ones, from the newest to the oldest.
    ///
    /// The result includes the responses of all users. To look up the response to a specific request, send it with the
    /// cache policy `returnCacheDataDontLoad`.
    ///
    /// - Parameter url: The URL.
    /// - Returns: The responses, with their `Age`; empty if nothing is stored.
    /// - Complexity: O(n) in the number of responses in memory and of files for the URL.
    public func responses(for url: URL) -> [HTTPResponse<Data>] {
        let resource = CacheKey.resource(of: url)
        let time = now()
        var records = state.withLock { $0.records(of: resource) }
        for key in files?.keys(of: resource) ?? [] where records[key] == nil {
            records[key] = files?.load(key, at: time)
        }
        return records.values.compactMap(\.response).sorted { $0.receivedAt > $1.receivedAt }.map {
            $0.response(from: url, age: Freshness(of: $0, heuristic: false, at: time).age)
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

    /// Removes all responses for a URL, of all users.
    ///
    /// Responses to running requests aren't stored either.
    ///
    /// - Complexity: O(n) in the number of responses in memory and of files for the URL.
    public func remove(for url: URL) {
        let resource = CacheKey.resource(of: url)
        remove({ $0.remove(resource) }, files: { $0.remove(resource) })
    }

    // Change the state before removing the files, so that responses that are being stored are rejected. Change the
    // state again afterward, because another thread may have read a file before it was removed.
    private func remove(_ change: @Sendable (inout CacheState) -> Void, files remove: (CacheFiles) -> Void) {
        state.withLock { change(&$0) }
        guard let files else { return }
        remove(files)
        state.withLock { change(&$0) }
    }
}

// MARK: - Records

/// Access to the records, whose files are read and written without a lock.
extension ResponseCache {
    /// Removes responses that are outdated after a successful unsafe request (RFC 9111, 4.4).
    ///
    /// Safe and failed requests don't remove anything.
    func invalidate(after request: HTTPRequest, response head: HTTPResponseHead) {
        for url in CacheRules.invalidated(by: request, head) { remove(for: url) }
    }

    /// Returns the record of a key from memory or disk.
    ///
    /// `removal` is the sequence number of the last removal when the request started.
    func record(_ key: CacheKey, since removal: Int) -> CacheRecord? {
        if let inMemory = state.withLock({ $0.find(key) }) {
            // Update the file too, so that a frequently used response doesn't become the oldest on disk.
            files?.touch(key, at: now())
            return inMemory
        }
        guard let record = files?.load(key, at: now()) else { return nil }
        state.withLock { $0.insertFromDisk(record, for: key, since: removal) }
        return record
    }

    /// Stores the records of a response, unless their resource was removed after the request had started.
    ///
    /// `removal` is the sequence number of the last removal when the request started.
    func store(_ records: [(CacheKey, CacheRecord)], since removal: Int) {
        for (key, record) in records { save(record, for: key) }
        let isStored = state.withLock { $0.insert(records, since: removal) }
        guard !isStored else { return }
        // Remove the files again, because the earlier removal missed files that were still being written. This counts
        // as a new removal, because another request may have read the files.
        for (key, _) in records { remove({ $0.remove(key.resource) }, files: { $0.remove(key) }) }
    }

    /// Removes a user's oldest variants of a resource if there are too many.
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
        if !state.withLock({ $0.reserveRoom(for: size) }) {
            let room = files.makeRoom(for: size, at: time)
            state.withLock { $0.remainingRoom = max(0, room - size) }
        }
        files.save(bytes, as: key, at: time)
    }

    func forget(_ key: CacheKey) {
        // Remove the record twice, because another thread may have read the file before it was removed.
        state.withLock { $0.forget(key) }
        files?.remove(key)
        state.withLock { $0.forget(key) }
    }
}
