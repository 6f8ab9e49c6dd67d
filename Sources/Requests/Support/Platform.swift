// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

#if os(Linux)
import CRequestsCurl
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The calls of the system that differ between platforms.
enum Platform {
    /// Whether this is the main thread.
    ///
    /// On Linux, Foundation asks the system each time, with two calls.
    static var isMainThread: Bool {
        #if os(Linux)
        ccurl_thread_is_main()
        #else
        Thread.isMainThread
        #endif
    }

    /// Writes bytes to a descriptor; returns the number of written bytes, or the negated error number.
    static let write: PrivateFile.Writer = { descriptor, bytes in
        #if canImport(Darwin)
        let count = Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Glibc)
        let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
        let count = Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
        return count < 0 ? -Int(errno) : count
    }

    /// Renames a file, unless the new name is taken; `nil` if the system or the file system can't do that in one step.
    static func renameExclusively(_ from: String, _ to: String) -> Int32? {
        #if canImport(Darwin)
        if renamex_np(from, to, UInt32(RENAME_EXCL)) == 0 { return 0 }
        return errno == ENOTSUP || errno == EINVAL ? nil : errno
        #else
        return nil
        #endif
    }
}

extension stat {
    /// The time of the last modification, in seconds since 1970.
    var modified: TimeInterval {
        #if canImport(Darwin)
        let time = st_mtimespec
        #else
        let time = st_mtim
        #endif
        return TimeInterval(time.tv_sec) + TimeInterval(time.tv_nsec) / 1e9
    }
}

extension FileHandle {
    /// The next 256 KiB of a file, or the rest of it; `nil` at its end.
    ///
    /// - Throws: The error of the system.
    func nextPiece() throws -> Data? {
        #if canImport(Darwin)
        // The bytes would be kept until the thread's own pool is emptied, which may be after the last piece.
        let bytes = try autoreleasepool { try read(upToCount: 1 << 18) }
        #else
        let bytes = try read(upToCount: 1 << 18)
        #endif
        return bytes?.isEmpty == false ? bytes : nil
    }
}
