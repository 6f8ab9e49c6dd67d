// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The folder of an outbox: a journal that is appended to, and replaced by a shorter one from time to time; the bodies
/// that are files; and a lock file, which is never removed.
///
/// Only one object in all processes uses the folder. The outbox calls it on one queue; its state has a lock only
/// because the compiler can't know that. No lock is held during I/O.
final class OutboxStore: Sendable {
    /// The length up to which replacing the journal isn't worthwhile.
    private static let shortest = 1 << 16

    private let folder: URL
    private let bodies: URL
    private let journal: URL
    private let lock: FileHandle
    /// The open journal, `nil` after its release and if the end of the file is unknown; its length; and the length
    /// above which it is replaced.
    private let state = Locked((file: FileHandle?.none, length: 0, limit: OutboxStore.shortest))

    /// Locks a folder, which is created if it doesn't exist.
    ///
    /// - Throws: ``Outbox/Error`` if it is in use, or ``FileError``.
    init(_ folder: URL) throws {
        guard folder.isFileURL else { throw FileError(.cannotWriteFile, folder, "it isn't the URL of a folder") }
        (self.folder, bodies, journal) = (folder, folder.appending(path: "bodies"), folder.appending(path: "journal"))
        do {
            for path in [folder.path, bodies.path] {
                try PrivateFile.createFolder(path)
                #if canImport(Darwin) && !os(macOS)
                // The files in the folder inherit its protection. The system may launch an application while the device
                // is locked.
                let protection = FileProtectionType.completeUntilFirstUserAuthentication
                try FileManager.default.setAttributes([.protectionKey: protection], ofItemAtPath: path)
                #endif
            }
        } catch {
            throw FileError(folder, writing: error)
        }
        lock = try Self.openFile(folder.appending(path: "lock"), O_CREAT)
        guard PartialFile.lock(lock.fileDescriptor) else { throw Outbox.Error.inUse }
    }

    deinit { release() }

    /// Releases the folder.
    func release() {
        // A child process that is just being spawned has the descriptor too, and would keep the lock.
        flock(lock.fileDescriptor, LOCK_UN)
        state.withLock { $0.file = nil }
    }

    // MARK: Journal

    /// Reads the journal; one that doesn't exist is empty.
    ///
    /// A last line whose write was interrupted is cut off; other parts that aren't records are set aside.
    ///
    /// - Returns: The records in their order, and the parts that aren't records.
    /// - Throws: ``FileError``.
    func read() throws -> (records: [OutboxRecord], damage: [FileError]) {
        PartialFile.discardAll(beside: journal)
        let file = try Self.openFile(journal, O_CREAT)
        guard let bytes = try? file.readToEnd() ?? Data() else { throw FileError(journal, errno: EIO) }
        let (records, parts, end) = OutboxRecord.read(bytes)
        try check(ftruncate(file.fileDescriptor, off_t(end)))
        try syncNames()
        let damage = parts.map { setAside(bytes[$0], at: $0.lowerBound) }
        // A damaged journal is replaced at once, unless it has the only copy of the damaged bytes.
        let limit = damage.isEmpty ? Self.shortest : damage.contains { $0.file == journal } ? .max : 0
        state.withLock { ($0.file, $0.length, $0.limit) = (file, end, limit) }
        return (records, damage)
    }

    /// Appends lines: all, or none if it throws.
    ///
    /// - Parameters:
    ///   - lines: The lines.
    ///   - isDurable: Whether the lines have to survive a power failure, which requires a wait for the disk.
    /// - Throws: ``FileError``.
    func append(_ lines: Data, isDurable: Bool) throws(FileError) {
        let (handle, length) = state.withLock { ($0.file, $0.length) }
        guard let file = handle else { throw FileError(.cannotWriteFile, journal, "an error has closed it") }
        do {
            try write(lines, to: file, isDurable: isDurable)
            state.withLock { $0.length = length + lines.count }
        } catch {
            if ftruncate(file.fileDescriptor, off_t(length)) != 0 { state.withLock { $0.file = nil } }
            throw error
        }
    }

    /// Replaces the journal by a shorter one if it has become long; empties it if there are no entries.
    ///
    /// - Parameters:
    ///   - isEmpty: Whether there are no entries. Then sent requests don't stay on the disk, and a full disk gets
    ///     space.
    ///   - records: Returns the records of all entries.
    func compact(isEmpty: Bool, _ records: () -> [OutboxRecord]) {
        let (file, length, limit) = state.withLock { ($0.file, $0.length, $0.limit) }
        if isEmpty, length > 0, limit < .max, let file, ftruncate(file.fileDescriptor, 0) == 0 {
            state.withLock { $0.length = 0 }
        } else if !isEmpty, length > limit {
            do { try replace(with: records()) } catch { state.withLock { $0.limit = 2 * length } }
        }
    }

    private func replace(with records: [OutboxRecord]) throws {
        let url = folder.appending(path: PartialFile.name(for: journal.lastPathComponent))
        defer { unlink(url.path) }
        let file = try Self.openFile(url, O_CREAT | O_EXCL)
        let bytes = try records.reduce(into: Data()) { $0 += try $1.line() }
        try write(bytes, to: file, isDurable: true)
        try check(rename(url.path, journal.path))
        state.withLock { ($0.file, $0.length, $0.limit) = (file, bytes.count, max(Self.shortest, 2 * bytes.count)) }
        // An acknowledged line must not be in a file whose name a power failure can lose.
        do { try syncNames() } catch { state.withLock { $0.file = nil } }
    }

    /// Writes damaged bytes of the journal to a file of their own; returns the error that says where they are.
    private func setAside(_ bytes: Data, at offset: Int) -> FileError {
        let file = folder.appending(path: "damaged-\(UUID().uuidString)")
        let isAside = (try? PrivateFile.replace(file.path, with: bytes, isDurable: true)) != nil
        let end = isAside ? "and were set aside here" : "and can't be set aside"
        let reason = "\(bytes.count) bytes of the journal, at \(offset), aren't a record, \(end)"
        return FileError(.damaged, isAside ? file : journal, reason)
    }

    // MARK: Bodies

    /// The location of the body of an entry.
    func body(_ name: String) -> URL { bodies.appending(path: name) }

    /// Copies a file to a body, and waits for the disk; from any thread that may be blocked.
    ///
    /// - Throws: ``FileError``.
    func copy(_ file: URL, to name: String) throws {
        let (source, manager) = (file.resolvingSymlinksInPath(), FileManager.default)
        do {
            guard try source.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
                throw FileError(.cannotReadFile, source, "it isn't a file")
            }
            try manager.copyItem(at: source, to: body(name))
            try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: body(name).path)
            try write(Data(), to: Self.openFile(body(name), 0), isDurable: true)
            try syncNames()
        } catch {
            discard(name)
            throw error as? FileError ?? FileError(source, writing: error)
        }
    }

    /// Removes a body.
    func discard(_ name: String) { unlink(body(name).path) }

    /// Removes the bodies that belong to no entry.
    func discardBodies(except names: Set<String>) {
        let found = (try? FileManager.default.contentsOfDirectory(atPath: bodies.path)) ?? []
        for name in found where !names.contains(name) { discard(name) }
    }

    // MARK: System

    /// Opens a file for its owner alone, to be read and appended to.
    private static func openFile(_ file: URL, _ flags: Int32) throws(FileError) -> FileHandle {
        let descriptor = open(file.path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0 else { throw FileError(file, errno: errno) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private func write(_ bytes: Data, to file: FileHandle, isDurable: Bool) throws(FileError) {
        let number = PrivateFile.writeAll(bytes, to: file.fileDescriptor)
        guard number == 0 else { throw FileError(journal, errno: number) }
        #if canImport(Darwin)
        // `fsync` leaves the bytes in the cache of the drive. Not every file system supports `F_FULLFSYNC`.
        if isDurable, fcntl(file.fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        if isDurable { try check(fsync(file.fileDescriptor)) }
    }

    /// Waits until the names of the files are on the disk.
    private func syncNames() throws(FileError) {
        for folder in [bodies, folder] {
            let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
            defer { close(descriptor) }
            try check(fsync(descriptor))
        }
    }

    private func check(_ result: Int32) throws(FileError) {
        guard result >= 0 else { throw FileError(journal, errno: errno) }
    }
}
