// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Serializes a multipart message directly into the buffers of its reader.
///
/// At most one part is open at a time, and nothing is read ahead. As with any stream, only one thread may read it at a
/// time.
final class MultipartSerializer {
    /// The maximum number of bytes per read from a part, even if the reader's buffer is larger.
    static let maximumReadSize = 64 * 1024

    private var sections: ArraySlice<MultipartMessage.Section>
    private var unwritten = Data()
    private var source: Source?

    /// The currently open part.
    private struct Source {
        let stream: InputStream
        /// The number of bytes that the part must still contain; `nil` if its length is unknown.
        var remaining: Int64?
        let name: String
        /// Whether reading the part may block.
        let mayBlock: Bool
    }

    init(_ message: MultipartMessage) {
        sections = message.sections[...]
    }

    /// Closes the current part, and releases the rest of the message.
    func release() {
        closeSource()
        (unwritten, sections) = (Data(), [])
    }

    private func closeSource() {
        source?.stream.close()
        source = nil
    }

    /// Writes bytes into the buffer, and returns their count, which is 0 only at the end.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var filled = 0
        while filled < buffer.count {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            guard unwritten.isEmpty else {
                let count = unwritten.copyBytes(to: room)
                unwritten = unwritten.dropFirst(count)
                filled += count
                continue
            }
            if let source {
                // Return the bytes that are ready, rather than waiting for a part that may block.
                if filled > 0, source.mayBlock { return filled }
                filled += try read(into: room)
                continue
            }
            guard let section = sections.popFirst() else { return filled }
            if case .data(let data) = section.content { unwritten = data } else { try open(section) }
        }
        return filled
    }

    private func open(_ section: MultipartMessage.Section) throws {
        let stream = try section.content.open()
        var (name, mayBlock) = ("stream", true)
        if case .file(let url) = section.content { (name, mayBlock) = (url.lastPathComponent, false) }
        source = Source(stream: stream, remaining: section.length, name: name, mayBlock: mayBlock)
        stream.open()
    }

    /// Reads from the current part, and closes the part at its end.
    private func read(into room: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let part = source, let start = room.bindMemory(to: UInt8.self).baseAddress else { return 0 }
        // At the declared end, request one more byte to verify that there is none.
        let limit = part.remaining.map { max(1, $0) } ?? .max
        let count = part.stream.read(start, maxLength: Int(min(Int64(min(room.count, Self.maximumReadSize)), limit)))
        guard count >= 0 else {
            throw part.stream.streamError
                ?? InvalidValue(.body, "has a part that can't be read", excerpt: part.name)
        }
        if let remaining = part.remaining {
            guard count == 0 ? remaining == 0 : count <= remaining else {
                let reason = "has a part whose length differs from the declared length"
                throw InvalidValue(.body, reason, excerpt: part.name)
            }
            source?.remaining = remaining - Int64(count)
        }
        if count == 0 { closeSource() }
        return count
    }
}
