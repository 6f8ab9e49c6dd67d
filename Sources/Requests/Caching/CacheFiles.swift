// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The files of a cache: one for each record, in one directory, which several processes may share.
///
/// There are no locks. A file is written under a unique name and then renamed, so that readers see all of it or
/// nothing, and the last writer wins. Nothing waits for the disk: a file that is damaged by a system crash is
/// recognised by its checksum. The time of a file's last use is its modification time.
///
/// Only regular files are opened: no symbolic link is followed, and a pipe doesn't block.
struct CacheFiles: Sendable {
    private let directory: String

    /// Takes a directory, which is created for its owner alone if it doesn't exist.
    ///
    /// - Throws: Any error that the file manager throws.
    init(directory: URL) throws {
        self.directory = directory.path
        try makeDirectory()
    }

    private func makeDirectory() throws {
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    /// The size on disk of a file with this number of bytes: whole blocks.
    ///
    /// This also bounds the number of files, and the time to list them.
    static func size(_ bytes: Int) -> Int { max(1, (bytes + 4095) / 4096) * 4096 }

    // MARK: One file

    /// Loads the record of a key, and marks it as used; a damaged or foreign file is removed.
    func load(_ key: CacheKey, at now: Date) -> CacheRecord? {
        let path = path(of: key)
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ELOOP { unlink(path) }
            return nil
        }
        defer { close(descriptor) }
        guard let bytes = contents(of: descriptor), let record = CacheRecord(bytes: bytes, for: key) else {
            unlink(path)
            return nil
        }
        setTime(now, of: descriptor)
        return record
    }

    /// Writes the bytes of a record; if that fails, returns `false`, and neither it nor the former record is left.
    @discardableResult
    func save(_ bytes: Data, as key: CacheKey, at now: Date) -> Bool {
        let temporary = "\(directory)/\(key.name).\(UUID().uuidString)\(Self.unfinished)"
        let path = path(of: key)
        guard write(bytes, to: temporary, at: now), rename(temporary, path) == 0 else {
            unlink(temporary)
            unlink(path)
            return false
        }
        return true
    }

    /// Records that a record was used.
    func touch(_ key: CacheKey, at now: Date) {
        var times = [timespec(now), timespec(now)]
        utimensat(AT_FDCWD, path(of: key), &times, AT_SYMLINK_NOFOLLOW)
    }

    /// Removes a record.
    func remove(_ key: CacheKey) {
        unlink(path(of: key))
    }

    private func path(of key: CacheKey) -> String { "\(directory)/\(key.name)\(Self.finished)" }

    private func contents(of descriptor: Int32) -> Data? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isFile, let size = Int(exactly: status.st_size), size > 0 else {
            return nil
        }
        var data = Data(count: size)
        let count = data.withUnsafeMutableBytes { buffer in
            Self.repeated(upTo: size) { read(descriptor, buffer.baseAddress?.advanced(by: $0), size - $0) }
        }
        return count == size ? data : nil
    }

    private func write(_ bytes: Data, to path: String, at now: Date) -> Bool {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        var descriptor = open(path, flags, 0o600)
        if descriptor < 0, errno == ENOENT, (try? makeDirectory()) != nil {
            // Systems that are low on space delete cache directories.
            descriptor = open(path, flags, 0o600)
        }
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let count = bytes.withUnsafeBytes { buffer in
            Self.repeated(upTo: buffer.count) {
                Self.write(descriptor, buffer.baseAddress?.advanced(by: $0), buffer.count - $0)
            }
        }
        setTime(now, of: descriptor)
        return count == bytes.count
    }

    // The system's function, which is hidden by a method of the same name.
    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
        Darwin.write(descriptor, bytes, count)
        #elseif canImport(Glibc)
        Glibc.write(descriptor, bytes, count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes, count)
        #endif
    }

    // A call may do less than requested, and a signal may interrupt it.
    private static func repeated(upTo count: Int, _ call: (Int) -> Int) -> Int {
        var done = 0
        while done < count {
            let step = call(done)
            if step < 0, errno == EINTR { continue }
            guard step > 0 else { break }
            done += step
        }
        return done
    }

    private func setTime(_ time: Date, of descriptor: Int32) {
        var times = [timespec(time), timespec(time)]
        futimens(descriptor, &times)
    }

    // MARK: All files

    /// A file of the cache.
    private struct Entry {
        let path: String
        let size: Int
        let modified: TimeInterval
    }

    /// The size of all files together, in bytes.
    ///
    /// - Complexity: O(n) in their number, as for all following methods.
    func size() -> Int {
        entries().reduce(0) { $0 + $1.size }
    }

    /// The keys of all records of a resource.
    func keys(of resource: String) -> [CacheKey] {
        names().filter { $0.hasPrefix("\(resource)-") && $0.hasSuffix(Self.finished) }
            .map { CacheKey(name: String($0.dropLast(Self.finished.count))) }
    }

    /// Removes all records of these resources.
    func remove(_ resources: Set<String>) {
        for name in names() where resources.contains(String(name.prefix { $0 != "-" })) {
            unlink("\(directory)/\(name)")
        }
    }

    /// Removes all files of the cache.
    func removeAll() {
        for name in names() { unlink("\(directory)/\(name)") }
    }

    /// Removes the least recently used files down to a target, if there are more bytes than the limit; returns the
    /// remaining size.
    ///
    /// Temporary files of writers that crashed an hour ago or earlier are removed too.
    func sweep(ifAbove limit: Int, downTo target: Int, at now: Date) -> Int {
        var entries = entries()
        let old = now.timeIntervalSince1970 - 3600
        entries.removeAll { $0.path.hasSuffix(Self.unfinished) && $0.modified < old && unlink($0.path) == 0 }
        var size = entries.reduce(0) { $0 + $1.size }
        guard size > limit else { return size }
        for entry in entries.sorted(by: { $0.modified < $1.modified }) {
            guard size > target else { break }
            unlink(entry.path)
            size -= entry.size
        }
        return size
    }

    private func entries() -> [Entry] {
        names().compactMap { name in
            let path = "\(directory)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            return Entry(path: path, size: Self.size(Int(status.st_size)), modified: status.modified)
        }
    }

    /// The names of the cache's own files; other files in the directory are left alone.
    private func names() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { name in
            guard name.hasSuffix(Self.finished) || name.hasSuffix(Self.unfinished) else { return false }
            let parts = name.prefix { $0 != "." }.split(separator: "-")
            return parts.map(\.utf8.count) == [32, 64] && parts.joined().utf8.allSatisfy { $0.hexValue != nil }
        }
    }

    private static let finished = ".response"
    private static let unfinished = ".partial"
}

extension timespec {
    fileprivate init(_ date: Date) {
        // Limited to the range that all file systems and systems support.
        let seconds = min(max(0, date.timeIntervalSince1970), 4_000_000_000)
        self.init(tv_sec: Int(seconds), tv_nsec: Int((seconds - seconds.rounded(.down)) * 1e9))
    }

    fileprivate var seconds: TimeInterval { TimeInterval(tv_sec) + TimeInterval(tv_nsec) / 1e9 }
}

extension stat {
    fileprivate var isFile: Bool { st_mode & S_IFMT == S_IFREG }

    fileprivate var modified: TimeInterval {
        #if canImport(Darwin)
        st_mtimespec.seconds
        #else
        st_mtim.seconds
        #endif
    }
}

/// The number of bytes that may be written before the size of the directory has to be determined again.
///
/// Other processes write there too, so the known size becomes outdated: it is determined again after an eighth of the
/// limit. The limit is therefore kept exactly by one process, and each other one exceeds it by an eighth at most.
struct DiskBudget: Sendable {
    /// The maximum number of bytes.
    let limit: Int
    // Zero until the size was determined.
    private var left = 0

    /// Starts without a known size.
    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// Whether a file of that size is cached: one of more than a quarter of the limit would evict too much.
    func admits(_ bytes: Int) -> Bool { bytes <= limit / 4 }

    /// Takes the bytes of a file; returns `false` if the size of the directory has to be determined first.
    mutating func take(_ bytes: Int) -> Bool {
        guard bytes <= left else { return false }
        left -= bytes
        return true
    }

    /// The size to which the directory has to shrink, if it is too large for another file of that size.
    func target(for bytes: Int) -> Int { limit - max(limit / 8, bytes) }

    /// Records the size of the directory, and takes the bytes of a file.
    mutating func take(_ bytes: Int, besides size: Int) {
        left = max(0, min(limit - size, max(limit / 8, bytes)) - bytes)
    }
}
