// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The folder of an outbox: a journal that is appended to, and replaced by a shorter one from time to time; the bodies
/// that are files; and a lock file, which is never removed.
///
/// Only one object in all processes uses the folder. The outbox calls it on one queue; its state has a lock only
/// because the compiler can't know that. No lock is held during I/O.
///
/// The journal is created and replaced relative to a descriptor of the folder: if another folder is at the path now, its
/// files aren't touched.
final class OutboxStore: Sendable {
    private struct State {
        /// The open journal; `nil` before it is read, and after its release.
        var file: FileHandle?
        var length = 0
        /// The length above which the journal is replaced.
        var limit = OutboxStore.shortest
        /// Whether the lock file occupies the reserve.
        var hasReserve = false
        var damage: [FileError] = []
        /// The bodies that may belong to damaged entries.
        var orphanedBodies: Set<String> = []
        /// What an error has left undone, and must be done before anything is written.
        var repairs: Set<Repair> = []
        var loss: FileError?
    }

    private enum Repair {
        /// Cut off the rest of a line that couldn't be written.
        case end
        /// Wait until the name of a new journal is on the disk: after a power failure, the previous one could be back.
        case names
    }

    /// The length up to which replacing the journal isn't worthwhile.
    private static let shortest = 1 << 16
    /// The bytes that the lock file occupies, and gives to the journal when the disk is full: otherwise entries could
    /// be sent that can't be recorded as sent.
    private static let reserve = 1 << 16

    private let folder: URL
    private let bodies: URL
    private let journal: URL
    private let folderHandle: FileHandle
    private let bodiesHandle: FileHandle
    private let lock: FileHandle
    private let state = Locked(State())

    /// Locks a folder, which is created if it doesn't exist.
    ///
    /// - Throws: ``Outbox/Error`` if it is in use, or `FileError`.
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
        folderHandle = try Self.openFolder(folder)
        bodiesHandle = try Self.openFolder(bodies)
        lock = try Self.openFile("lock", in: folderHandle, O_CREAT, folder)
        guard PartialFile.lock(lock.fileDescriptor), try findLoss(of: [("lock", lock)]) == nil else {
            throw Outbox.Error.inUse
        }
        let length = Self.status(of: lock)?.st_size ?? 0
        state.withLock { $0.hasReserve = length >= Self.reserve }
    }

    deinit { release() }

    /// Releases the folder.
    func release() {
        // A child process that is just being spawned has the descriptor too, and would keep the lock.
        flock(lock.fileDescriptor, LOCK_UN)
        state.withLock { $0.file = nil }
    }

    // MARK: Journal

    /// The damaged parts of the journal, of this opening and of earlier ones.
    var damage: [FileError] { state.withLock(\.damage) }

    /// Reads the journal; one that doesn't exist is empty.
    ///
    /// A last line whose write was interrupted is cut off; other parts that aren't records are set aside.
    ///
    /// - Returns: The records and the damaged parts, in their order.
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
        let limit: Int
        if damage.contains(where: { $0.file == journal }) {
            // It has the only copy of the damaged bytes.
            limit = .max
        } else if !damage.isEmpty || lacksPositions {
            // The entries of the first version get their positions.
            limit = 0
        } else {
            // A journal of additions wouldn't become shorter.
            let additionCount = parts.count { if case .record(let record) = $0 { record.isAddition } else { false } }
            limit = 2 * additionCount > parts.count ? max(Self.shortest, 2 * end) : Self.shortest
        }
        state.withLock { ($0.file, $0.length, $0.limit, $0.damage) = (file, end, limit, earlier + damage) }
        try? keepReserve()
        return parts
    }

    /// The error after which the outbox must stop, because the folder isn't its own any more; `nil` before.
    ///
    /// An application may have removed the folder, or replaced it, and another outbox may have opened what is there
    /// now.
    var loss: FileError? { state.withLock(\.loss) }

    /// Checks that the journal can be appended to, and repairs what an earlier error has left undone.
    ///
    /// - Throws: `FileError`; see also ``loss``.
    @discardableResult
    func check() throws(FileError) -> FileHandle {
        guard let file = state.withLock(\.file) else {
            throw FileError(.cannotWriteFile, journal, "the outbox has released it")
        }
        try checkFolder(file)
        if state.withLock({ $0.repairs.contains(.end) }) {
            try check(ftruncate(file.fileDescriptor, off_t(state.withLock(\.length))))
            state.withLock { _ = $0.repairs.remove(.end) }
        }
        if state.withLock({ $0.repairs.contains(.names) }) {
            try syncNames()
            state.withLock { _ = $0.repairs.remove(.names) }
        }
        return file
    }

    /// Checks that the folder, the lock and the journal are still those of this outbox.
    ///
    /// - Throws: `FileError`; see also ``loss``.
    private func checkFolder(_ file: FileHandle) throws(FileError) {
        if let loss { throw loss }
        guard let loss = try findLoss(of: [("lock", lock), ("journal", file)]) else { return }
        state.withLock { $0.loss = loss }
        throw loss
    }

    /// Returns the error for a folder, or a file in it, that isn't at its path any more; `nil` if all are there.
    ///
    /// - Throws: `FileError` if that can't be found out.
    private func findLoss(of files: [(name: String, handle: FileHandle)]) throws(FileError) -> FileError? {
        if let loss = try findLoss(of: folderHandle, at: folder, { fstatat(AT_FDCWD, folder.path, &$0, 0) }) {
            return loss
        }
        for (name, handle) in files {
            let loss = try findLoss(of: handle, at: folder.appending(path: name)) {
                fstatat(folderHandle.fileDescriptor, name, &$0, AT_SYMLINK_NOFOLLOW)
            }
            if let loss { return loss }
        }
        return nil
    }

    private func findLoss(
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
        return FileError(.cannotWriteFile, url, "it was removed, or replaced by another one")
    }

    /// Appends lines: all, or none if it throws.
    ///
    /// - Parameters:
    ///   - lines: The lines.
    ///   - isDurable: Whether the lines must survive a power failure, which requires a wait for the disk.
    ///   - usesReserve: Whether they use the reserve if the disk is full. Otherwise they are written only if there is
    ///     space for the reserve, too.
    /// - Throws: `FileError`.
    func append(_ lines: Data, isDurable: Bool, usesReserve: Bool) throws(FileError) {
        let file = try check()
        guard !lines.isEmpty else { return }
        if !usesReserve { try keepReserve() }
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
            // Otherwise an acknowledged entry could be in a folder that was replaced during the wait for the disk.
            if isDurable { try checkFolder(file) }
            state.withLock { $0.length = length + lines.count }
        } catch {
            if ftruncate(file.fileDescriptor, off_t(length)) != 0 { state.withLock { _ = $0.repairs.insert(.end) } }
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
        let (length, limit) = state.withLock { ($0.length, $0.limit) }
        guard isEmpty ? length > 0 && limit < .max : length > limit, let file = try? check() else { return }
        if !isEmpty {
            do { try replace(with: records()) } catch { state.withLock { $0.limit = 2 * length } }
        } else if ftruncate(file.fileDescriptor, 0) == 0 {
            state.withLock { $0.length = 0 }
        }
        try? keepReserve()
    }

    private func replace(with records: [OutboxRecord]) throws {
        let (name, descriptor) = (PartialFile.name(for: journal.lastPathComponent), folderHandle.fileDescriptor)
        defer { unlinkat(descriptor, name, 0) }
        let file = try openFile(name, O_CREAT | O_EXCL)
        let bytes = try records.lines()
        try write(bytes, to: file, isDurable: true)
        // Late, because another outbox can open a folder whose lock file alone was removed.
        try check()
        try check(renameat(descriptor, name, descriptor, journal.lastPathComponent))
        state.withLock { ($0.file, $0.length, $0.limit) = (file, bytes.count, max(Self.shortest, 2 * bytes.count)) }
        // An acknowledged line must not be in a file whose name a power failure can lose.
        do { try syncNames() } catch { state.withLock { _ = $0.repairs.insert(.names) } }
    }

    // MARK: Damage

    private static let damagedPrefix = "damaged-"

    /// Writes damaged bytes of the journal to a file of their own; returns the error that says where they are.
    private func setAside(_ bytes: Data, at offset: Int) -> FileError {
        let file = folder.appending(path: "\(Self.damagedPrefix)\(UUID().uuidString)")
        let isAside = (try? PrivateFile.replace(file.path, with: bytes, isDurable: true)) != nil
        let end = isAside ? "and were set aside here" : "and can't be set aside"
        let reason = "\(bytes.count) bytes of the journal, at \(offset), aren't a record, \(end)"
        return FileError(.damaged, isAside ? file : journal, reason)
    }

    /// Returns the errors for the files that earlier openings have set aside.
    private func damagedFiles() -> [FileError] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasPrefix(Self.damagedPrefix) }.sorted().map { name in
            let reason = "bytes of the journal that aren't a record were set aside here"
            return FileError(.damaged, folder.appending(path: name), reason)
        }
    }

    /// Removes the damaged parts, and the bodies of their entries; those in the journal go with its next replacement.
    ///
    /// - Throws: `FileError`.
    func discardDamage() throws(FileError) {
        for error in damage {
            if error.file == journal {
                state.withLock { $0.limit = 0 }
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

    /// Occupies the reserve, unless it is occupied.
    ///
    /// - Throws: `FileError`, usually since the disk is full.
    private func keepReserve() throws(FileError) {
        guard !state.withLock(\.hasReserve) else { return }
        do {
            try check(ftruncate(lock.fileDescriptor, 0))
            // Not zeros, which a file system might not store.
            try write(Data(repeating: UInt8(ascii: "."), count: Self.reserve), to: lock, isDurable: false)
            state.withLock { $0.hasReserve = true }
        } catch {
            ftruncate(lock.fileDescriptor, 0)
            throw error
        }
    }

    /// Gives the reserve back to the disk; returns false if it isn't occupied.
    private func releaseReserve() -> Bool {
        let hadReserve = state.withLock { state in
            defer { state.hasReserve = false }
            return state.hasReserve
        }
        return hadReserve && ftruncate(lock.fileDescriptor, 0) == 0
    }

    // MARK: Bodies

    /// The location of the body of an entry.
    func body(_ name: String) -> URL { bodies.appending(path: name) }

    /// Copies a file to a body, and waits for the disk; from any thread that may be blocked.
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
        guard isFile == true else { throw FileError(.cannotReadFile, source, "it isn't a file") }
        do {
            try manager.copyItem(at: source, to: body(name))
            try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: body(name).path)
            try write(Data(), to: openFile("bodies/\(name)", 0), isDurable: true)
            try syncNames()
        } catch {
            // By its path, where the copy is: the folder may have been replaced.
            unlink(body(name).path)
            throw error as? FileError ?? FileError(source, writing: error)
        }
    }

    /// Removes a body.
    func discard(_ name: String) { unlinkat(bodiesHandle.fileDescriptor, name, 0) }

    /// Removes the bodies that belong to no entry.
    ///
    /// A body may be all that is left of a damaged entry, so after damage they are kept until ``discardDamage()``.
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

    /// Opens a file of the folder for its owner alone, to be read and appended to.
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
        // `fsync` leaves the bytes in the cache of the drive. Not every file system supports `F_FULLFSYNC`.
        if isDurable, fcntl(file.fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        if isDurable { try check(fsync(file.fileDescriptor)) }
    }

    /// Waits until the names of the files are on the disk.
    private func syncNames() throws(FileError) {
        for handle in [bodiesHandle, folderHandle] { try check(fsync(handle.fileDescriptor)) }
    }

    private func check(_ result: Int32) throws(FileError) {
        guard result >= 0 else { throw FileError(journal, errno: errno) }
    }
}
