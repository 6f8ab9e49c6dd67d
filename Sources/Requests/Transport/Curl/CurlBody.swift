// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The source of a request's content for libcurl; belongs to the loop's thread.
struct CurlBody {
    /// The result of a read.
    enum Chunk {
        /// The number of bytes read, 0 at the end.
        case bytes(Int)
        /// None yet; the reader is notified when there are.
        case later
        /// None ever.
        case failed
    }

    private enum Source {
        case data(Data)
        case file(FileHandle)
        case stream(CurlBodyPump)
    }

    private var source: Source
    private var offset: Int64 = 0
    /// The byte count, or `nil` if the content is sent in chunks.
    let length: Int64?

    /// Opens the content of a request; `nil` if the request has no content.
    ///
    /// - Throws: ``InvalidRequest`` if a file can't be read; any error that opening a stream throws.
    init?(_ body: HTTPBody, whenReadable: @autoclosure () -> @Sendable () -> Void) throws {
        switch body.content {
        case .none:
            return nil
        case .data(let data):
            source = .data(data)
            length = Int64(data.count)
        case .file(let url):
            let (handle, length) = try Self.open(url)
            source = .file(handle)
            self.length = length
        case .stream(let stream):
            source = .stream(try CurlBodyPump(stream, whenReadable: whenReadable()))
            length = stream.length
        }
    }

    private static func open(_ url: URL) throws -> (FileHandle, Int64) {
        guard let handle = try? FileHandle(forReadingFrom: url) else {
            throw InvalidRequest(.body, "isn't a file that can be read", excerpt: url.lastPathComponent)
        }
        var status = stat()
        guard fstat(handle.fileDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw InvalidRequest(.body, "isn't a file that can be read", excerpt: url.lastPathComponent)
        }
        return (handle, Int64(status.st_size))
    }

    /// The number of bytes read so far.
    var sent: Int64 { offset }

    /// Checks that a stream that is announced to be empty has no bytes.
    ///
    /// Such a stream isn't read while the request is sent, so it is checked before.
    ///
    /// - Returns: No bytes if it is empty, and for any other content that can be sent.
    func check() -> Chunk {
        guard length == 0, case .stream(let pump) = source else { return .bytes(0) }
        return pump.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }

    /// Fills a buffer.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Chunk {
        // A file may have grown: only the announced bytes are sent.
        let wanted = length.map { min(Int64(buffer.count), $0 - offset) } ?? Int64(buffer.count)
        guard wanted > 0 else { return .bytes(0) }
        let chunk = read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(wanted)]), at: offset)
        guard case .bytes(let count) = chunk else { return chunk }
        offset += Int64(count)
        // Missing bytes can't be replaced; libcurl would wait for them.
        return count == 0 && length != nil ? .failed : chunk
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Chunk {
        switch source {
        case .data(let data):
            let start = data.startIndex + Int(offset)
            data.copyBytes(to: buffer, from: start..<start + buffer.count)
            return .bytes(buffer.count)
        case .file(let handle):
            let count = pread(handle.fileDescriptor, buffer.baseAddress, buffer.count, off_t(offset))
            return count < 0 ? .failed : .bytes(count)
        case .stream(let pump):
            return pump.read(into: buffer)
        }
    }

    /// Goes back to the beginning, or to a later position; `false` if that isn't possible.
    mutating func seek(to offset: Int64) -> Bool {
        guard offset != self.offset else { return true }
        if case .stream(let pump) = source {
            guard offset == 0, let again = pump.again() else { return false }
            pump.close()
            source = .stream(again)
        } else {
            guard offset >= 0, offset <= length ?? 0 else { return false }
        }
        self.offset = offset
        return true
    }

    /// Closes an open file or stream.
    func close() {
        switch source {
        case .data: break
        case .file(let handle): try? handle.close()
        case .stream(let pump): pump.close()
        }
    }
}
#endif
