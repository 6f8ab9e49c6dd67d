// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An input stream whose closure writes bytes directly into the buffer of the reader.
///
/// The stream must be polled. It can't be scheduled in a run loop, and sends no events. As with any stream, only one
/// thread may read it at a time.
package final class PolledStream: InputStream {
    private let fill: (UnsafeMutableRawBufferPointer) throws -> Int
    private let release: () -> Void
    private var status = Status.notOpen
    private var failure: (any Error)?
    private weak var listener: (any StreamDelegate)?

    /// Creates a stream that isn't open yet.
    ///
    /// - Parameters:
    ///   - fill: Writes bytes into the buffer, and returns their count, which is 0 only at the end. The closure isn't
    ///     called again after it has thrown an error.
    ///   - release: Releases the source of the bytes. Called when the stream is closed, fails or is deallocated, and
    ///     possibly several times.
    package init(
        filling fill: @escaping (UnsafeMutableRawBufferPointer) throws -> Int,
        releasing release: @escaping () -> Void
    ) {
        (self.fill, self.release) = (fill, release)
        super.init(data: Data())
    }

    deinit { release() }

    override package func open() {
        if status == .notOpen { status = .open }
    }

    override package func close() {
        release()
        status = .closed
    }

    override package func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard status == .open || status == .atEnd, maxLength >= 0 else { return -1 }
        guard status == .open, maxLength > 0 else { return 0 }
        do {
            let count = try fill(UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
            if count == 0 { status = .atEnd }
            return count
        } catch {
            failure = error
            release()
            status = .error
            return -1
        }
    }

    override package var hasBytesAvailable: Bool { status == .open }
    override package var streamStatus: Status { status }
    override package var streamError: (any Error)? { failure }

    override package func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    override package var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

    #if canImport(ObjectiveC)
    override package func property(forKey key: PropertyKey) -> Any? { nil }
    override package func setProperty(_ property: Any?, forKey key: PropertyKey) -> Bool { false }
    override package func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {}
    override package func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {}

    // CFNetwork treats any stream as a `CFReadStream`, and calls these private methods.
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
