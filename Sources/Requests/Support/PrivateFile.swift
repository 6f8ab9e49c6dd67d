// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Functions for files that only their owner can access.
///
/// A file is written under a hidden, unique name in the same folder, and then renamed. Under its final name, it is
/// therefore either complete or absent. Symbolic links are never followed, and opening a pipe doesn't block.
package enum PrivateFile {
    /// Writes bytes to a descriptor, and returns the number of bytes written, or the negated `errno`.
    package typealias Writer = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

    /// Writes with the system call `write`.
    package static let systemWriter: Writer = { descriptor, bytes in
        let count = write(descriptor, bytes.baseAddress, bytes.count)
        return count < 0 ? -Int(errno) : count
    }

    /// Creates a file under a name that must not exist, and returns its descriptor.
    ///
    /// - Throws: The error of the system call.
    static func create(_ path: String) throws(POSIXError) -> Int32 {
        try checked(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
    }

    /// Writes all bytes to a descriptor.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - descriptor: The descriptor.
    ///   - writer: Writes the bytes. A call may write only some of them.
    ///   - onWrite: Called after each write, with the number of bytes written.
    /// - Returns: The `errno` of the failed write, or 0.
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
                // Treat a write of zero bytes as an error, because otherwise the loop might never end.
                guard 0 < count, count <= rest.count else { return count < 0 ? Int32(-count) : EIO }
                onWrite(count)
                rest = rest.dropFirst(count)
            }
            return 0
        }
    }

    /// Atomically replaces the content of a file, or creates the file.
    ///
    /// A concurrent reader, even in another process, sees either the complete old content or the complete new content.
    ///
    /// - Parameters:
    ///   - path: The path of the file, whose folder must exist.
    ///   - bytes: The new content.
    ///   - isDurable: Whether to wait until the bytes are on the disk, so that after a system crash, the file has
    ///     either the old or the new content.
    /// - Throws: The error of the system call; the old file then still exists.
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

    /// Reads a file.
    ///
    /// - Returns: The content; empty if the path doesn't refer to a regular file, and `nil` if it is missing or can't
    ///   be opened.
    static func contents(of path: String) -> Data? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == ELOOP ? Data() : nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isFile else { return Data() }
        return (try? file.readToEnd()) ?? Data()
    }

    /// Creates a folder with permissions for its owner only, including intermediate folders, if it doesn't exist.
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
    /// Creates an error from an `errno` value.
    fileprivate init(_ number: Int32) { self.init(POSIXErrorCode(rawValue: number) ?? .EIO) }
}

extension stat {
    /// Whether the file is a regular file.
    var isFile: Bool { st_mode & S_IFMT == S_IFREG }
}
