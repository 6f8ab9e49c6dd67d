// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// Writes the content to a new file, which only its owner can read.
    ///
    /// The content is read in parts, on a thread that may be blocked. If it can't be read to its end, the file is removed.
    ///
    /// - Parameter file: The location; there must be no file.
    /// - Throws: Any error that the content throws, and that of the system for the file.
    func write(to file: URL) async throws {
        let content = content
        try await withUnsafeThrowingContinuation { (done: UnsafeContinuation<Void, any Error>) in
            DispatchQueue.global().async { done.resume(with: Result { try content.write(to: file) }) }
        }
    }
}

extension HTTPBody.Content {
    fileprivate func write(to file: URL) throws {
        let stream = try open()
        let descriptor = try PrivateFile.create(file.path(percentEncoded: false))
        do {
            defer { close(descriptor) }
            try stream.forEachChunk { chunk in
                let number = PrivateFile.writeAll(chunk, to: descriptor)
                guard number == 0 else { throw POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO) }
            }
        } catch {
            unlink(file.path(percentEncoded: false))
            throw error
        }
    }
}

extension InputStream {
    /// Reads the stream to its end, in parts of at most 64 KiB.
    ///
    /// - Throws: The error of the stream, and any error that `body` throws.
    fileprivate func forEachChunk(_ body: (Data) throws -> Void) throws {
        open()
        defer { close() }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(&buffer, maxLength: buffer.count)
            if count == 0 { return }
            guard count > 0 else { throw streamError ?? POSIXError(.EIO) }
            try body(Data(buffer[..<count]))
        }
    }
}
