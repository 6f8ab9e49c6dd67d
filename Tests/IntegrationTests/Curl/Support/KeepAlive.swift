// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Glibc
import RequestsTestSupport

/// The times of TCP keep-alive of a socket, in seconds; `nil` if it is off.
struct KeepAlive: Equatable {
    var idle: Int32?
    var interval: Int32?

    /// Those of the sockets of this process that are connected to a port of the loopback.
    static func ofConnections(to port: Int) -> [KeepAlive] {
        Descriptors.open.compactMap { text in
            guard let socket = text.split(separator: " ").first.flatMap({ Int32($0) }), peer(of: socket) == port else {
                return nil
            }
            guard option(SO_KEEPALIVE, SOL_SOCKET, of: socket) == 1 else { return KeepAlive() }
            let tcp = Int32(IPPROTO_TCP)
            return KeepAlive(
                idle: option(TCP_KEEPIDLE, tcp, of: socket),
                interval: option(TCP_KEEPINTVL, tcp, of: socket)
            )
        }
    }

    private static func option(_ name: Int32, _ level: Int32, of socket: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(socket, level, name, &value, &size) == 0 ? value : nil
    }

    private static func peer(of socket: Int32) -> Int? {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &size) }
        }
        guard result == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
#endif
