// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TransportRequest {
    /// The bytes that a transport sends once a connection has been upgraded to another protocol, such as that of
    /// WebSockets (RFC 9110, 7.8).
    ///
    /// The caller makes one for each transfer. It has no bytes before the 101 was reported. After that, bytes may come
    /// at any time until the transfer ends.
    public final class UpgradeSource: Sendable {
        private struct State: Sendable {
            /// Whether the transport has found no bytes, and waits to be notified.
            var isAwaited = false
            var whenReadable: @Sendable () -> Void = {}
        }

        private let state = Locked(State())
        private let takeBytes: @Sendable (UnsafeMutableRawBufferPointer) -> Int

        /// Makes a source.
        ///
        /// - Parameter take: Moves bytes into a buffer, and returns their number, 0 if there are none at the moment.
        ///   Called by one thread at a time, which mustn't be blocked.
        public init(taking take: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Int) {
            takeBytes = take
        }

        /// Notifies the transport that there are bytes.
        public func wake() {
            let whenReadable = state.withLock { state in
                defer { state.isAwaited = false }
                return state.isAwaited ? state.whenReadable : nil
            }
            whenReadable?()
        }

        // MARK: For the transport

        /// Sets the closure that is called when there are bytes after ``take(into:)`` has found none; from any thread.
        public func whenReadable(_ body: @escaping @Sendable () -> Void) {
            state.withLock { $0.whenReadable = body }
        }

        /// Moves bytes into a buffer, and returns their number; 0 if there are none at the moment.
        ///
        /// Called by one thread at a time.
        public func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            // Set before the source is read, so that bytes that come after the read are reported.
            state.withLock { $0.isAwaited = true }
            let count = takeBytes(buffer)
            if count > 0 { state.withLock { $0.isAwaited = false } }
            return count
        }
    }
}
