// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The content of a request for an upgrade: nothing before the 101, then the bytes of the other protocol, whenever
/// there are any.
///
/// To libcurl it is an upload without a length, which it sends unchanged if there is no `Transfer-Encoding`. And it
/// treats the bytes after a 101 as content. All its releases from 7.68 to 8.22 do so, including those that don't
/// support WebSockets themselves.
struct CurlUpgrade {
    /// The size of libcurl's buffer: many sockets are idle, and few send at the same time.
    static let bufferSize = 16 * 1024

    private enum Phase {
        case waiting, open, over
    }

    private let source: TransportRequest.UpgradeSource
    private let phase = Locked(Phase.waiting)

    init(_ source: TransportRequest.UpgradeSource, _ whenReadable: @escaping @Sendable () -> Void) {
        self.source = source
        source.whenReadable(whenReadable)
    }

    /// Whether the server has agreed, and the content isn't over.
    var isOpen: Bool { phase.withLock { $0 == .open } }

    func open() { phase.withLock { $0 = .open } }

    /// Ends the content: libcurl ends no transfer before that.
    func end() { phase.withLock { $0 = .over } }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBody.Chunk {
        guard phase.withLock({ $0 != .over }) else { return .bytes(0) }
        let count = source.take(into: buffer)
        return count > 0 ? .bytes(count) : .later
    }
}
#endif
