// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// Writes the content to a new file that only its owner can read.
    ///
    /// The content is read and written in chunks. The file is removed if reading fails, or if the task is cancelled.
    ///
    /// - Parameter file: The location of the file, which must not exist.
    /// - Throws: Any error of the content, ``InvalidValue`` if it doesn't have the declared length,
    ///   `CancellationError`, and `POSIXError` if the file can't be created or written.
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
