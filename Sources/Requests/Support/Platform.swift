// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Differences between the platforms.

#if os(Linux)
import CRequestsCurl
#endif

extension Thread {
    /// Whether this is the main thread.
    ///
    /// On Linux, Foundation's property makes two system calls each time, so it isn't used.
    static var isMain: Bool {
        #if os(Linux)
        ccurl_thread_is_main()
        #else
        isMainThread
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
    /// Reads the next chunk of at most 256 KiB; returns `nil` at the end of the file.
    ///
    /// - Throws: The error of the system call.
    func readChunk() throws -> Data? {
        #if canImport(Darwin)
        // The pool releases each chunk immediately. Otherwise, all chunks could be retained until the thread's own pool
        // is drained.
        let bytes = try autoreleasepool { try read(upToCount: 1 << 18) }
        #else
        let bytes = try read(upToCount: 1 << 18)
        #endif
        return bytes?.isEmpty == false ? bytes : nil
    }
}
