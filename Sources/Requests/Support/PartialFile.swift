// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A file that is written in the folder of its destination, and moved to the destination when it is complete.
///
/// At the destination, the file is therefore either complete or absent. It is created with permissions for its owner
/// only. Symbolic links are never followed, neither at the path of the partial file nor at the destination. While the
/// file is open, it is locked, so that only one writer can resume it, even from several processes.
///
/// Only one caller may write at a time. ``discard()`` may be called from any thread, even during a write. The
/// descriptor is closed exactly once, and never during a write, because another file could get the same descriptor and
/// receive the bytes.
package final class PartialFile: Sendable {
    typealias Writer = PrivateFile.Writer

    /// The location of the file, until it is moved.
    let url: URL

    private let state: Locked<State>
    /// Tracks the current use of the descriptor, if any, so that `finish()` can wait for it.
    private let activeUses = DispatchGroup()
    private let writer: Writer

    private struct State {
        let descriptor: Int32
        var length: Int64
        var isInUse = false
        var isClosed = false

        /// Begins a use of the descriptor; returns `nil` if the file is closed or in use.
        mutating func beginUse() -> Int32? {
            guard !isClosed, !isInUse else { return nil }
            isInUse = true
            return descriptor
        }

        /// Ends a use; if the file was closed during the use, returns the descriptor, which the caller must close.
        mutating func endUse(length: Int64) -> Int32? {
            isInUse = false
            self.length = length
            return isClosed ? descriptor : nil
        }

        /// Marks the file as closed; unless it is in use, returns the descriptor, which the caller must close.
        mutating func close() -> (isFirst: Bool, descriptor: Int32?) {
            guard !isClosed else { return (false, nil) }
            isClosed = true
            return (true, isInUse ? nil : descriptor)
        }
    }

    private init(_ url: URL, descriptor: Int32, length: Int64, writer: @escaping Writer) {
        self.url = url
        self.writer = writer
        state = Locked(State(descriptor: descriptor, length: length))
    }

    deinit {
        if let descriptor = state.withLock({ $0.close().descriptor }) { Self.release(descriptor) }
    }

    /// Creates an empty file in the folder of a destination, under a hidden, unique name.
    ///
    /// - Parameters:
    ///   - destination: The final location.
    ///   - writer: Writes the bytes to the descriptor; by default with the system call `write`.
    /// - Returns: The empty file.
    /// - Throws: ``FileError``. An existing file at the destination isn't an error yet.
    static func create(
        beside destination: URL,
        writer: @escaping Writer = PrivateFile.systemWriter
    ) throws(FileError) -> PartialFile {
        guard destination.isFileURL else {
            throw FileError(.cannotWriteFile, destination, "not a file URL")
        }
        let folder = destination.deletingLastPathComponent()
        let url = folder.appendingPathComponent(name(for: destination.lastPathComponent), isDirectory: false)
        do throws(POSIXError) {
            let descriptor = try PrivateFile.create(url.path)
            _ = lock(descriptor)
            return PartialFile(url, descriptor: descriptor, length: 0, writer: writer)
        } catch {
            throw FileError(destination, errno: error.code.rawValue)
        }
    }

    /// Creates the folder of a file, including intermediate folders.
    ///
    /// - Throws: ``FileError``. An existing folder isn't an error.
    static func createFolder(of destination: URL) throws(FileError) {
        let folder = destination.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw FileError(destination, writing: error)
        }
    }

    /// Opens the file of an interrupted transfer, to continue writing at its end.
    ///
    /// - Returns: The file, or `nil` if it is missing or locked, or if it isn't a partial file of this user.
    static func resume(_ url: URL, writer: @escaping Writer = PrivateFile.systemWriter) -> PartialFile? {
        guard url.isFileURL, isValidName(url.lastPathComponent) else { return nil }
        let descriptor = open(url.path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        // Reject a file with a second hard link. This type never creates such a file, and other users might read it
        // under its second name.
        guard lock(descriptor), fstat(descriptor, &status) == 0, status.isFile,
            status.st_nlink == 1, status.st_uid == geteuid(), isSameFile(url, status),
            lseek(descriptor, 0, Int32(SEEK_END)) >= 0
        else {
            release(descriptor)
            return nil
        }
        return PartialFile(url, descriptor: descriptor, length: Int64(status.st_size), writer: writer)
    }

    /// The destination, whose name may be truncated.
    ///
    /// Errors mention the destination, because the caller doesn't know about the hidden file.
    private var destination: URL {
        url.deletingLastPathComponent()
            .appendingPathComponent(Self.destination(of: url.lastPathComponent), isDirectory: false)
    }

    /// The byte count of the file.
    var length: Int64 { state.withLock { $0.length } }

    /// Appends bytes to the file.
    ///
    /// If writing fails, ``length`` includes the bytes that were already written.
    ///
    /// - Throws: ``FileError``, including when the file was already moved or discarded.
    func append(_ bytes: Data) throws(FileError) {
        try withDescriptor { descriptor, length in
            PrivateFile.writeAll(bytes, to: descriptor, by: writer) { length += Int64($0) }
        }
    }

    /// Truncates the file, by default to zero bytes, so that the next bytes are written at the new end.
    ///
    /// - Throws: ``FileError``, including when the file is shorter than `position`.
    func truncate(to position: Int64 = 0) throws(FileError) {
        try withDescriptor { descriptor, length in
            guard 0 <= position, position <= length else { return EINVAL }
            guard ftruncate(descriptor, off_t(position)) == 0 else { return errno }
            guard lseek(descriptor, off_t(position), Int32(SEEK_SET)) >= 0 else { return errno }
            length = position
            return 0
        }
    }

    /// Moves the file to its destination atomically, and closes it.
    ///
    /// - Parameters:
    ///   - destination: The final location. If it is on another volume, the bytes are first copied to its folder.
    ///   - overwrite: Whether an existing file is replaced. A symbolic link itself is replaced, not its target.
    /// - Throws: ``FileError``. The file then remains at its previous location, and can be moved elsewhere.
    func move(to destination: URL, overwrite: Bool = false) throws(FileError) {
        guard destination.isFileURL else {
            throw FileError(.cannotWriteFile, destination, "not a file URL")
        }
        try withDescriptor(for: destination) { _, _ throws(FileError) in
            let from = url.path
            let to = destination.path
            let number = overwrite ? (rename(from, to) == 0 ? 0 : errno) : Self.renameWithoutReplacing(from, to)
            guard number == EXDEV else { return number }
            try copy(to: destination, overwrite: overwrite)
            // The copy is at the destination, so a failure to remove the original doesn't matter.
            unlink(from)
            return 0
        }
        finish()
    }

    /// Copies the file to a destination on another volume.
    private func copy(to destination: URL, overwrite: Bool) throws(FileError) {
        let copy = try PartialFile.create(beside: destination, writer: writer)
        do {
            let source = try FileHandle(forReadingFrom: url)
            defer { try? source.close() }
            while let bytes = try source.readChunk() {
                // Stop if the file was discarded, because copying may take a long time.
                guard !state.withLock({ $0.isClosed }) else { throw FileError(destination, errno: ECANCELED) }
                try copy.append(bytes)
            }
            try copy.move(to: destination, overwrite: overwrite)
        } catch {
            copy.discard()
            throw error as? FileError ?? FileError(destination, writing: error)
        }
    }

    /// Closes the file but keeps it, so that the transfer can be resumed.
    ///
    /// The method waits for a write in progress, so that the file has its final length and can be resumed immediately.
    func finish() {
        if let descriptor = state.withLock({ $0.close().descriptor }) { Self.release(descriptor) }
        activeUses.wait()
    }

    /// Closes and removes the file; does nothing if the file was already moved, closed or discarded.
    func discard() {
        let (isFirst, descriptor) = state.withLock { $0.close() }
        if isFirst { unlink(url.path) }
        if let descriptor { Self.release(descriptor) }
    }

    /// Removes the partial files for a destination, except those that a download is using.
    ///
    /// - Complexity: O(n) in the number of files in the folder.
    package static func discardAll(beside destination: URL) {
        let name = destination.lastPathComponent
        // Longer names are truncated, so their partial files may belong to another destination.
        guard name.utf8.count <= maximumPrefixLength else { return }
        let folder = destination.deletingLastPathComponent()
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] where isValidName(file) {
            guard self.destination(of: file) == name else { continue }
            resume(folder.appendingPathComponent(file, isDirectory: false))?.discard()
        }
    }

    /// Runs a closure with the descriptor, which stays open until the closure returns.
    ///
    /// The closure returns an `errno` value, or 0 if it was successful.
    private func withDescriptor(
        for file: URL? = nil,
        _ call: (_ descriptor: Int32, _ length: inout Int64) throws(FileError) -> Int32
    ) throws(FileError) {
        // Enter before the use begins, and leave after the descriptor is closed, so that `finish()` can't miss the use.
        activeUses.enter()
        defer { activeUses.leave() }
        let (found, start) = state.withLock { ($0.beginUse(), $0.length) }
        guard let descriptor = found else { throw FileError(file ?? destination, errno: EBADF) }
        var length = start
        defer {
            if let last = state.withLock({ [length] in $0.endUse(length: length) }) { Self.release(last) }
        }
        let number = try call(descriptor, &length)
        guard number == 0 else { throw FileError(file ?? destination, errno: number) }
    }
}

// MARK: - Names

extension PartialFile {
    /// Returns a hidden name for a partial file, which contains the name of the destination and a unique ID.
    ///
    /// If the name of the destination is too long, it is truncated.
    package static func name(for destination: String) -> String {
        var name = ""
        for character in destination where name.utf8.count + character.utf8.count <= maximumPrefixLength {
            name.append(character)
        }
        return ".\(name).\(UUID().uuidString)\(suffix)"
    }

    /// Returns whether a name has the format of ``name(for:)``; other files are never opened or removed.
    ///
    /// A stored value, such as a resume token, contains the name of a file to write. The check prevents a manipulated
    /// value from overwriting an arbitrary file.
    static func isValidName(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(suffix), !name.utf8.contains(UInt8(ascii: "/")) else { return false }
        let identifier = name.dropLast(suffix.count).suffix(37)
        return identifier.first == "." && UUID(uuidString: String(identifier.dropFirst())) != nil
    }

    /// Returns the name of the destination, possibly truncated, from a name that ``name(for:)`` created.
    private static func destination(of name: String) -> String {
        String(name.dropFirst().dropLast(suffix.count + 37))
    }

    private static let suffix = ".partial"
    // Even with dots, ID and suffix, the name is far shorter than the limit of any file system.
    private static let maximumPrefixLength = 120

    /// Locks an open file until it is closed; returns `false` if it is already locked.
    ///
    /// On file systems without locks, such as some network file systems, the lock always succeeds. There, the caller
    /// must ensure that a file has only one user at a time.
    package static func lock(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    /// Unlocks and closes a file.
    ///
    /// Closing the file isn't enough, because a child process that is being started briefly inherits all descriptors,
    /// and would keep the lock.
    static func release(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Returns whether the file at a URL is still the open file, which may have been moved before it was locked.
    static func isSameFile(_ url: URL, _ status: stat) -> Bool {
        var named = stat()
        return lstat(url.path, &named) == 0 && named.st_ino == status.st_ino && named.st_dev == status.st_dev
    }

    /// Renames a file unless the new name exists; returns an `errno` value, or 0.
    ///
    /// On most file systems, the function creates a hard link, which fails if the new name exists, even as a symbolic
    /// link. On file systems without hard links, such as FAT and some network file systems, an empty file reserves the
    /// name, and is then replaced.
    static func renameWithoutReplacing(_ from: String, _ to: String) -> Int32 {
        #if canImport(Darwin)
        if renamex_np(from, to, UInt32(RENAME_EXCL)) == 0 { return 0 }
        guard errno == ENOTSUP || errno == EINVAL else { return errno }
        #endif
        if link(from, to) == 0 {
            unlink(from)
            return 0
        }
        let number = errno
        guard [EPERM, ENOTSUP, EOPNOTSUPP, EMLINK, ENOSYS].contains(number) else { return number }
        return replacePlaceholder(from, to)
    }

    /// Reserves the new name with an empty file, and then renames the file over it.
    static func replacePlaceholder(_ from: String, _ to: String) -> Int32 {
        do throws(POSIXError) {
            close(try PrivateFile.create(to))
        } catch {
            return error.code.rawValue
        }
        guard rename(from, to) != 0 else { return 0 }
        let number = errno
        unlink(to)
        return number
    }
}

extension URL {
    /// Returns whether two files are in the same folder, even if their paths are spelled differently.
    func isBeside(_ other: URL) -> Bool {
        deletingLastPathComponent().standardizedFileURL.path
            == other.deletingLastPathComponent().standardizedFileURL.path
    }
}
