// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The source of a request's content for libcurl; belongs to the loop's thread.
struct CurlBody {
    typealias ReadResult = BodyPump.ReadResult

    private enum Source {
        case data(Data)
        case stream(BodyPump)
        case upgrade(CurlUpgrade)
    }

    private var source: Source
    private var offset: Int64 = 0
    /// Whether the bytes for an upgraded connection end with those that are there.
    private var isEnding = false
    /// The byte count, or `nil` if the content is sent in chunks.
    let length: Int64?

    /// Finds the content of a request; `nil` if the request has no content.
    ///
    /// Nothing is opened yet: the request may have to wait, beside thousands of others.
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

    /// Makes a body of the bytes that are sent once the connection is upgraded.
    init(_ upgrade: TransportRequest.UpgradeSource, whenReadable: @escaping @Sendable () -> Void) {
        (source, length) = (.upgrade(CurlUpgrade(upgrade, whenReadable)), nil)
    }

    /// The bytes for an upgraded connection; `nil` for any other content.
    var upgrade: CurlUpgrade? {
        if case .upgrade(let upgrade) = source { upgrade } else { nil }
    }

    /// The number of bytes read so far.
    var sent: Int64 { offset }

    /// Opens the content, if it isn't open yet; a stream that is announced to be empty is read to its end, as it isn't
    /// read while the request is sent.
    ///
    /// - Returns: No bytes if the content can be sent.
    func open() -> ReadResult {
        guard case .stream(let pump) = source else { return .bytes(0) }
        let chunk = pump.open()
        guard length == 0, case .bytes = chunk else { return chunk }
        return pump.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }

    /// Fills a buffer.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        guard !isEnding else { return .bytes(upgrade?.take(into: buffer) ?? 0) }
        let wanted = length.map { min(Int64(buffer.count), $0 - offset) } ?? Int64(buffer.count)
        guard wanted > 0 else { return .bytes(0) }
        let chunk = read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(wanted)]), at: offset)
        guard case .bytes(let count) = chunk else { return chunk }
        offset += Int64(count)
        // Missing bytes can't be replaced; libcurl would wait for them.
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

    /// Goes back to the beginning; `false` if that isn't possible.
    mutating func rewind() -> Bool {
        guard offset > 0 else { return true }
        if case .stream(let pump) = source {
            guard let again = pump.restarted() else { return false }
            pump.close()
            source = .stream(again)
        }
        offset = 0
        return true
    }

    /// Begins with the request, which libcurl may send again over another connection.
    mutating func begin() { isEnding = false }

    /// Ends the bytes for an upgraded connection: libcurl ends no transfer before that.
    mutating func end() { isEnding = true }

    /// Closes an open file or stream.
    func close() {
        if case .stream(let pump) = source { pump.close() }
    }
}
#endif
