// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// libcurl's handle of one transfer.
typealias CurlEasy = UnsafeMutablePointer<CCurlEasy>
/// An easy handle, with the memory that it points to.
typealias CurlHandle = UnsafeMutablePointer<CCurlHandle>
/// libcurl's handle of all transfers of a loop.
typealias CurlMulti = UnsafeMutablePointer<CCurlMulti>

/// Easy handles that aren't in use: making one costs more than a small request.
///
/// A handle keeps the options that all requests with TLS share, or all without TLS. A handle with other options is
/// reset.
final class CurlHandlePool: Sendable {
    private static let mostIdle = 256
    /// The maximum number of idle handles for TLS, which may keep their buffers: 8 MiB in all.
    private static let mostSecure = 64

    // Numbers, since a pointer isn't Sendable.
    private struct Idle: Sendable {
        var plain: [UInt] = []
        var secure: [UInt] = []
        var isClosed = false
    }

    private let idle = Locked(Idle())

    deinit {
        close()
    }

    /// Returns a handle; `nil` if out of memory.
    func take(isSecure: Bool) -> CurlHandle? {
        let bits = idle.withLock { isSecure ? $0.secure.popLast() : $0.plain.popLast() }
        return bits.flatMap { CurlHandle(bitPattern: $0) } ?? ccurl_handle_new()
    }

    /// Takes a handle back that is in no multi handle.
    func put(_ handle: CurlHandle, isSecure: Bool) {
        if !handle.pointee.is_prepared { ccurl_handle_reset(handle) }
        // The stored sessions belong to the thread of the loop, and a handle may be freed on another.
        if isSecure { ccurl_easy_set_sessions(handle.pointee.easy, nil) }
        handle.pointee.transfer = nil
        let bits = UInt(bitPattern: handle)
        let isKept = idle.withLock { idle in
            let hasRoom = isSecure ? idle.secure.count < Self.mostSecure : idle.plain.count < Self.mostIdle
            guard hasRoom, !idle.isClosed else { return false }
            if isSecure { idle.secure.append(bits) } else { idle.plain.append(bits) }
            return true
        }
        if !isKept { ccurl_handle_free(handle) }
    }

    /// Frees all handles, and those that are put back later.
    func close() {
        let handles = idle.withLock { idle in
            defer { idle = Idle(isClosed: true) }
            return idle.plain + idle.secure
        }
        for handle in handles.compactMap({ CurlHandle(bitPattern: $0) }) { ccurl_handle_free(handle) }
    }
}
#endif
