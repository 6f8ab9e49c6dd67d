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
/// **One user never sees what another was answered.** All fields whose names are secrets
/// (``HTTPField/Name/isSecret``: `Authorization`, `Cookie`, what sounds like one, those that you mark) are part of what
/// a response is found by, besides the address and the fields that `Vary` names. What else tells users apart isn't: a
/// client certificate, headers and cookies that a `URLSession` adds by itself. Take a cache for each of them, or for the
/// latter an ``HTTPClient`` that is made from the session's configuration. When a user logs out, call ``removeAll()``.
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
    let now: @Sendable () -> Date

    /// Makes a cache in memory.
    ///
    /// - Parameters:
    ///   - memoryLimit: How many bytes are kept, about; 16 MiB by default. The least recently used responses make room
    ///     for new ones, and one that is larger than a quarter isn't kept.
    ///   - now: What tells the time.
    ///   - filter: What of a response is kept; all of it by default.
    public init(
        memoryLimit: Int = 16 << 20,
        now: @escaping @Sendable () -> Date = { Date() },
        keeping filter: @escaping Filter = { response, _ in response }
    ) {
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
    ///   - now: What tells the time.
    ///   - filter: What of a response is kept; all of it by default.
    /// - Throws: ``DirectoryError`` where the directory isn't there and can't be made. That a file can't be read or
    ///   written later is no error: the cache then has nothing.
    public init(
        directory: URL,
        diskLimit: Int = 128 << 20,
        memoryLimit: Int = 16 << 20,
        now: @escaping @Sendable () -> Date = { Date() },
        keeping filter: @escaping Filter = { response, _ in response }
    ) throws(DirectoryError) {
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
    public struct DirectoryError: Error, Sendable, CustomStringConvertible {
        /// The directory.
        public let directory: URL
        /// What is wrong with it.
        public let reason: String

        /// The error, in a sentence.
        public var description: String { "the directory “\(directory.redactedDescription)” \(reason)" }
    }

    /// How many bytes are kept in memory, about.
    public var memorySize: Int { state.withLock { $0.memorySize } }

    /// How many bytes the files take, in whole blocks; 0 for a cache that is in memory only.
    ///
    /// - Complexity: O(n) in the number of files, which are looked at.
    public var diskSize: Int { files?.size() ?? 0 }

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
