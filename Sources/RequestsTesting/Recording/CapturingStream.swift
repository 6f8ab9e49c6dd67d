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
