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

    private let source: TransportRequest.UpgradeSource

    init(_ source: TransportRequest.UpgradeSource, _ whenReadable: @escaping @Sendable () -> Void) {
        self.source = source
        source.whenReadable(whenReadable)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlBody.ReadResult {
        let count = take(into: buffer)
        return count > 0 ? .bytes(count) : .later
    }

    /// Takes the bytes that are there, and returns their number.
    func take(into buffer: UnsafeMutableRawBufferPointer) -> Int { source.take(into: buffer) }
}
#endif
