// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A file that only its owner can read, from its first moment on.
///
/// Under its name, it is either complete or absent: it is written beside its place, under a hidden name of its own, and
/// then renamed. No symbolic link is followed, and a pipe doesn't block.
package enum PrivateFile {
    /// Writes bytes to a descriptor; returns the number of written bytes, or the negated error number of the system.
    package typealias Writer = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

    /// Writes with the system.
    package static let systemWriter: Writer = { descriptor, bytes in
        let count = write(descriptor, bytes.baseAddress, bytes.count)
        return count < 0 ? -Int(errno) : count
    }

    /// Creates a file under a name that isn't in use; returns its descriptor.
    ///
    /// - Throws: The error of the system.
    static func create(_ path: String) throws(POSIXError) -> Int32 {
        try checked(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
    }

    /// Writes all bytes to a descriptor.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - descriptor: The descriptor.
    ///   - writer: Writes the bytes; it may write fewer than it is passed.
    ///   - onWrite: Called with the count of each written part.
    /// - Returns: The error number of the system, or 0.
    package static func writeAll(
        _ bytes: Data,
        to descriptor: Int32,
        by writer: Writer = systemWriter,
        onWrite: (Int) -> Void = { _ in }
    ) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = writer(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count == -Int(EINTR) { continue }
                // Without progress and without an error, the loop would never end.
                guard 0 < count, count <= rest.count else { return count < 0 ? Int32(-count) : EIO }
                onWrite(count)
                rest = rest.dropFirst(count)
            }
            return 0
        }
    }

    /// Replaces a file by one with these bytes.
    ///
    /// A reader at the same time, in this process or another, sees the old file or the new one.
    ///
    /// - Parameters:
    ///   - path: The file, in an existing folder.
    ///   - bytes: The new content.
    ///   - isDurable: Whether one of the two files exists after a crash of the system, for which the disk has to be
    ///     waited for.
    /// - Throws: The error of the system; then the old file still exists.
    package static func replace(_ path: String, with bytes: Data, isDurable: Bool) throws(POSIXError) {
        let (folder, name) = ((path as NSString).deletingLastPathComponent, (path as NSString).lastPathComponent)
        let temporary = "\(folder)/\(PartialFile.name(for: name))"
        let descriptor = try create(temporary)
        do throws(POSIXError) {
            defer { close(descriptor) }
            let number = writeAll(bytes, to: descriptor)
            guard number == 0 else { throw POSIXError(number) }
            if isDurable { try checked(fsync(descriptor)) }
            try checked(rename(temporary, path))
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Reads a file; returns no bytes for anything else under its name, and `nil` if it is missing or can't be opened.
    static func contents(of path: String) -> Data? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ELOOP ? Data() : nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isFile else { return Data() }
        return (try? file.readToEnd()) ?? Data()
    }

    /// Creates a folder for its owner alone, and those above it, if they don't exist.
    ///
    /// - Throws: Any error that the file manager throws.
    package static func createFolder(_ path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    @discardableResult
    private static func checked(_ result: Int32) throws(POSIXError) -> Int32 {
        guard result >= 0 else { throw POSIXError(errno) }
        return result
    }
}

extension POSIXError {
    /// Makes the error with a number of the system.
    fileprivate init(_ number: Int32) { self.init(POSIXErrorCode(rawValue: number) ?? .EIO) }
}

extension stat {
    /// Whether it is a regular file.
    var isFile: Bool { st_mode & S_IFMT == S_IFREG }
}
