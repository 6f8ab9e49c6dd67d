// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// libcurl's handle of one transfer.
typealias CurlEasy = UnsafeMutablePointer<CCurlEasy>
/// libcurl's handle of all transfers of a loop.
typealias CurlMulti = UnsafeMutablePointer<CCurlMulti>

/// Easy handles that aren't in use: making one costs more than a small request.
final class CurlHandlePool: Sendable {
    private static let mostIdle = 256
    // Numbers, since a pointer isn't Sendable; `nil` after the end.
    private let handles = Locked<[UInt]?>([])

    deinit {
        close()
    }

    /// A handle without options; `nil` if memory is short.
    func take() -> CurlEasy? {
        handles.withLock { $0?.popLast() }.flatMap { CurlEasy(bitPattern: $0) } ?? ccurl_easy_new()
    }

    /// Takes a handle back that is in no multi handle.
    func put(_ handle: CurlEasy) {
        ccurl_easy_reset(handle)
        let bits = UInt(bitPattern: handle)
        let isKept = handles.withLock { handles in
            guard let count = handles?.count, count < Self.mostIdle else { return false }
            handles?.append(bits)
            return true
        }
        if !isKept { ccurl_easy_free(handle) }
    }

    /// Frees all handles, and those that are put back later.
    func close() {
        let idle = handles.withLock { handles in
            defer { handles = nil }
            return handles ?? []
        }
        for handle in idle.compactMap({ CurlEasy(bitPattern: $0) }) { ccurl_easy_free(handle) }
    }
}
#endif
