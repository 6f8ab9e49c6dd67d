// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Foundation

/// The network interfaces of a Linux system, as reported by the kernel.
enum NetworkInterfaces {
    /// Returns whether a non-loopback interface is up and has an address that is reachable from other machines.
    ///
    /// Returns `nil` if the system can't list its interfaces.
    static func haveNetwork() -> Bool? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        return sequence(first: list) { $0?.pointee.ifa_next }.contains { entry in
            // IFF_UP and IFF_RUNNING, but not IFF_LOOPBACK.
            guard let entry = entry?.pointee, entry.ifa_flags & 0x49 == 0x41, let address = entry.ifa_addr else {
                return false
            }
            return isReachable(address)
        }
    }

    /// Returns whether an address is an IPv4 or IPv6 address that isn't link-local (RFC 3927; RFC 4291, 2.5.6).
    private static func isReachable(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
        func byte(_ offset: Int) -> UInt8 { UnsafeRawPointer(address).load(fromByteOffset: offset, as: UInt8.self) }
        switch Int32(address.pointee.sa_family) {
        case AF_INET: return !(byte(4) == 169 && byte(5) == 254)
        case AF_INET6: return !(byte(8) == 0xFE && byte(9) & 0xC0 == 0x80)
        default: return false
        }
    }

    // MARK: Changes

    /// Calls `change` once before it returns, and then after every change of links, addresses or routes, until the
    /// process exits (rtnetlink(7)).
    ///
    /// Calls never overlap. Kernel messages only trigger a call. Their content is ignored, because messages may get
    /// lost and the current state is easy to read. If the kernel doesn't permit observation, `change` is never called.
    static func observe(_ change: @escaping @Sendable () -> Void) {
        let descriptor = socket(addressFamily, kind, 0)
        guard descriptor >= 0, subscribe(descriptor) else {
            close(descriptor)
            return
        }
        let queue = DispatchQueue(label: "Requests.Connectivity")
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        // The handler retains its source, so the source is never released.
        source.setEventHandler {
            drain(Int32(source.handle))
            change()
        }
        source.resume()
        // This first call follows the subscription, so that no change is missed. It runs on the queue, so that calls
        // never overlap and the newest state is reported last.
        queue.sync(execute: change)
    }

    private static func subscribe(_ descriptor: Int32) -> Bool {
        // The fields of `sockaddr_nl` are the family with two bytes of padding, the port (any), and the groups.
        let address: [UInt32] = [UInt32(addressFamily).littleEndian, 0, groups]
        return address.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return bind(descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
        }
    }

    private static func drain(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 8192)
        while recv(descriptor, &buffer, buffer.count, 0) > 0 {}
    }

    // Glibc and Musl import these constants with different types, or not at all. Their values are fixed by the kernel.
    /// AF_NETLINK.
    private static let addressFamily: Int32 = 16
    /// SOCK_RAW, SOCK_CLOEXEC and SOCK_NONBLOCK.
    private static let kind: Int32 = 3 | 0o2000000 | 0o4000
    /// The multicast groups of links, and of IPv4 and IPv6 addresses and routes.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
}
#endif
