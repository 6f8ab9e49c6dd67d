// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Glibc

/// A listener that never accepts, with a full queue.
final class Unattended: Sendable {
    let url: URL
    private let descriptors: [Int32]

    init() throws {
        let (listener, port) = try RawListener.listen(at: .ipv4, backlog: 0)
        url = URL(string: "http://127.0.0.1:\(port)/")!
        var descriptors = [listener]
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        for _ in 0..<4 {
            let waiting = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            withUnsafePointer(to: name) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = connect(waiting, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            descriptors.append(waiting)
        }
        self.descriptors = descriptors
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
#endif
