// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// The sockets that the loop waits for, in an epoll; belongs to the loop's thread.
///
/// libcurl forgets a socket at the end of every transfer, and asks for it again with the next one on the same
/// connection. A socket that it has opened itself therefore stays registered when it is forgotten, and goes only if an
/// event comes that nobody wants: two system calls less for each request. That is safe because the life of these
/// sockets is known, by the callbacks for opening and closing; any other, such as those of the resolver, is taken by
/// its word.
struct CurlSockets {
    private struct Interest {
        var registered: Int32 = 0
        var wanted: Int32 = 0
        /// Whether no transfer has it: what isn't wanted may also be paused.
        var isIdle = false
        /// The handle that has asked last.
        var owner: OpaquePointer?
    }

    private var poll: Int32 = -1
    private var wakeUp: Int32 = -1
    private var known: [Int32: Interest] = [:]
    private var ready = [CCurlReady](repeating: CCurlReady(), count: 64)

    /// Begins to wait with an epoll, which stays the caller's, and for the descriptor that ends the waiting.
    mutating func open(_ poll: Int32, wakeUp: Int32) {
        self.poll = poll
        self.wakeUp = wakeUp
        _ = ccurl_poll_set(poll, wakeUp, 1)
    }

    mutating func opened(_ socket: Int32) {
        known[socket] = Interest()
    }

    mutating func closes(_ socket: Int32) {
        known[socket] = nil  // The system forgets a closed socket's registration by itself.
    }

    /// Does what libcurl wants: 1 is for reading, 2 for writing, 3 for both, 4 to forget the socket.
    mutating func watch(_ socket: Int32, _ what: Int32, for easy: OpaquePointer?) {
        let bits = what == 4 ? 0 : what
        guard var interest = known[socket] else {
            if bits == 0 { ccurl_poll_remove(poll, socket) } else { _ = ccurl_poll_set(poll, socket, bits) }
            return
        }
        interest.wanted = bits
        if bits != 0 { (interest.isIdle, interest.owner) = (false, easy) }
        if bits != 0, interest.registered != bits {
            interest.registered = bits
            _ = ccurl_poll_set(poll, socket, bits)
        }
        known[socket] = interest
    }

    /// Notes that a transfer on the socket has ended.
    ///
    /// What comes from now on, until another asks for the socket, is no answer to anything. libcurl before 8.1 takes
    /// it for the answer to the next request. Another transfer may have the socket already, or another socket its
    /// number.
    mutating func transferEnded(on socket: Int32, for easy: OpaquePointer) {
        guard let interest = known[socket], interest.wanted == 0, interest.owner == easy else { return }
        known[socket]?.isIdle = true
    }

    /// Waits, and gives the sockets that something happened to which libcurl wants to know.
    ///
    /// - Parameters:
    ///   - milliseconds: How long to wait at most; -1 for as long as it takes.
    ///   - mayDiscard: Whether no transfer can have a socket without having asked for it, as one that is paused may.
    /// - Returns: The sockets, with what happened to each.
    mutating func wait(milliseconds: Int32, mayDiscard: () -> Bool) -> [CCurlReady] {
        let count = ready.withUnsafeMutableBufferPointer {
            ccurl_poll_wait(poll, $0.baseAddress, Int32($0.count), milliseconds)
        }
        var wanted: [CCurlReady] = []
        for event in ready.prefix(Int(count)) {
            if event.socket == wakeUp {
                ccurl_wake_clear(wakeUp)
            } else if let interest = known[event.socket], interest.wanted == 0 {
                if interest.isIdle, mayDiscard() { ccurl_discard_unasked(event.socket) }
                ccurl_poll_remove(poll, event.socket)
                known[event.socket]?.registered = 0
            } else {
                wanted.append(event)
            }
        }
        return wanted
    }
}
#endif
