// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// Writes the content to a new file, which only its owner can read.
    ///
    /// The content is read in chunks. If it can't be read to its end, or the task is cancelled, the file is removed.
    ///
    /// - Parameter file: The location; there must be no file.
    /// - Throws: Any error of the content, an ``InvalidValue`` if it isn't as long as announced, `CancellationError`,
    ///   and the error of the system for the file.
    func write(to file: URL) async throws {
        let path = file.path(percentEncoded: false)
        let descriptor = try PrivateFile.create(path)
        do {
            defer { close(descriptor) }
            for try await chunk in content.stream {
                try Task.checkCancellation()
                let number = PrivateFile.writeAll(chunk, to: descriptor)
                guard number == 0 else { throw POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO) }
            }
        } catch {
            unlink(path)
            throw error
        }
    }
}
