// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

// System calls that differ between platforms, or whose names a method would shadow.
//
// accept4 and pipe2, which set close-on-exec in the call that creates the descriptor, aren't visible from Swift on
// Linux, and don't exist on Darwin. A process that is launched in the few instructions before fcntl inherits the
// descriptor, unless its launcher closes the descriptors that it doesn't pass on, as Foundation's Process does.

func configure(_ descriptor: Int32) -> Int32 {
    guard descriptor >= 0 else { return descriptor }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    return descriptor
}

func makeStreamSocket() -> Int32 {
    #if canImport(Glibc)
    configure(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    #else
    configure(socket(AF_INET, Int32(SOCK_STREAM), 0))
    #endif
}

func acceptStreamSocket(from listener: Int32) -> Int32 {
    let descriptor = configure(accept(listener, nil, nil))
    #if canImport(Darwin)
    // For an invalid descriptor, setsockopt would fail as well, and overwrite the errno of accept.
    guard descriptor >= 0 else { return descriptor }
    var on: Int32 = 1
    _ = setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
    return descriptor
}

func sendQuietly(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Darwin)
    send(descriptor, bytes, count, 0)
    #else
    send(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
    #endif
}

/// Returns whether bytes have been sent that the peer's system hasn't acknowledged yet.
func hasUnsentBytes(_ descriptor: Int32) -> Bool {
    var count: Int32 = 0
    #if canImport(Darwin)
    var size = socklen_t(MemoryLayout<Int32>.size)
    _ = getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size)
    #else
    // Swift doesn't import SIOCOUTQ, but TIOCOUTQ has the same value (tcp(7)).
    _ = ioctl(descriptor, UInt(TIOCOUTQ), &count)
    #endif
    return count > 0
}

/// Waits until one of the descriptors is ready, or until the deadline.
///
/// - Returns: Whether a descriptor is ready; `revents` shows which one.
func awaitReadiness(_ descriptors: inout [pollfd], until deadline: ContinuousClock.Instant? = nil) -> Bool {
    while true {
        // Round up, so that a wait never ends early.
        let timeout = deadline.map { Int32(clamping: (($0 - .now).clampedNanoseconds + 999_999) / 1_000_000) }
        let count = poll(&descriptors, nfds_t(descriptors.count), timeout ?? -1)
        if count > 0 { return true }
        if count == 0 {
            // poll limits the timeout, so a longer wait continues with another call.
            guard let deadline, deadline > .now else { return false }
        } else if errno != EINTR && errno != EAGAIN {
            return false
        }
    }
}

/// The error of a system call that failed, for example because a port is in use.
struct SystemError: DescribedError {
    let call: String
    let code: Int32

    init(_ call: String, _ code: Int32) {
        (self.call, self.code) = (call, code)
    }

    var description: String { "\(call) failed: \(String(cString: strerror(code))) (\(code))" }
}
