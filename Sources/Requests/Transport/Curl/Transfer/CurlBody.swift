// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The content of a request, as a source for libcurl's read callback.
///
/// A body belongs to the loop's thread.
struct CurlBody {
    typealias ReadResult = BodyPump.ReadResult

    private enum Source {
        case data(Data)
        case stream(BodyPump)
        case upgrade(CurlUpgrade)
    }

    private var source: Source
    private var offset: Int64 = 0
    /// Whether the content of an upgraded connection ends once the available bytes have been sent.
    private var isFinishing = false
    /// The byte count, or `nil` if the content is sent in chunks.
    let length: Int64?

    /// Creates the body of a request; `nil` if the request has no content.
    ///
    /// Nothing is opened yet, because the request may have to wait together with thousands of others.
    ///
    /// - Throws: ``InvalidValue`` if a file can't be read.
    init?(_ body: HTTPBody, whenReadable: @autoclosure () -> @Sendable () -> Void) throws(InvalidValue) {
        switch body.content {
        case .none:
            return nil
        case .data(let data):
            source = .data(data)
            length = Int64(data.count)
        case .file(let url):
            let size = try url.fileSize()
            source = .stream(BodyPump(HTTPBody.Stream(file: url, length: size), whenReadable()))
            length = size
        case .stream(let stream):
            source = .stream(BodyPump(stream, whenReadable()))
            length = stream.length
        }
    }

    /// Creates a body from the bytes that are sent over the upgraded connection.
    init(_ upgrade: TransportRequest.UpgradeSource, whenReadable: @escaping @Sendable () -> Void) {
        (source, length) = (.upgrade(CurlUpgrade(upgrade, whenReadable)), nil)
    }

    /// The source of bytes for an upgraded connection; `nil` for any other content.
    var upgrade: CurlUpgrade? {
        if case .upgrade(let upgrade) = source { upgrade } else { nil }
    }

    /// The number of bytes read so far.
    var sentCount: Int64 { offset }

    /// Opens the content, unless it is already open.
    ///
    /// A stream with a declared length of 0 is also read to its end here, because libcurl won't read it.
    ///
    /// - Returns: Zero bytes if the content can be sent.
    func open() -> ReadResult {
        guard case .stream(let pump) = source else { return .bytes(0) }
        let chunk = pump.open()
        guard length == 0, case .bytes = chunk else { return chunk }
        return pump.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }

    /// Reads the next bytes into a buffer.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        guard !isFinishing else { return .bytes(upgrade?.take(into: buffer) ?? 0) }
        let requested = length.map { min(Int64(buffer.count), $0 - offset) } ?? Int64(buffer.count)
        guard requested > 0 else { return .bytes(0) }
        let chunk = read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(requested)]), at: offset)
        guard case .bytes(let count) = chunk else { return chunk }
        offset += Int64(count)
        // The content is shorter than declared. libcurl would wait for the missing bytes, so fail.
        return count == 0 && length != nil ? .failed(HTTPBody.Stream.wrongLength) : chunk
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> ReadResult {
        switch source {
        case .data(let data):
            let start = data.startIndex + Int(offset)
            data.copyBytes(to: buffer, from: start..<start + buffer.count)
            return .bytes(buffer.count)
        case .stream(let pump):
            return pump.read(into: buffer)
        case .upgrade(let upgrade):
            return upgrade.read(into: buffer)
        }
    }

    /// Rewinds to the beginning; returns `false` if that isn't possible.
    mutating func rewind() -> Bool {
        guard offset > 0 else { return true }
        if case .stream(let pump) = source {
            guard let restarted = pump.restarted() else { return false }
            pump.close()
            source = .stream(restarted)
        }
        offset = 0
        return true
    }

    /// Records that the request is being sent, perhaps again over another connection.
    mutating func beginSending() { isFinishing = false }

    /// Ends the upload over an upgraded connection, because libcurl doesn't end a transfer before its upload has ended.
    mutating func finish() { isFinishing = true }

    /// Closes an open file or stream.
    func close() {
        if case .stream(let pump) = source { pump.close() }
    }
}
#endif
