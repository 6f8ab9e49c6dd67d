// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The content of an upgrade request: nothing before the 101 response, and then the bytes of the upgraded protocol as
/// they become available.
///
/// libcurl treats this content as an upload of unknown length, which it sends verbatim if there is no
/// `Transfer-Encoding`. It delivers the bytes that the peer sends after the 101 as the content of the response. All
/// releases from 7.68 to 8.22 do so, including those without their own WebSocket support.
struct CurlUpgrade {
    /// The size of libcurl's upload buffer, which is small because many sockets are idle, and few send simultaneously.
    static let bufferSize = 16 * 1024

    private let source: TransportRequest.UpgradeSource

    init(_ source: TransportRequest.UpgradeSource, _ whenReadable: @escaping @Sendable () -> Void) {
        self.source = source
        source.whenReadable(whenReadable)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBody.ReadResult {
        let count = take(into: buffer)
        return count > 0 ? .bytes(count) : .later
    }

    /// Copies the available bytes into a buffer, and returns their number.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Int { source.take(into: buffer) }
}
#endif
