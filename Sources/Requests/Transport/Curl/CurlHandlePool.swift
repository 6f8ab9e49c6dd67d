// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// Easy handles that aren't in use: making one costs more than a small request.
final class CurlHandlePool: Sendable {
    private struct State {
        var handles: [OpaquePointer] = []
        var isClosed = false
    }

    private static let mostIdle = 256
    private let state = Locked(State())

    deinit {
        close()
    }

    /// A handle without options; nil where memory is short.
    func take() -> OpaquePointer? {
        state.withLock { UInt(bitPattern: $0.handles.popLast()) }.handle ?? ccurl_easy_new()
    }

    /// Takes a handle back that is in no multi handle any more.
    func put(_ handle: OpaquePointer) {
        ccurl_easy_reset(handle)
        let bits = UInt(bitPattern: handle)
        let isKept = state.withLock { state in
            guard !state.isClosed, state.handles.count < Self.mostIdle, let handle = bits.handle else { return false }
            state.handles.append(handle)
            return true
        }
        if !isKept { ccurl_easy_free(handle) }
    }

    /// Frees what is here, and what comes from now on.
    func close() {
        let handles = state.withLock { state in
            defer { state.handles = [] }
            state.isClosed = true
            return state.handles.map { UInt(bitPattern: $0) }
        }
        for handle in handles.compactMap(\.handle) { ccurl_easy_free(handle) }
    }
}

// A pointer isn't Sendable, and what goes in and out of a lock has to be; a number is.
extension UInt {
    fileprivate var handle: OpaquePointer? { OpaquePointer(bitPattern: self) }
}
#endif
