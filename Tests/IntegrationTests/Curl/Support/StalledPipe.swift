// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc
import Requests

/// A named pipe with a few bytes and no end during its lifetime: reading more of it blocks.
final class StalledPipe: Sendable {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    private let writer: Int32

    init(of count: Int) throws {
        guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        // Opens both ends, so that opening doesn't block.
        writer = open(path, O_RDWR)
        guard writer >= 0 else { throw POSIXError(.EIO) }
        _ = [UInt8](repeating: 0x78, count: count).withUnsafeBytes { write(writer, $0.baseAddress, $0.count) }
    }

    deinit {
        close(writer)
        unlink(path)
    }

    /// A body that reads from the pipe.
    var body: HTTPBody.Stream { body(length: nil) }

    /// A body of a length that reads from the pipe.
    func body(length: Int64?) -> HTTPBody.Stream {
        HTTPBody.Stream(length: length) { [self] in try input() }
    }

    /// Opens the pipe for reading.
    func input() throws -> InputStream {
        guard let input = InputStream(fileAtPath: path) else { throw CocoaError(.fileNoSuchFile) }
        return input
    }
}
#endif
