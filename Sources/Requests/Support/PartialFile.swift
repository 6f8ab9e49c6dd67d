// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A file that is written beside its destination, and moved there when it is complete.
///
/// Under its final name, the file is either complete or absent. Only its owner can read it, from its first moment on.
/// No symbolic link is followed: neither one under the name of the partial file, nor one at the destination. No other
/// writer can use it: it is locked while it is open, so that only the first of two can resume it, in one process or in
/// two.
///
/// One caller writes at a time. ``discard()`` may be called from anywhere, also during a write: the descriptor is
/// closed once, and never during a write, whose bytes might otherwise land in another file that got its number.
package final class PartialFile: Sendable {
    typealias Writer = PrivateFile.Writer

    /// The location of the file until it is moved.
    let url: URL

    private let state: Locked<State>
    /// The uses of the descriptor that are under way: at most one.
    private let uses = DispatchGroup()
    private let writer: Writer

    private struct State {
        let descriptor: Int32
        var length: Int64
        var isInUse = false
        var isOver = false

        /// Begins to use the descriptor; `nil` if the file is closed.
        mutating func use() -> Int32? {
            guard !isOver, !isInUse else { return nil }
            isInUse = true
            return descriptor
        }

        /// Ends a use, and returns the descriptor if it is to be closed.
        mutating func stopUse(length: Int64) -> Int32? {
            isInUse = false
            self.length = length
            return isOver ? descriptor : nil
        }

        /// Closes the file, and returns the descriptor to close; `false` if it was already closed.
        mutating func end() -> (isFirst: Bool, descriptor: Int32?) {
            guard !isOver else { return (false, nil) }
            isOver = true
            return (true, isInUse ? nil : descriptor)
        }
    }

    private init(_ url: URL, descriptor: Int32, length: Int64, writer: @escaping Writer) {
        self.url = url
        self.writer = writer
        state = Locked(State(descriptor: descriptor, length: length))
    }

    deinit {
        if let descriptor = state.withLock({ $0.end().descriptor }) { Self.release(descriptor) }
    }

    /// Makes a file beside a destination, under a hidden name of its own.
    ///
    /// - Parameters:
    ///   - destination: The final location.
    ///   - writer: Writes the bytes; the system by default.
    /// - Returns: The file, empty.
    /// - Throws: ``FileError``. A file at the destination is not an error yet.
    static func create(
        beside destination: URL,
        writer: @escaping Writer = PrivateFile.systemWriter
    ) throws(FileError) -> PartialFile {
        guard destination.isFileURL else {
            throw FileError(.cannotWriteFile, destination, "it isn't the URL of a file")
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

    /// Makes the folder of a file, and those above it.
    ///
    /// - Throws: ``FileError``. An existing folder is not an error.
    static func createFolder(of destination: URL) throws(FileError) {
        let folder = destination.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw FileError(destination, writing: error)
        }
    }

    /// Resumes the file of an interrupted transfer, at its end.
    ///
    /// - Returns: The file, or `nil` if it is missing, in use, or not a file of this user that this type could have
    ///   made.
    static func resume(_ url: URL, writer: @escaping Writer = PrivateFile.systemWriter) -> PartialFile? {
        guard url.isFileURL, isValidName(url.lastPathComponent) else { return nil }
        let descriptor = open(url.path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        // A file with a second name could be read there, and wasn't made by this type.
        guard lock(descriptor), fstat(descriptor, &status) == 0, status.isFile,
            status.st_nlink == 1, status.st_uid == geteuid(), isStill(url, status),
            lseek(descriptor, 0, Int32(SEEK_END)) >= 0
        else {
            release(descriptor)
            return nil
        }
        return PartialFile(url, descriptor: descriptor, length: Int64(status.st_size), writer: writer)
    }

    /// The destination as far as the name says it, for errors: the caller doesn't know the hidden file.
    private var destination: URL {
        url.deletingLastPathComponent()
            .appendingPathComponent(Self.destination(of: url.lastPathComponent), isDirectory: false)
    }

    /// The byte count of the file.
    var length: Int64 { state.withLock { $0.length } }

    /// Adds bytes at the end.
    ///
    /// If that fails, the bytes that were written before count: see ``length``.
    ///
    /// - Throws: ``FileError``, also if the file was moved or discarded.
    func append(_ bytes: Data) throws(FileError) {
        try use { descriptor, length in
            PrivateFile.writeAll(bytes, to: descriptor, by: writer) { length += Int64($0) }
        }
    }

    /// Truncates the file, so that the next bytes follow there; by default to nothing, which starts it over.
    ///
    /// - Throws: ``FileError``, also if the file is shorter than that.
    func truncate(to position: Int64 = 0) throws(FileError) {
        try use { descriptor, length in
            guard 0 <= position, position <= length else { return EINVAL }
            guard ftruncate(descriptor, off_t(position)) == 0 else { return errno }
            guard lseek(descriptor, off_t(position), Int32(SEEK_SET)) >= 0 else { return errno }
            length = position
            return 0
        }
    }

    /// Moves the file to its destination, in one step, and ends the writing.
    ///
    /// - Parameters:
    ///   - destination: The final location. On another volume, the bytes are first copied beside it.
    ///   - overwrite: Whether an existing file is replaced. A symbolic link is replaced itself, not its target.
    /// - Throws: ``FileError``; then the file is still at its former location, and can be moved elsewhere.
    func move(to destination: URL, overwrite: Bool = false) throws(FileError) {
        guard destination.isFileURL else {
            throw FileError(.cannotWriteFile, destination, "it isn't the URL of a file")
        }
        try use(for: destination) { _, _ throws(FileError) in
            let from = url.path
            let to = destination.path
            let number = overwrite ? (rename(from, to) == 0 ? 0 : errno) : Self.renameWithoutReplacing(from, to)
            guard number == EXDEV else { return number }
            try copy(to: destination, overwrite: overwrite)
            // The file is at its destination, whether or not the other can be removed.
            unlink(from)
            return 0
        }
        finish()
    }

    /// Makes a copy of the file on another volume.
    private func copy(to destination: URL, overwrite: Bool) throws(FileError) {
        let copy = try PartialFile.create(beside: destination, writer: writer)
        do {
            let source = try FileHandle(forReadingFrom: url)
            defer { try? source.close() }
            while let bytes = try source.nextPiece() {
                // It may take long, and be discarded meanwhile.
                guard !state.withLock({ $0.isOver }) else { throw FileError(destination, errno: ECANCELED) }
                try copy.append(bytes)
            }
            try copy.move(to: destination, overwrite: overwrite)
        } catch {
            copy.discard()
            throw error as? FileError ?? FileError(destination, writing: error)
        }
    }

    /// Ends the writing and keeps the file, to be resumed.
    ///
    /// It waits for a running write, so that the file has its final length, and can be resumed at once.
    func finish() {
        if let descriptor = state.withLock({ $0.end().descriptor }) { Self.release(descriptor) }
        uses.wait()
    }

    /// Removes the file; does nothing if it was moved, kept or discarded before.
    func discard() {
        let (isFirst, descriptor) = state.withLock { $0.end() }
        if isFirst { unlink(url.path) }
        if let descriptor { Self.release(descriptor) }
    }

    /// Removes the partial files of a destination that no download uses.
    ///
    /// - Complexity: O(n) in the number of files in the folder.
    package static func discardAll(beside destination: URL) {
        let name = destination.lastPathComponent
        // Longer names are cut, and may belong to another destination.
        guard name.utf8.count <= longestPrefix else { return }
        let folder = destination.deletingLastPathComponent()
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] where isValidName(file) {
            guard self.destination(of: file) == name else { continue }
            resume(folder.appendingPathComponent(file, isDirectory: false))?.discard()
        }
    }

    /// Runs a closure with the descriptor, which stays open meanwhile; the closure returns an error number, or 0.
    private func use(
        for file: URL? = nil,
        _ call: (_ descriptor: Int32, _ length: inout Int64) throws(FileError) -> Int32
    ) throws(FileError) {
        // Before the state says so, and until the descriptor is closed, so that no waiting thread misses it.
        uses.enter()
        defer { uses.leave() }
        let (found, start) = state.withLock { ($0.use(), $0.length) }
        guard let descriptor = found else { throw FileError(file ?? destination, errno: EBADF) }
        var length = start
        defer {
            if let last = state.withLock({ [length] in $0.stopUse(length: length) }) { Self.release(last) }
        }
        let number = try call(descriptor, &length)
        guard number == 0 else { throw FileError(file ?? destination, errno: number) }
    }
}

// MARK: - Names

extension PartialFile {
    /// The hidden name of a partial file: that of the destination, as far as there is room, and a unique identifier.
    package static func name(for destination: String) -> String {
        var name = ""
        for character in destination where name.utf8.count + character.utf8.count <= longestPrefix {
            name.append(character)
        }
        return ".\(name).\(UUID().uuidString)\(suffix)"
    }

    /// Whether a name is one that ``name(for:)`` makes; other files are never touched.
    ///
    /// A stored value, such as a resume token, names a file that is then written; it must not be an arbitrary file.
    static func isValidName(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(suffix), !name.utf8.contains(UInt8(ascii: "/")) else { return false }
        let identifier = name.dropLast(suffix.count).suffix(37)
        return identifier.first == "." && UUID(uuidString: String(identifier.dropFirst())) != nil
    }

    /// The name of the destination, or its beginning if it is long, in a name that ``name(for:)`` made.
    private static func destination(of name: String) -> String {
        String(name.dropFirst().dropLast(suffix.count + 37))
    }

    private static let suffix = ".partial"
    // With dots, identifier and suffix, the name is still far below the limit of every file system.
    private static let longestPrefix = 120

    /// Locks an open file, until it is closed; `false` if it is locked elsewhere.
    ///
    /// On file systems without locks, such as some network ones, the caller has to use a file only once at a time.
    package static func lock(_ descriptor: Int32) -> Bool {
        flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
    }

    /// Closes a locked file, and unlocks it for all its descriptors.
    ///
    /// A process that is about to be started has all descriptors of this one for a moment, and closing would leave the
    /// lock to it; unlocking doesn't.
    static func release(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether a name still belongs to an open file, which may have been moved before it was locked.
    static func isStill(_ url: URL, _ status: stat) -> Bool {
        var named = stat()
        return lstat(url.path, &named) == 0 && named.st_ino == status.st_ino && named.st_dev == status.st_dev
    }

    /// Renames a file, unless the new name is taken; returns the error number of the system, or 0.
    ///
    /// A hard link fails if its name is taken, even by a symbolic link. On file systems without hard links (FAT, some
    /// network ones), an empty file reserves the name, and is then replaced.
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

    /// Reserves a name with an empty file, and replaces that by the file.
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
    /// Whether a file is in the same folder as another, however the paths are written.
    func isBeside(_ other: URL) -> Bool {
        deletingLastPathComponent().standardizedFileURL.path
            == other.deletingLastPathComponent().standardizedFileURL.path
    }
}
