// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// A port on the loopback interface that refuses connections, and that no other test's server can get meanwhile.
final class ClosedPort: Sendable {
    let number: Int
    private let descriptor: Int32

    var url: URL { URL(string: "http://127.0.0.1:\(number)")! }

    init() throws {
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let handle = socket(AF_INET, kind, 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Bound without a listener: the system refuses connections, and assigns the port to no other socket.
        let isBound = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(handle, $0, length) == 0 && getsockname(handle, $0, &length) == 0
            }
        }
        descriptor = handle
        number = Int(UInt16(bigEndian: name.sin_port))
        try #require(isBound)
    }

    deinit {
        close(descriptor)
    }
}
