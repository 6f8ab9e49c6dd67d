// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc
import Requests

/// A listener for tests that ``MockServer`` doesn't support: other kinds of addresses, and a count of the bytes that
/// the peer took.
///
/// Each connection is one call of the handler on its own thread, and is closed afterwards.
final class RawListener: Sendable {
    enum Address: Sendable {
        case ipv4
        case ipv6
        case unix(path: String)
    }

    struct Failure: Error {
        let call: String
        let code: Int32
    }

    /// The port; 0 for a Unix socket.
    let port: Int
    private let descriptor: Int32
    private let threads = DispatchGroup()
    private let open = Locked<Set<Int32>?>([])

    init(_ address: Address = .ipv4, _ handler: @escaping @Sendable (RawConnection) -> Void) throws {
        let listener = try Self.listen(at: address)
        (descriptor, port) = listener
        threads.enter()
        Thread.detachNewThread { [threads, open] in
            while case let accepted = accept(listener.0, nil, nil), accepted >= 0 {
                guard open.withLock({ $0?.insert(accepted) != nil }) else {
                    Glibc.close(accepted)
                    break
                }
                threads.enter()
                Thread.detachNewThread {
                    handler(RawConnection(descriptor: accepted))
                    // Removed before it is closed, since its number may be reused right after.
                    open.withLock { _ = $0?.remove(accepted) }
                    Glibc.close(accepted)
                    threads.leave()
                }
            }
            Glibc.close(listener.0)
            threads.leave()
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        open.withLock { descriptors in
            for descriptor in descriptors ?? [] { shutdown(descriptor, Int32(SHUT_RDWR)) }
            descriptors = nil
        }
        threads.wait()
    }

    static func listen(
        at address: Address,
        port: Int = 0,
        backlog: Int32 = 1024
    ) throws -> (descriptor: Int32, port: Int) {
        switch address {
        case .ipv4:
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            name.sin_port = UInt16(port).bigEndian
            let descriptor = try listen(AF_INET, &name, backlog)
            return (descriptor, Int(UInt16(bigEndian: name.sin_port)))
        case .ipv6:
            var name = sockaddr_in6()
            name.sin6_family = sa_family_t(AF_INET6)
            name.sin6_addr = in6addr_loopback
            name.sin6_port = UInt16(port).bigEndian
            let descriptor = try listen(AF_INET6, &name, backlog)
            return (descriptor, Int(UInt16(bigEndian: name.sin6_port)))
        case .unix(let path):
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            return (try listen(AF_UNIX, &name, backlog), 0)
        }
    }

    /// Binds and listens; the name becomes the one that the system assigned.
    private static func listen<Name>(_ family: Int32, _ name: inout Name, _ backlog: Int32) throws -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        var length = socklen_t(MemoryLayout<Name>.size)
        let failure: Failure? = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard bind(descriptor, $0, length) == 0 else { return Failure(call: "bind", code: errno) }
                guard Glibc.listen(descriptor, backlog) == 0 else { return Failure(call: "listen", code: errno) }
                return getsockname(descriptor, $0, &length) == 0 ? nil : Failure(call: "getsockname", code: errno)
            }
        }
        guard let failure else { return descriptor }
        Glibc.close(descriptor)
        throw failure
    }
}

/// An accepted connection with blocking calls.
struct RawConnection: Sendable {
    fileprivate let descriptor: Int32

    /// Reads up to the empty line; returns `nil` if the client disconnects before.
    func readHead() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1 {
            bytes.append(byte)
            if bytes.suffix(4) == [13, 10, 13, 10] { return String(decoding: bytes, as: UTF8.self) }
        }
        return nil
    }

    /// Waits for bytes, or for the end of the connection, within a time; returns whether there is either.
    func awaitInput(milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, milliseconds) > 0
    }

    /// Reads `count` bytes; returns `false` if the client disconnects before.
    func skip(_ count: Int) -> Bool {
        var left = count
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while left > 0 {
            let read = recv(descriptor, &buffer, min(left, buffer.count), 0)
            guard read > 0 else { return false }
            left -= read
        }
        return true
    }

    /// Reads `count` bytes and returns them; `nil` if the client disconnects before.
    func read(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count < count {
            let read = recv(descriptor, &buffer, min(count - bytes.count, buffer.count), 0)
            guard read > 0 else { return nil }
            bytes += buffer[..<read]
        }
        return bytes
    }

    /// Writes all of the text; returns `false` if the client disconnects before.
    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Writes all of the bytes; returns `false` if the client disconnects before.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// The address of the client.
    var peer: String {
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return String(cString: inet_ntoa(name.sin_addr))
    }

    /// Ends the sending side; the client may still send.
    func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Writes as many bytes as fit now; returns 0 if none do, and `nil` if the client has disconnected.
    func writeWhatFits(_ bytes: [UInt8]) -> Int? {
        let count = bytes.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        if count >= 0 { return count }
        return errno == EAGAIN ? 0 : nil
    }

    /// Waits for the client to take more within a time; returns whether it did.
    func awaitRoom(milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return Glibc.poll(&poll, 1, milliseconds) > 0
    }
}

extension RawConnection {
    /// Connects to a port of this machine; `nil` without a listener.
    init?(connectedTo port: UInt16) {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let isConnected = withUnsafePointer(to: name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        self.init(descriptor: descriptor)
        guard isConnected else {
            Glibc.close(descriptor)
            return nil
        }
    }

    /// Connects to a port of `::1` until connections fail because the listener's queue is full.
    static func fill(_ port: Int) -> [Int32] {
        var name = sockaddr_in6()
        name.sin6_family = sa_family_t(AF_INET6)
        name.sin6_port = UInt16(port).bigEndian
        name.sin6_addr = in6addr_loopback
        var descriptors: [Int32] = []
        repeat {
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
            descriptors.append(socket(AF_INET6, kind, 0))
            withUnsafePointer(to: name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = connect(descriptors[descriptors.count - 1], $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        } while descriptors.count < 64
            && RawConnection(descriptor: descriptors[descriptors.count - 1]).awaitRoom(milliseconds: 200)
        return descriptors
    }

    /// Forwards bytes in both directions until one side disconnects, and closes the other.
    func relay(to other: RawConnection) {
        defer { Glibc.close(other.descriptor) }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        var ends = [descriptor, other.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while Glibc.poll(&ends, 2, -1) > 0 {
            for (index, end) in ends.enumerated() where end.revents != 0 {
                let count = recv(end.fd, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                let peer = ends[1 - index].fd
                var sent = 0
                while sent < count {
                    let now = buffer[sent..<count].withUnsafeBytes {
                        send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard now > 0 else { return }
                    sent += now
                }
            }
        }
    }
}
#endif
