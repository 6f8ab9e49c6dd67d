// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc
import Requests

/// A named pipe with a few bytes in it, and no end as long as it lives: to read more is to wait.
final class StalledPipe: Sendable {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    private let writer: Int32

    init(of count: Int) throws {
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        // Both ends, so that the opening doesn't block.
        writer = open(path, O_RDWR)
        guard writer >= 0 else { throw POSIXError(.EIO) }
        _ = [UInt8](repeating: 0x78, count: count).withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
    }

    deinit {
        close(writer)
        unlink(path)
    }

    /// What is read from it.
    var body: BodyStream {
        BodyStream { [path] in
            guard let input = InputStream(fileAtPath: path) else { throw CocoaError(.fileNoSuchFile) }
            return input
        }
    }
}
#endif
