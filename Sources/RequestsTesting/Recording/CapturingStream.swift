// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A stream that keeps what is read of another: a recording of what was sent, not of what might have been.
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

    // A stream is polled here, never scheduled: there is nothing to wait for, and so nothing to tell.
    override var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

    #if canImport(ObjectiveC)
    override func property(forKey key: PropertyKey) -> Any? { nil }
    override func setProperty(_ property: Any?, forKey key: PropertyKey) -> Bool { false }
    override func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {}
    override func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {}

    // What CFNetwork calls on streams that it takes for its own.
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
    /// The same request, whose content is kept as it is sent; what is in memory or in a file is kept at once.
    func capturingBody(into captured: Locked<CapturedBody>, limit: Int) -> TransportRequest {
        // What can't be encoded, the transport will say.
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

/// The beginning of content, and how much there was of it.
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

    /// Counts content that nobody read.
    mutating func skip(to size: Int64) {
        self.size = max(self.size, size)
    }

    /// Begins anew: the content is sent once more.
    mutating func reset() {
        self = CapturedBody(limit: limit)
    }
}

/// Content of which a recording has only the beginning: what can still be said of whether other content is the same.
struct ContentBeginning: Hashable, Sendable {
    /// Without secrets, also where the recording has them.
    private let known: Data
    /// How many bytes there were behind; nil where a secret was cut in two, the rest of which has any length.
    private let missing: Int64?
    /// Whether it was compressed, so that nothing of it may be seen.
    private let isEncoded: Bool

    init(_ known: Data, headers: HTTPHeaders, missing: Int64) {
        isEncoded = headers.isEncoded
        let redacted = Redaction.content(known, type: headers[.contentType])
        // A sign that was cut in two is none.
        let cut = Data("\u{FFFD}".utf8)
        let isSplit = redacted.hasSuffix(cut)
        self.known = isSplit ? redacted.dropLast(cut.count) : redacted
        self.missing = isSplit || redacted.hasSuffix(Data("REDACTED".utf8)) ? nil : missing
    }

    /// Whether the content may be that of which this is the beginning.
    ///
    /// Its length counts where nothing behind the beginning is a secret: those of a recording may have had any.
    func isBeginning(of content: Data, headers: HTTPHeaders) -> Bool {
        let redacted = Redaction.content(content, type: headers[.contentType])
        // Of what is compressed, or goes as a whole for its secrets, no more is known than that there was some.
        let isHidden = redacted.isEmpty || (isEncoded && headers.isEncoded)
        if known.isEmpty, isHidden { return !content.isEmpty }
        // A form keeps its order without its secrets; JSON is written anew.
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
