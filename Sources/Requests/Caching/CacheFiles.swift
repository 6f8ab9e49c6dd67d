// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The files of a cache: a folder for each resource, and a file in it for each record.
///
/// Several processes may share them. There are no locks: readers see a file as a whole or not at all, and the last
/// writer wins. Nothing waits for the disk: a file that is damaged by a system crash is recognised by its checksum. The
/// time of a file's last use is its modification time.
struct CacheFiles: Sendable {
    private let directory: String
    /// The maximum size of all files, in bytes.
    private let limit: Int

    /// Takes a directory, which is created for its owner alone if it doesn't exist.
    ///
    /// - Throws: Any error that the file manager throws.
    init(directory: URL, limit: Int) throws {
        self.directory = directory.path
        self.limit = max(0, limit)
        try PrivateFile.createFolder(self.directory)
    }

    /// The size on disk of a file with this number of bytes: whole blocks.
    ///
    /// This also bounds the number of files, and the time to list them.
    static func size(_ bytes: Int) -> Int { max(1, (bytes + 4095) / 4096) * 4096 }

    // MARK: One file

    /// Loads the record of a key, and marks it as used; a damaged or foreign file is removed.
    func load(_ key: CacheKey, at now: Date) -> CacheRecord? {
        guard let bytes = PrivateFile.contents(of: path(of: key)) else { return nil }
        guard let record = CacheRecord(bytes: bytes, for: key) else {
            remove(key)
            return nil
        }
        touch(key, at: now)
        return record
    }

    /// Writes the bytes of a record; if that fails, neither it nor the former record is left.
    func save(_ bytes: Data, as key: CacheKey, at now: Date) {
        let folder = folder(of: key.resource)
        do {
            if access(folder, F_OK) != 0 {
                // The first record of a resource. Systems that are low on space delete cache directories, too.
                for path in [directory, folder] { try PrivateFile.createFolder(path) }
            }
            try PrivateFile.replace(path(of: key), with: bytes, isDurable: false)
            touch(key, at: now)
        } catch {
            remove(key)
        }
    }

    /// Records that a record was used.
    func touch(_ key: CacheKey, at now: Date) {
        var times = [timespec(now), timespec(now)]
        utimensat(AT_FDCWD, path(of: key), &times, AT_SYMLINK_NOFOLLOW)
    }

    /// Removes a record.
    func remove(_ key: CacheKey) {
        delete(path(of: key))
    }

    private func delete(_ path: String) {
        unlink(path)
        // Fails unless the folder is empty.
        rmdir((path as NSString).deletingLastPathComponent)
    }

    private func folder(of resource: String) -> String { "\(directory)/\(resource)" }

    private func path(of key: CacheKey) -> String { "\(folder(of: key.resource))/\(key.name)\(Self.suffix)" }

    // MARK: All files

    /// A file of the cache.
    private struct Entry {
        let path: String
        let size: Int
        let modified: TimeInterval
        /// Whether it is being written, or was when its writer crashed.
        let isUnfinished: Bool
    }

    /// The size of all files together, in bytes.
    ///
    /// - Complexity: O(n) in their number, as for ``removeAll()`` and the sweep.
    func size() -> Int {
        entries().reduce(0) { $0 + $1.size }
    }

    /// The keys of all records of a resource.
    func keys(of resource: String) -> [CacheKey] {
        names(of: resource).filter { $0.hasSuffix(Self.suffix) }
            .map { CacheKey(resource: resource, name: String($0.dropLast(Self.suffix.count))) }
            .filter { $0.name.utf8.count == CacheKey.nameLength }
    }

    /// Removes the oldest variants of a user, if there are too many.
    ///
    /// - Complexity: O(n) in the number of files of the resource.
    func limitVariants(of key: CacheKey) {
        let keys = keys(of: key.resource).filter { $0.user == key.user }
        guard !CacheKey.surplus(of: keys).isEmpty else { return }
        let times = keys.map { ($0, entry(at: path(of: $0))?.modified ?? 0) }
        for key in CacheKey.surplus(of: times.sorted { $0.1 < $1.1 }.map(\.0)) { remove(key) }
    }

    /// Removes all records of a resource.
    func remove(_ resource: String) {
        for name in names(of: resource) { delete("\(folder(of: resource))/\(name)") }
    }

    /// Removes all files of the cache.
    func removeAll() {
        for resource in resources() { remove(resource) }
    }

    /// Whether a file of this size is cached: one of more than a quarter of the limit would evict too much.
    func admits(_ size: Int) -> Bool { size <= limit / 4 }

    /// Makes room for a file of this size: removes the least recently used ones, if there are too many.
    ///
    /// Temporary files of writers that crashed an hour ago or earlier are removed too.
    ///
    /// Other processes write to the directory too, so the known size becomes outdated: it is determined again after an
    /// eighth of the limit. The limit is therefore kept exactly by one process, and each other one exceeds it by an
    /// eighth at most.
    ///
    /// - Returns: The number of bytes that may be written before the size has to be determined again.
    func makeRoom(for bytes: Int, at now: Date) -> Int {
        var entries = entries()
        let old = now.timeIntervalSince1970 - 3600
        for entry in entries where entry.isUnfinished && entry.modified < old { delete(entry.path) }
        entries.removeAll { $0.isUnfinished && $0.modified < old }
        var size = entries.reduce(0) { $0 + $1.size }
        let room = max(limit / 8, bytes)
        if size > limit - bytes {
            for entry in entries.sorted(by: { $0.modified < $1.modified }) where size > limit - room {
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
            modified: status.modified,
            isUnfinished: !path.hasSuffix(Self.suffix)
        )
    }

    /// The folders of the cache; other files in the directory are left alone.
    private func resources() -> [String] {
        Self.names(in: directory).filter { $0.utf8.count == 32 && $0.isHexadecimal }
    }

    /// The names of the cache's own files in a folder.
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
    /// 64 is the length of names in older versions, whose files are never read, only removed.
    private static let nameLengths = [CacheKey.nameLength, 64]
}

extension StringProtocol {
    fileprivate var isHexadecimal: Bool { utf8.allSatisfy { $0.hexValue != nil } }
}

extension timespec {
    fileprivate init(_ date: Date) {
        // Limited to the range that all file systems and systems support.
        let seconds = min(max(0, date.timeIntervalSince1970), 4_000_000_000)
        self.init(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
    }
}
