// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A stream that writes a multipart message straight into the buffer of its reader.
///
/// At most one part is open at a time, and nothing is read ahead. One thread at a time reads it, as with every stream.
final class MultipartStream: InputStream {
    /// The maximum number of bytes read from a part at once, however large the reader's buffer is.
    static let maximumReadSize = 64 * 1024

    private let message: MultipartMessage
    private var serializer: MultipartSerializer
    private var unwritten = Data()
    private var source: InputStream?
    private var search: BoundarySearch?
    private var status = Status.notOpen
    private var failure: (any Error)?
    private weak var listener: (any StreamDelegate)?

    init(_ message: MultipartMessage) {
        self.message = message
        serializer = message.serializer
        super.init(data: Data())
    }

    override func open() {
        if status == .notOpen { status = .open }
    }

    override func close() {
        source?.close()
        source = nil
        unwritten = Data()
        status = .closed
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard status == .open || status == .atEnd, maxLength >= 0 else { return -1 }
        do {
            return try fill(UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
        } catch {
            failure = error
            source?.close()
            source = nil
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
            switch serializer.next() {
            case .write(let data):
                unwritten = data
            case .open(let part):
                try open(part)
            case .read(let part, let limit):
                // The source may block its reader: bytes that are ready shouldn't wait for it.
                if filled > 0, case .stream = message.contents[part] { return filled }
                filled += try read(part, into: room, atMost: limit)
            case .close:
                source?.close()
                source = nil
            case .finish:
                status = .atEnd
                return filled
            }
        }
        return filled
    }

    private func open(_ part: Int) throws {
        let stream = try message.contents[part].open()
        stream.open()
        source = stream
        search = message.guardedBoundary.map(BoundarySearch.init)
    }

    private func read(_ part: Int, into room: UnsafeMutableRawBufferPointer, atMost limit: Int64) throws -> Int {
        let wanted = Int(min(Int64(min(room.count, Self.maximumReadSize)), limit))
        guard let source, let start = room.bindMemory(to: UInt8.self).baseAddress else { return 0 }
        let count = source.read(start, maxLength: wanted)
        guard count >= 0 else {
            throw source.streamError ?? InvalidRequest(.body, "has a part that can't be read", excerpt: name(of: part))
        }
        do {
            try serializer.didRead(count)
        } catch {
            throw InvalidRequest(.body, "has a part whose length isn't the announced one", excerpt: name(of: part))
        }
        if let boundary = message.guardedBoundary,
            search?.finds(in: UnsafeRawBufferPointer(rebasing: room[..<count])) == true
        {
            throw InvalidRequest(.boundary, "stands in the content of a part, too", excerpt: boundary)
        }
        return count
    }

    private func name(of part: Int) -> String {
        if case .file(let url) = message.contents[part] { url.lastPathComponent } else { "stream" }
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
