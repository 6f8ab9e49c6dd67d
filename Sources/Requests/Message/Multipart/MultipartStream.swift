// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A stream that writes a multipart message straight into the buffer of its reader.
///
/// At most one part is open at a time, and nothing is read ahead. One thread at a time reads it, as with every stream.
final class MultipartStream: InputStream {
    /// The maximum number of bytes read from a part at once, however large the reader's buffer is.
    static let maximumReadSize = 64 * 1024

    private var sections: ArraySlice<MultipartMessage.Section>
    private var unwritten = Data()
    private var source: Source?
    private var status = Status.notOpen
    private var failure: (any Error)?
    private weak var listener: (any StreamDelegate)?

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
        super.init(data: Data())
    }

    override func open() {
        if status == .notOpen { status = .open }
    }

    override func close() {
        closeSource()
        unwritten = Data()
        status = .closed
    }

    private func closeSource() {
        source?.stream.close()
        source = nil
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard status == .open || status == .atEnd, maxLength >= 0 else { return -1 }
        do {
            return try fill(UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
        } catch {
            failure = error
            closeSource()
            status = .error
            return -1
        }
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer) throws -> Int {
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
            guard let section = sections.popFirst() else {
                status = .atEnd
                return filled
            }
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
                ?? InvalidRequest(.body, "has a part that can't be read", excerpt: part.name)
        }
        if let left = part.left {
            guard count == 0 ? left == 0 : count <= left else {
                let reason = "has a part whose length isn't the announced one"
                throw InvalidRequest(.body, reason, excerpt: part.name)
            }
            source?.left = left - Int64(count)
        }
        if count == 0 { closeSource() }
        return count
    }

    override var hasBytesAvailable: Bool { status == .open }
    override var streamStatus: Status { status }
    override var streamError: (any Error)? { failure }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    // This stream is polled, never scheduled: it sends no events.
    override var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

    #if canImport(ObjectiveC)
    override func property(forKey key: PropertyKey) -> Any? { nil }
    override func setProperty(_ property: Any?, forKey key: PropertyKey) -> Bool { false }
    override func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {}

    // CFNetwork calls these methods on streams that it treats as its own.
    @objc(_scheduleInCFRunLoop:forMode:)
    private func schedule(inCFRunLoop loop: CFRunLoop, forMode mode: CFString) {}
    @objc(_unscheduleFromCFRunLoop:forMode:)
    private func unschedule(fromCFRunLoop loop: CFRunLoop, forMode mode: CFString) {}
    @objc(_setCFClientFlags:callback:context:)
    private func setCFClientFlags(
        _ flags: CFOptionFlags,
        callback: CFReadStreamClientCallBack?,
        context: UnsafeMutablePointer<CFStreamClientContext>?
    ) -> Bool {
        false
    }
    #endif
}
