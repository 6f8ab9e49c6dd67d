// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A non-blocking TCP socket on the loopback interface, with close-on-exec.
///
/// The structure only wraps a descriptor. The code that created or accepted the socket must close it exactly once, and
/// no other thread may use it, because the system reuses descriptors: a second close could close another connection.
struct Socket: Sendable {
    let descriptor: Int32

    /// The outcome of reading or writing bytes.
    enum Transfer: Equatable {
        /// The number of bytes that were read or written.
        case moved(Int)
        /// Nothing can be read or written now.
        case blocked
        /// The peer has half-closed the connection, and may still read.
        case finished
        /// The connection is broken.
        case ended
    }

    /// The outcome of accepting a connection.
    enum Acceptance {
        case accepted(Socket)
        /// No connection is pending, or the pending connection has disconnected.
        case none
        /// The process or the system has no descriptors left.
        case exhausted
    }

    /// Opens a listener on a port of 127.0.0.1; port 0 chooses a free port.
    static func listener(port: UInt16 = 0, backlog: Int32) throws(SystemError) -> (socket: Socket, port: Int) {
        let descriptor = makeStreamSocket()
        guard descriptor >= 0 else { throw SystemError("socket", errno) }
        let socket = Socket(descriptor: descriptor)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        #if canImport(Darwin)
        address.sin_len = UInt8(length)
        #endif
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        // A fixed port may have connections of an earlier server in TIME_WAIT; a port that the system chooses never
        // does.
        if port != 0 { socket.set(SO_REUSEADDR, of: SOL_SOCKET, to: Int32(1)) }
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let failure: SystemError? = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard bind(descriptor, generic, length) == 0 else { return SystemError("bind", errno) }
                guard listen(descriptor, backlog) == 0 else { return SystemError("listen", errno) }
                guard getsockname(descriptor, generic, &length) == 0 else {
                    return SystemError("getsockname", errno)
                }
                return nil
            }
        }
        if let failure {
            socket.dispose()
            throw failure
        }
        return (socket, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Accepts a pending connection, with Nagle's algorithm disabled so that each step of a script is sent immediately.
    func acceptConnection() -> Acceptance {
        let descriptor = acceptStreamSocket(from: descriptor)
        guard descriptor >= 0 else {
            return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? .exhausted : .none
        }
        let socket = Socket(descriptor: descriptor)
        socket.set(TCP_NODELAY, of: Int32(IPPROTO_TCP), to: Int32(1))
        return .accepted(socket)
    }

    /// Reads the available bytes.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        transfer { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
    }

    /// Sends as many bytes as fit into the socket's buffer; never raises SIGPIPE.
    func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        transfer { sendQuietly(descriptor, bytes.baseAddress, bytes.count) }
    }

    /// Sends a FIN; the peer reads everything that was sent, and may still send.
    func finishSending() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Configures the socket so that ``dispose()`` sends a RST instead of a FIN.
    func resetOnDisposal() {
        set(SO_LINGER, of: SOL_SOCKET, to: linger(l_onoff: 1, l_linger: 0))
    }

    /// Closes the descriptor, which the system may then reuse.
    func dispose() {
        close(descriptor)
    }

    private func set<Option>(_ name: Int32, of level: Int32, to option: Option) {
        withUnsafeBytes(of: option) {
            _ = setsockopt(descriptor, level, name, $0.baseAddress, socklen_t($0.count))
        }
    }

    private func transfer(_ call: () -> Int) -> Transfer {
        while true {
            let count = call()
            if count > 0 { return .moved(count) }
            if count == 0 { return .finished }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .blocked
            default: return .ended
            }
        }
    }
}

extension Socket {
    /// Whether there are unread bytes.
    var hasUnreadBytes: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) > 0
    }
}

/// A signal that wakes a thread from `poll`, implemented as a pipe that stays readable until the signal is cleared.
///
/// The descriptors live as long as the object. A late signal, from a gate that is being opened, retains the object, so
/// it never writes to a descriptor that the system has reused.
final class Wakeup: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("pipe", errno) }
        (reading, writing) = (configure(ends[0]), configure(ends[1]))
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Wakes the polling thread, now or at its next `poll`.
    func signal() {
        var byte: UInt8 = 1
        _ = write(writing, &byte, 1)
    }

    /// Clears all signals so far; only the polling thread may call this.
    func clear() {
        var byte: UInt8 = 0
        while read(reading, &byte, 1) == 1 {}
    }

    /// The entry for the polling thread's `poll`.
    var pollDescriptor: pollfd {
        pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
    }
}
