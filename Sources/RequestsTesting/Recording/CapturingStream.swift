// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A stream that keeps a copy of the bytes that are read from another, so that a recording has what was really sent.
final class CapturingStream: InputStream {
    private let source: InputStream
    private let captured: Locked<CapturedBody>
    private weak var listener: (any StreamDelegate)?

    init(_ source: InputStream, into captured: Locked<CapturedBody>) {
        self.source = source
        self.captured = captured
        super.init(data: Data())
    }

    override func open() {
        captured.withLock { $0.reset() }
        source.open()
    }

    override func close() { source.close() }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        let count = source.read(buffer, maxLength: maxLength)
        guard count > 0 else { return count }
        let piece = Data(bytes: buffer, count: count)
        captured.withLock { $0.append(piece) }
        return count
    }

    override var hasBytesAvailable: Bool { source.hasBytesAvailable }
    override var streamStatus: Status { source.streamStatus }
    override var streamError: (any Error)? { source.streamError }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    // A stream is polled here and never scheduled, so the delegate has no events to receive.
    override var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

    #if canImport(ObjectiveC)
    override func property(forKey key: PropertyKey) -> Any? { nil }
    override func setProperty(_ property: Any?, forKey key: PropertyKey) -> Bool { false }
    override func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {}

    // CFNetwork calls these on streams that it treats as its own.
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

extension TransportRequest {
    /// Returns the request with a body that is recorded as it is sent; data and files are recorded at once.
    func capturingBody(into captured: Locked<CapturedBody>, limit: Int) -> TransportRequest {
        // The transport reports the error of a body that can't be encoded.
        guard let body = try? body.resolved() else { return self }
        var result = self
        result.body = body
        switch body.content {
        case .none: break
        case .data(let data): captured.withLock { $0.append(data) }
        case .file(let url):
            guard let file = try? FileHandle(forReadingFrom: url) else { break }
            defer { try? file.close() }
            let beginning = limit > 0 ? (try? file.read(upToCount: limit)) ?? nil : nil
            let size = (try? file.seekToEnd()) ?? 0
            captured.withLock { captured in
                captured.append(beginning ?? Data())
                captured.skip(to: Int64(clamping: size))
            }
        case .stream(let stream):
            let capturing = BodyStream(length: stream.length, isReplayable: stream.isReplayable) {
                CapturingStream(try stream.open(), into: captured)
            }
            result.body = HTTPBody(
                .stream(capturing),
                headers: body.headers,
                mandatoryHeaders: body.mandatoryHeaders
            )
        }
        return result
    }
}

/// The beginning of content, and its total byte count.
struct CapturedBody: Sendable {
    private(set) var data = Data()
    private(set) var size: Int64 = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = max(0, limit)
    }

    mutating func append(_ piece: some RandomAccessCollection<UInt8>) {
        size += Int64(piece.count)
        if data.count < limit { data.append(contentsOf: piece.prefix(limit - data.count)) }
    }

    /// Counts content that wasn't read.
    mutating func skip(to size: Int64) {
        self.size = max(self.size, size)
    }

    /// Starts over, since the content is sent again.
    mutating func reset() {
        self = CapturedBody(limit: limit)
    }
}

/// The recorded beginning of content, which other content is compared to.
struct ContentBeginning: Hashable, Sendable {
    /// The beginning without secrets, even if the recording has them.
    private let known: Data
    /// The byte count of the rest; `nil` if a secret was cut in two, since its rest may have any length.
    private let missing: Int64?
    /// Whether the content was compressed, so that none of it may be shown.
    private let isEncoded: Bool

    init(_ known: Data, headers: HTTPHeaders, missing: Int64) {
        isEncoded = headers.isEncoded
        let redacted = Redaction.content(known, type: headers[.contentType])
        // A character that was cut in two is not part of the beginning.
        let cut = Data("\u{FFFD}".utf8)
        let isSplit = redacted.hasSuffix(cut)
        self.known = isSplit ? redacted.dropLast(cut.count) : redacted
        self.missing = isSplit || redacted.hasSuffix(Data("REDACTED".utf8)) ? nil : missing
    }

    /// Whether the content may be the one with this beginning.
    ///
    /// Its length is compared only if the rest has no secret, since a secret's length may differ.
    func isBeginning(of content: Data, headers: HTTPHeaders) -> Bool {
        let redacted = Redaction.content(content, type: headers[.contentType])
        // Compressed content, or content that is redacted as a whole, can only be compared for being non-empty.
        let isHidden = redacted.isEmpty || (isEncoded && headers.isEncoded)
        if known.isEmpty, isHidden { return !content.isEmpty }
        // Redaction keeps the order of a form's items, but reformats JSON.
        guard redacted.starts(with: known) || content.starts(with: known) else { return false }
        let rest = redacted.dropFirst(known.count)
        guard let missing, content.hasSuffix(rest) else { return true }
        return Int64(rest.count) == missing
    }
}

extension Data {
    fileprivate func hasSuffix(_ end: Data) -> Bool {
        suffix(end.count).elementsEqual(end)
    }
}
