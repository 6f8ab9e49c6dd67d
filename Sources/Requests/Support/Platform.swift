// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// What differs between the platforms.

#if os(Linux)
import CRequestsCurl
#endif

extension Thread {
    /// Whether this is the main thread.
    ///
    /// On Linux, Foundation asks the system each time, with two calls.
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
