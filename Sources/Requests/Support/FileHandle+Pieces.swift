// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension FileHandle {
    /// The next 256 KiB of a file, or what is left of it; nil at its end.
    ///
    /// - Throws: What the system says.
    func nextPiece() throws -> Data? {
        #if canImport(Darwin)
        // What it reads would be kept until the thread's own pool is emptied, which may be after the last piece.
        let bytes = try autoreleasepool { try read(upToCount: 1 << 18) }
        #else
        let bytes = try read(upToCount: 1 << 18)
        #endif
        return bytes?.isEmpty == false ? bytes : nil
    }
}
