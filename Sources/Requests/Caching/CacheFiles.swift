// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The files of a cache: a folder for each resource, which contains a file for each record.
///
/// Several processes may share the files without locks. Readers see a complete file or none, and the last writer wins.
/// Writes aren't synced to the disk, because the checksum detects a file that was damaged by a system crash. The
/// modification time of a file is the time of its last use.
struct CacheFiles: Sendable {
    private let directory: String
    /// The maximum size of all files, in bytes.
    private let limit: Int

    /// Uses a directory, and creates it if it doesn't exist; only the owner can read the new directory.
    ///
    /// - Throws: Any error that the file manager throws.
    init(directory: URL, limit: Int) throws {
        self.directory = directory.path
        self.limit = max(0, limit)
        try PrivateFile.createFolder(self.directory)
    }

    /// Returns the size on disk of a file with this number of bytes, rounded up to complete blocks.
    ///
    /// Counting blocks also limits the number of files, and the time that it takes to list them.
    static func size(_ bytes: Int) -> Int { max(1, (bytes + 4095) / 4096) * 4096 }

    // MARK: Single files

    /// Loads the record of a key, and marks it as used.
    ///
    /// A damaged or foreign file is removed.
    func load(_ key: CacheKey, at now: Date) -> CacheRecord? {
        guard let bytes = PrivateFile.contents(of: path(of: key)) else { return nil }
        guard let record = CacheRecord(bytes: bytes, for: key) else {
            remove(key)
            return nil
        }
        touch(key, at: now)
        return record
    }

    /// Writes the bytes of a record.
    ///
    /// If that fails, neither the new nor the previous record remains.
    func save(_ bytes: Data, as key: CacheKey, at now: Date) {
        let folder = folder(of: key.resource)
        do {
            if access(folder, F_OK) != 0 {
                // This is the first record of the resource, or the system has deleted the cache directory to free disk
                // space.
                for path in [directory, folder] { try PrivateFile.createFolder(path) }
            }
            try PrivateFile.replace(path(of: key), with: bytes, isDurable: false)
            touch(key, at: now)
        } catch {
            remove(key)
        }
    }

    /// Marks a record as used.
    func touch(_ key: CacheKey, at now: Date) {
        var times = [timespec(now), timespec(now)]
        utimensat(AT_FDCWD, path(of: key), &times, AT_SYMLINK_NOFOLLOW)
    }

    func remove(_ key: CacheKey) {
        delete(path(of: key))
    }

    private func delete(_ path: String) {
        unlink(path)
        // This fails unless the folder is empty.
        rmdir((path as NSString).deletingLastPathComponent)
    }

    private func folder(of resource: String) -> String { "\(directory)/\(resource)" }

    private func path(of key: CacheKey) -> String { "\(folder(of: key.resource))/\(key.name)\(Self.suffix)" }

    // MARK: All files

    /// A file of the cache.
    private struct Entry {
        let path: String
        let size: Int
        let modificationTime: TimeInterval
        /// Whether the file is still being written, or its writer has crashed.
        let isUnfinished: Bool
    }

    /// Returns the total size of all files, in bytes.
    ///
    /// - Complexity: O(n) in the number of files; the same applies to ``removeAll()`` and ``makeRoom(for:at:)``.
    func size() -> Int {
        entries().reduce(0) { $0 + $1.size }
    }

    /// Returns the keys of all records of a resource.
    func keys(of resource: String) -> [CacheKey] {
        names(of: resource).filter { $0.hasSuffix(Self.suffix) }
            .map { CacheKey(resource: resource, name: String($0.dropLast(Self.suffix.count))) }
            .filter { $0.name.utf8.count == CacheKey.nameLength }
    }

    /// Removes a user's oldest variants of a resource if there are too many.
    ///
    /// - Complexity: O(n) in the number of files of the resource.
    func limitVariants(of key: CacheKey) {
        let keys = keys(of: key.resource).filter { $0.user == key.user }
        guard !CacheKey.surplus(of: keys).isEmpty else { return }
        let times = keys.map { ($0, entry(at: path(of: $0))?.modificationTime ?? 0) }
        for key in CacheKey.surplus(of: times.sorted { $0.1 < $1.1 }.map(\.0)) { remove(key) }
    }

    /// Removes all records of a resource.
    func remove(_ resource: String) {
        for name in names(of: resource) { delete("\(folder(of: resource))/\(name)") }
    }

    func removeAll() {
        for resource in resources() { remove(resource) }
    }

    /// Returns whether a file of this size may be cached.
    ///
    /// A file larger than a quarter of the limit would evict too many others.
    func admits(_ size: Int) -> Bool { size <= limit / 4 }

    /// Frees space for a file of this size, by removing the least recently used files if necessary.
    ///
    /// Temporary files that are more than an hour old are removed too, because their writers have crashed.
    ///
    /// Other processes may write to the same directory, so the known size becomes outdated. The cache therefore
    /// determines the size again after writing an eighth of the limit. A single process never exceeds the limit, and
    /// each further process can exceed it by at most an eighth of the limit.
    ///
    /// - Returns: The number of bytes that may be written before the size must be determined again.
    func makeRoom(for bytes: Int, at now: Date) -> Int {
        var entries = entries()
        let old = now.timeIntervalSince1970 - 3600
        for entry in entries where entry.isUnfinished && entry.modificationTime < old { delete(entry.path) }
        entries.removeAll { $0.isUnfinished && $0.modificationTime < old }
        var size = entries.reduce(0) { $0 + $1.size }
        let room = max(limit / 8, bytes)
        if size > limit - bytes {
            for entry in entries.sorted(by: { $0.modificationTime < $1.modificationTime }) where size > limit - room {
                delete(entry.path)
                size -= entry.size
            }
        }
        return max(0, min(limit - size, room))
    }

    private func entries() -> [Entry] {
        resources().flatMap { resource in
            names(of: resource).compactMap { entry(at: "\(folder(of: resource))/\($0)") }
        }
    }

    private func entry(at path: String) -> Entry? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return Entry(
            path: path,
            size: Self.size(Int(status.st_size)),
            modificationTime: status.modified,
            isUnfinished: !path.hasSuffix(Self.suffix)
        )
    }

    /// Returns the names of the cache's folders, ignoring other files in the directory.
    private func resources() -> [String] {
        Self.names(in: directory).filter { $0.utf8.count == 32 && $0.isHexadecimal }
    }

    /// Returns the names of the cache's files in a folder, ignoring other files.
    private func names(of resource: String) -> [String] {
        Self.names(in: folder(of: resource)).filter { name in
            guard name.hasSuffix(Self.suffix) else { return PartialFile.isValidName(name) }
            let digests = name.dropLast(Self.suffix.count)
            return Self.nameLengths.contains(digests.utf8.count) && digests.isHexadecimal
        }
    }

    private static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    private static let suffix = ".response"
    /// Names of 64 characters come from older versions of the library; such files are never read, only removed.
    private static let nameLengths = [CacheKey.nameLength, 64]
}

extension StringProtocol {
    fileprivate var isHexadecimal: Bool { utf8.allSatisfy { $0.hexValue != nil } }
}

extension timespec {
    fileprivate init(_ date: Date) {
        // Limit the time to the range that all systems and file systems support.
        let seconds = min(max(0, date.timeIntervalSince1970), 4_000_000_000)
        self.init(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
    }
}
