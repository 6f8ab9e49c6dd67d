// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The folder of an outbox, which contains a journal, the bodies that are files, and a lock file.
///
/// The store appends records to the journal, and replaces the journal with a shorter one when it has become long. The
/// lock file is never removed.
///
/// Only one object across all processes uses the folder. The journal is read when the outbox is opened, and written on
/// the outbox's queue. No lock is held during I/O.
///
/// The journal is created and replaced relative to a descriptor of the folder, so if another folder is at the path now,
/// its files aren't touched.
final class OutboxStore: Sendable {
    private struct State {
        /// The open journal; `nil` before it is read, and after its release.
        var file: FileHandle?
        var length = 0
        /// The length above which the journal is compacted.
        var compactionLength = OutboxStore.minimumCompactionLength
        /// Whether the lock file occupies the reserve on disk.
        var hasReserve = false
        var damage: [FileError] = []
        /// The bodies that may belong to damaged entries.
        var orphanedBodies: Set<String> = []
        /// The repairs that are necessary after an error, before anything else is written.
        var repairs: Set<Repair> = []
        var folderLoss: FileError?
    }

    private enum Repair {
        /// Cuts off what remains of lines that couldn't be written completely.
        case truncate
        /// Waits until the name of a new journal is on disk, because a power failure could restore the previous
        /// journal.
        case syncNames
    }

    /// The length up to which compacting the journal isn't worthwhile.
    private static let minimumCompactionLength = 1 << 16
    /// The number of bytes that the lock file reserves on disk, and frees for the journal when the disk is full.
    ///
    /// Without this reserve, entries could be sent that can't be recorded as sent.
    private static let reserveSize = 1 << 16

    private let folder: URL
    private let bodies: URL
    private let journal: URL
    private let folderHandle: FileHandle
    private let bodiesHandle: FileHandle
    private let lock: FileHandle
    private let state = Locked(State())

    /// Locks a folder, which is created if it doesn't exist.
    ///
    /// - Throws: ``Outbox/Error`` if the folder is in use, or `FileError`.
    init(_ folder: URL) throws {
        guard folder.isFileURL else { throw FileError(.cannotWriteFile, folder, "not a file URL") }
        (self.folder, bodies, journal) = (folder, folder.appending(path: "bodies"), folder.appending(path: "journal"))
        do {
            for path in [folder.path, bodies.path] {
                try PrivateFile.createFolder(path)
                #if canImport(Darwin) && !os(macOS)
                // The files in the folder inherit its protection. They must be accessible while the device is locked,
                // because the system may launch the application at that time.
                let protection = FileProtectionType.completeUntilFirstUserAuthentication
                try FileManager.default.setAttributes([.protectionKey: protection], ofItemAtPath: path)
                #endif
            }
        } catch {
            throw FileError(folder, writing: error)
        }
        folderHandle = try Self.openFolder(folder)
        bodiesHandle = try Self.openFolder(bodies)
        lock = try Self.openFile("lock", in: folderHandle, O_CREAT, folder)
        guard PartialFile.lock(lock.fileDescriptor), try findMissingFile(of: [("lock", lock)]) == nil else {
            throw Outbox.Error.inUse
        }
        let length = Self.status(of: lock)?.st_size ?? 0
        state.withLock { $0.hasReserve = length >= Self.reserveSize }
    }

    deinit { release() }

    /// Releases the folder.
    func release() {
        // Unlock explicitly, because a child process that is being spawned has the descriptor too, and would keep the
        // lock.
        flock(lock.fileDescriptor, LOCK_UN)
        state.withLock { $0.file = nil }
    }

    // MARK: Journal

    /// The damaged parts that were found when the journal was opened, this time or earlier.
    var damage: [FileError] { state.withLock(\.damage) }

    /// Reads the journal; a missing file counts as empty.
    ///
    /// A last line whose write was interrupted is cut off. Other parts that aren't records are set aside.
    ///
    /// - Returns: The records and the damaged parts, in order.
    /// - Throws: `FileError`, or ``Outbox/Error``.
    func read() throws -> [OutboxRecord.Part] {
        PartialFile.discardAll(beside: journal)
        let file = try openFile("journal", O_CREAT)
        guard let bytes = try? file.readToEnd() ?? Data() else { throw FileError(journal, errno: EIO) }
        let (parts, end) = try OutboxRecord.read(bytes)
        try check(ftruncate(file.fileDescriptor, off_t(end)))
        try syncNames()
        let earlier = damagedFiles()
        let damage = parts.compactMap { part in
            if case .damage(let range, _) = part { setAside(bytes[range], at: range.lowerBound) } else { nil }
        }
        let lacksPositions = parts.contains { if case .record(let record) = $0 { record.lacksPosition } else { false } }
        let compactionLength: Int
        if damage.contains(where: { $0.file == journal }) {
            // The journal has the only copy of the damaged bytes, so never compact it.
            compactionLength = .max
        } else if !damage.isEmpty || lacksPositions {
            // Compact the journal soon, to give entries of the first version their positions, and to remove damaged
            // parts.
            compactionLength = 0
        } else {
            // Compacting a journal of additions wouldn't make it shorter.
            let additionCount = parts.count { if case .record(let record) = $0 { record.isAddition } else { false } }
            compactionLength =
                2 * additionCount > parts.count
                ? max(Self.minimumCompactionLength, 2 * end) : Self.minimumCompactionLength
        }
        state.withLock {
            ($0.file, $0.length, $0.compactionLength, $0.damage) = (file, end, compactionLength, earlier + damage)
        }
        try? allocateReserve()
        return parts
    }

    /// The error that stops the outbox once it has lost ownership of its folder; `nil` while it still owns the folder.
    ///
    /// An application may have removed or replaced the folder, and another outbox may use the folder at that path now.
    var folderLoss: FileError? { state.withLock(\.folderLoss) }

    /// Checks that the journal can be appended to, and repairs it after an earlier error.
    ///
    /// - Throws: `FileError`; see also ``folderLoss``.
    @discardableResult
    func check() throws(FileError) -> FileHandle {
        guard let file = state.withLock(\.file) else {
            throw FileError(.cannotWriteFile, journal, "the outbox has already closed it")
        }
        try checkFolder(file)
        if state.withLock({ $0.repairs.contains(.truncate) }) {
            try check(ftruncate(file.fileDescriptor, off_t(state.withLock(\.length))))
            state.withLock { _ = $0.repairs.remove(.truncate) }
        }
        if state.withLock({ $0.repairs.contains(.syncNames) }) {
            try syncNames()
            state.withLock { _ = $0.repairs.remove(.syncNames) }
        }
        return file
    }

    /// Checks that the folder, the lock file and the journal are still those of this outbox.
    ///
    /// - Throws: `FileError`; see also ``folderLoss``.
    private func checkFolder(_ file: FileHandle) throws(FileError) {
        if let folderLoss { throw folderLoss }
        guard let loss = try findMissingFile(of: [("lock", lock), ("journal", file)]) else { return }
        state.withLock { $0.folderLoss = loss }
        throw loss
    }

    /// Returns the error for a folder, or a file in it, that is no longer at its path; `nil` if all are there.
    ///
    /// - Throws: `FileError` if this can't be determined.
    private func findMissingFile(of files: [(name: String, handle: FileHandle)]) throws(FileError) -> FileError? {
        if let loss = try findMissingFile(of: folderHandle, at: folder, { fstatat(AT_FDCWD, folder.path, &$0, 0) }) {
            return loss
        }
        for (name, handle) in files {
            let loss = try findMissingFile(of: handle, at: folder.appending(path: name)) {
                fstatat(folderHandle.fileDescriptor, name, &$0, AT_SYMLINK_NOFOLLOW)
            }
            if let loss { return loss }
        }
        return nil
    }

    private func findMissingFile(
        of handle: FileHandle,
        at url: URL,
        _ find: (inout stat) -> Int32
    ) throws(FileError) -> FileError? {
        var named = stat()
        if find(&named) == 0 {
            let status = Self.status(of: handle)
            if status?.st_dev == named.st_dev, status?.st_ino == named.st_ino { return nil }
        } else if errno != ENOENT, errno != ENOTDIR {
            throw FileError(url, errno: errno)
        }
        return FileError(.cannotWriteFile, url, "it was removed or replaced")
    }

    /// Appends all of the lines or, if it throws, none of them.
    ///
    /// - Parameters:
    ///   - lines: The lines.
    ///   - isDurable: Whether the lines must survive a power failure, which requires a wait for the disk.
    ///   - usesReserve: Whether the lines may use the reserve if the disk is full. If not, they are written only if
    ///     there is also space for the reserve.
    /// - Throws: `FileError`.
    func append(_ lines: Data, isDurable: Bool, usesReserve: Bool) throws(FileError) {
        let file = try check()
        guard !lines.isEmpty else { return }
        if !usesReserve { try allocateReserve() }
        do {
            try extend(file, by: lines, isDurable: isDurable)
        } catch {
            guard error.code == .diskFull, usesReserve, releaseReserve() else { throw error }
            try extend(file, by: lines, isDurable: isDurable)
        }
    }

    private func extend(_ file: FileHandle, by lines: Data, isDurable: Bool) throws(FileError) {
        let length = state.withLock(\.length)
        do {
            try write(lines, to: file, isDurable: isDurable)
            // Check the folder again, because it may have been replaced during the wait for the disk. An entry in
            // another folder must not be acknowledged.
            if isDurable { try checkFolder(file) }
            state.withLock { $0.length = length + lines.count }
        } catch {
            if ftruncate(file.fileDescriptor, off_t(length)) != 0 {
                state.withLock { _ = $0.repairs.insert(.truncate) }
            }
            throw error
        }
    }

    /// Replaces the journal with a shorter one if it has become long; empties it if there are no entries.
    ///
    /// - Parameters:
    ///   - isEmpty: Whether there are no entries. If so, the journal is emptied, so that sent requests don't stay on
    ///     disk, and space is freed on a full disk.
    ///   - records: Returns the records of all entries.
    func compact(isEmpty: Bool, _ records: () -> [OutboxRecord]) {
        let (length, compactionLength) = state.withLock { ($0.length, $0.compactionLength) }
        guard isEmpty ? length > 0 && compactionLength < .max : length > compactionLength, let file = try? check()
        else { return }
        if !isEmpty {
            do { try replace(with: records()) } catch { state.withLock { $0.compactionLength = 2 * length } }
        } else if ftruncate(file.fileDescriptor, 0) == 0 {
            state.withLock { $0.length = 0 }
        }
        try? allocateReserve()
    }

    private func replace(with records: [OutboxRecord]) throws {
        let (name, descriptor) = (PartialFile.name(for: journal.lastPathComponent), folderHandle.fileDescriptor)
        defer { unlinkat(descriptor, name, 0) }
        let file = try openFile(name, O_CREAT | O_EXCL)
        let bytes = try records.lines()
        try write(bytes, to: file, isDurable: true)
        // Verify that the folder still belongs to this outbox only now, just before the rename: if someone removes just
        // the lock file, another outbox can open the folder at any time.
        try check()
        try check(renameat(descriptor, name, descriptor, journal.lastPathComponent))
        state.withLock {
            ($0.file, $0.length, $0.compactionLength) =
                (file, bytes.count, max(Self.minimumCompactionLength, 2 * bytes.count))
        }
        // Sync the directory before acknowledging an entry, or a power failure may lose the file's name.
        do { try syncNames() } catch { state.withLock { _ = $0.repairs.insert(.syncNames) } }
    }

    // MARK: Damage

    private static let damagedPrefix = "damaged-"

    /// Writes damaged bytes of the journal to a separate file, and returns the error that names the file.
    private func setAside(_ bytes: Data, at offset: Int) -> FileError {
        let file = folder.appending(path: "\(Self.damagedPrefix)\(UUID().uuidString)")
        let isAside = (try? PrivateFile.replace(file.path, with: bytes, isDurable: true)) != nil
        let end = isAside ? "and were moved to this file" : "and can't be moved to another file"
        let count = bytes.count.counting("byte")
        let reason = "\(count) of the journal, at offset \(offset), aren't a valid record, \(end)"
        return FileError(.damaged, isAside ? file : journal, reason)
    }

    /// Returns the errors for the files that were set aside when the journal was opened earlier.
    private func damagedFiles() -> [FileError] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasPrefix(Self.damagedPrefix) }.sorted().map { name in
            let reason = "bytes of the journal that aren't a valid record were moved to this file"
            return FileError(.damaged, folder.appending(path: name), reason)
        }
    }

    /// Removes the damaged parts, and the bodies of their entries.
    ///
    /// Damaged parts that couldn't be set aside are removed from the journal when it is compacted.
    ///
    /// - Throws: `FileError`.
    func discardDamage() throws(FileError) {
        for error in damage {
            if error.file == journal {
                state.withLock { $0.compactionLength = 0 }
            } else if unlink(error.file.path) != 0, errno != ENOENT {
                throw FileError(error.file, errno: errno)
            }
            state.withLock { $0.damage.removeAll { $0 == error } }
        }
        let orphans = state.withLock { state in
            defer { state.orphanedBodies = [] }
            return state.orphanedBodies
        }
        for name in orphans { discard(name) }
    }

    // MARK: Reserve

    /// Allocates the reserve, unless it is allocated already.
    ///
    /// - Throws: `FileError`, usually because the disk is full.
    private func allocateReserve() throws(FileError) {
        guard !state.withLock(\.hasReserve) else { return }
        do {
            try check(ftruncate(lock.fileDescriptor, 0))
            // Don't write zeros, because a file system might not store them.
            try write(Data(repeating: UInt8(ascii: "."), count: Self.reserveSize), to: lock, isDurable: false)
            state.withLock { $0.hasReserve = true }
        } catch {
            ftruncate(lock.fileDescriptor, 0)
            throw error
        }
    }

    /// Frees the reserve; returns false if there is none.
    private func releaseReserve() -> Bool {
        let hadReserve = state.withLock { state in
            defer { state.hasReserve = false }
            return state.hasReserve
        }
        return hadReserve && ftruncate(lock.fileDescriptor, 0) == 0
    }

    // MARK: Bodies

    /// Returns the location of the body of an entry.
    func body(_ name: String) -> URL { bodies.appending(path: name) }

    /// Copies a file to an entry's body, and blocks until it is on disk; call it only on a thread that is allowed to
    /// block.
    ///
    /// - Throws: `FileError`.
    func copy(_ file: URL, to name: String) throws {
        let (source, manager) = (file.resolvingSymlinksInPath(), FileManager.default)
        let isFile: Bool?
        do {
            isFile = try source.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
        } catch {
            throw FileError(.cannotReadFile, source, error.localizedDescription)
        }
        guard isFile == true else { throw FileError(.cannotReadFile, source, "not a regular file") }
        do {
            try manager.copyItem(at: source, to: body(name))
            try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: body(name).path)
            try write(Data(), to: openFile("bodies/\(name)", 0), isDurable: true)
            try syncNames()
        } catch {
            // Remove the copy by its path, because the folder may have been replaced.
            unlink(body(name).path)
            throw error as? FileError ?? FileError(source, writing: error)
        }
    }

    /// Removes a body.
    func discard(_ name: String) { unlinkat(bodiesHandle.fileDescriptor, name, 0) }

    /// Removes the bodies that belong to no entry.
    ///
    /// After damage, the bodies are kept until ``discardDamage()``, because a body may be all that is left of a damaged
    /// entry.
    func discardBodies(except names: Set<String>) {
        let found = (try? FileManager.default.contentsOfDirectory(atPath: bodies.path)) ?? []
        let orphans = Set(found).subtracting(names)
        guard damage.isEmpty else { return state.withLock { $0.orphanedBodies = orphans } }
        for name in orphans { discard(name) }
    }

    // MARK: System

    private func openFile(_ name: String, _ flags: Int32) throws(FileError) -> FileHandle {
        try Self.openFile(name, in: folderHandle, flags, folder)
    }

    /// Opens a file of the folder for reading and appending; only its owner can access it.
    private static func openFile(
        _ name: String,
        in handle: FileHandle,
        _ flags: Int32,
        _ folder: URL
    ) throws(FileError) -> FileHandle {
        let flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags
        let descriptor = openat(handle.fileDescriptor, name, flags, 0o600)
        guard descriptor >= 0 else { throw FileError(folder.appending(path: name), errno: errno) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func openFolder(_ folder: URL) throws(FileError) -> FileHandle {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw FileError(folder, errno: errno) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func status(of file: FileHandle) -> stat? {
        var status = stat()
        return fstat(file.fileDescriptor, &status) == 0 ? status : nil
    }

    private func write(_ bytes: Data, to file: FileHandle, isDurable: Bool) throws(FileError) {
        let errorNumber = PrivateFile.writeAll(bytes, to: file.fileDescriptor)
        guard errorNumber == 0 else { throw FileError(journal, errno: errorNumber) }
        #if canImport(Darwin)
        // `fsync` leaves the bytes in the cache of the drive, and not every file system supports `F_FULLFSYNC`.
        if isDurable, fcntl(file.fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        if isDurable { try check(fsync(file.fileDescriptor)) }
    }

    /// Waits until the names of the files are on disk.
    private func syncNames() throws(FileError) {
        for handle in [bodiesHandle, folderHandle] { try check(fsync(handle.fileDescriptor)) }
    }

    private func check(_ result: Int32) throws(FileError) {
        guard result >= 0 else { throw FileError(journal, errno: errno) }
    }
}
