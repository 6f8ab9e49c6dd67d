// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// libcurl's easy handle, which represents one transfer.
typealias CurlEasy = UnsafeMutablePointer<CCurlEasy>
/// An easy handle, with the memory that it references.
typealias CurlHandle = UnsafeMutablePointer<CCurlHandle>
/// libcurl's multi handle, which runs all transfers of a loop.
typealias CurlMulti = UnsafeMutablePointer<CCurlMulti>

/// A pool of idle easy handles, because creating a handle costs more than a small request.
///
/// An idle handle keeps the options that are common to all requests with TLS, or to all without TLS. A handle with
/// other options is reset.
final class CurlHandlePool: Sendable {
    private static let maximumIdle = 256
    /// The maximum number of idle TLS handles, which may keep their buffers of up to 8 MiB in total.
    private static let maximumIdleSecure = 64

    // The handles are stored as integers, because pointers aren't Sendable.
    private struct Idle: Sendable {
        var plain: [UInt] = []
        var secure: [UInt] = []
        var isClosed = false
    }

    private let idle = Locked(Idle())

    deinit {
        close()
    }

    /// Returns an idle handle, or a new one; `nil` if out of memory.
    func take(isSecure: Bool) -> CurlHandle? {
        let address = idle.withLock { isSecure ? $0.secure.popLast() : $0.plain.popLast() }
        return address.flatMap { CurlHandle(bitPattern: $0) } ?? ccurl_handle_new()
    }

    /// Returns a handle to the pool; the handle must not belong to a multi handle.
    func put(_ handle: CurlHandle, isSecure: Bool) {
        if !handle.pointee.is_prepared { ccurl_handle_reset(handle) }
        // Detach the stored TLS sessions, because they belong to the loop's thread, but a handle may be freed on
        // another thread.
        if isSecure { ccurl_easy_set_sessions(handle.pointee.easy, nil) }
        handle.pointee.transfer = nil
        let address = UInt(bitPattern: handle)
        let isKept = idle.withLock { idle in
            let hasRoom = isSecure ? idle.secure.count < Self.maximumIdleSecure : idle.plain.count < Self.maximumIdle
            guard hasRoom, !idle.isClosed else { return false }
            if isSecure { idle.secure.append(address) } else { idle.plain.append(address) }
            return true
        }
        if !isKept { ccurl_handle_free(handle) }
    }

    /// Frees all idle handles; a handle that is returned later is freed immediately.
    func close() {
        let handles = idle.withLock { idle in
            defer { idle = Idle(isClosed: true) }
            return idle.plain + idle.secure
        }
        for handle in handles.compactMap({ CurlHandle(bitPattern: $0) }) { ccurl_handle_free(handle) }
    }
}
#endif
