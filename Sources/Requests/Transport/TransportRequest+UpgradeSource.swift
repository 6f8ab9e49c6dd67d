// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TransportRequest {
    /// The source of the bytes that a transport sends after upgrading a connection to another protocol, such as
    /// WebSocket (RFC 9110, 7.8).
    ///
    /// The caller creates one source for each transfer. The source provides no bytes until the 101 response has been
    /// reported. After that, bytes may become available at any time until the transfer ends.
    public final class UpgradeSource: Sendable {
        private struct State: Sendable {
            /// Whether the transport has found no bytes, and waits for a notification.
            var isAwaited = false
            var whenReadable: @Sendable () -> Void = {}
        }

        private let state = Locked(State())
        private let takeBytes: @Sendable (UnsafeMutableRawBufferPointer) -> Int

        /// Creates a source.
        ///
        /// - Parameter take: Moves bytes into a buffer, and returns their number, or 0 if none are available at the
        ///   moment. Called by one thread at a time; must not block.
        public init(taking take: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Int) {
            takeBytes = take
        }

        /// Notifies the transport that bytes are available.
        public func wake() {
            let whenReadable = state.withLock { state in
                defer { state.isAwaited = false }
                return state.isAwaited ? state.whenReadable : nil
            }
            whenReadable?()
        }

        // MARK: For the transport

        /// Sets a closure that is called on any thread when bytes become available after ``take(into:)`` found none.
        public func whenReadable(_ body: @escaping @Sendable () -> Void) {
            state.withLock { $0.whenReadable = body }
        }

        /// Moves bytes into a buffer, and returns their number, or 0 if none are available at the moment.
        ///
        /// Must be called by one thread at a time.
        public func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            // Set this before reading, so that bytes that become available after the read are reported.
            state.withLock { $0.isAwaited = true }
            let count = takeBytes(buffer)
            if count > 0 { state.withLock { $0.isAwaited = false } }
            return count
        }
    }
}
