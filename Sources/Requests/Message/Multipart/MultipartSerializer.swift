// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Writes a multipart message straight into the buffer of its reader.
///
/// At most one part is open at a time, and nothing is read ahead. One thread at a time reads it, as with every stream.
final class MultipartSerializer {
    /// The maximum number of bytes read from a part at once, however large the reader's buffer is.
    static let maximumReadSize = 64 * 1024

    private var sections: ArraySlice<MultipartMessage.Section>
    private var unwritten = Data()
    private var source: Source?

    /// A part that is read at present.
    private struct Source {
        let stream: InputStream
        /// The byte count that is still to come, if it is known.
        var left: Int64?
        let name: String
        /// Whether reading may block.
        let mayBlock: Bool
    }

    init(_ message: MultipartMessage) {
        sections = message.sections[...]
    }

    /// Releases the part that is read, and all that is left.
    func release() {
        closeSource()
        (unwritten, sections) = (Data(), [])
    }

    private func closeSource() {
        source?.stream.close()
        source = nil
    }

    /// Writes bytes into the buffer; returns their count, 0 at the end.
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
                // Bytes that are ready shouldn't wait for a source that may block its reader.
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
        source = Source(stream: stream, left: section.length, name: name, mayBlock: mayBlock)
        stream.open()
    }

    /// Reads from the source, and closes it at its end.
    private func read(into room: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let part = source, let start = room.bindMemory(to: UInt8.self).baseAddress else { return 0 }
        // At the announced end, one more byte is requested: there mustn't be one.
        let limit = part.left.map { max(1, $0) } ?? .max
        let count = part.stream.read(start, maxLength: Int(min(Int64(min(room.count, Self.maximumReadSize)), limit)))
        guard count >= 0 else {
            throw part.stream.streamError
                ?? InvalidValue(.body, "has a part that can't be read", excerpt: part.name)
        }
        if let left = part.left {
            guard count == 0 ? left == 0 : count <= left else {
                let reason = "has a part whose length isn't the announced one"
                throw InvalidValue(.body, reason, excerpt: part.name)
            }
            source?.left = left - Int64(count)
        }
        if count == 0 { closeSource() }
        return count
    }
}
