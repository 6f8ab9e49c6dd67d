// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The network interfaces of a Linux system, as reported by the kernel.
enum NetworkInterfaces {
    /// Reads the state: an interface counts if it is up, isn't the loopback, and has an address that others can reach.
    ///
    /// Of several, the one of the default route counts. `nil` if the system doesn't report it.
    static func status() -> Connectivity.Status? {
        guard let usable = usableNames() else { return nil }
        guard !usable.isEmpty else { return .disconnected }
        let name = defaultRoutes().first { usable.contains($0) } ?? usable.sorted()[0]
        return .connected(kind(of: name))
    }

    // MARK: Changes

    /// Calls `change` once before it returns, and whenever links, addresses or routes have changed, until the process
    /// ends (rtnetlink(7)); one call at a time.
    ///
    /// The change isn't read from the messages: some may have been lost, and the present state is easy to read.
    ///
    /// - Returns: Whether the kernel allows the observation.
    static func observe(_ change: @escaping @Sendable () -> Void) -> Bool {
        let descriptor = socket(addressFamily, kind, 0)
        guard descriptor >= 0 else { return false }
        guard subscribe(descriptor) else {
            close(descriptor)
            return false
        }
        let queue = DispatchQueue(label: "Requests.Connectivity")
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        // The handler retains its source: it is meant to exist for ever.
        source.setEventHandler {
            drain(Int32(source.handle))
            change()
        }
        source.resume()
        // After the subscription, so that no change is missed, and on its queue, so that it isn't newer than a later
        // call.
        queue.sync(execute: change)
        return true
    }

    private static func subscribe(_ descriptor: Int32) -> Bool {
        // sockaddr_nl: the family with two bytes of padding, the port (any), and the groups.
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

    // Glibc and Musl import these constants as different types, or not at all; the kernel has fixed their values.
    /// AF_NETLINK.
    private static let addressFamily: Int32 = 16
    /// SOCK_RAW, SOCK_CLOEXEC and SOCK_NONBLOCK.
    private static let kind: Int32 = 3 | 0o2000000 | 0o4000
    /// Links, and the addresses and routes of IPv4 and IPv6.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

    // MARK: What there is

    private static func usableNames() -> Set<String>? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var names: Set<String> = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            // Up and running, and not the loopback.
            guard entry.ifa_flags & 0x49 == 0x41, let address = entry.ifa_addr, isReachable(address) else { continue }
            names.insert(String(cString: entry.ifa_name))
        }
        return names
    }

    /// Whether an address is known beyond its own link (RFC 3927, RFC 4291, 2.5.6).
    private static func isReachable(_ address: UnsafeMutablePointer<sockaddr>) -> Bool {
        func byte(_ offset: Int) -> UInt8 { UnsafeRawPointer(address).load(fromByteOffset: offset, as: UInt8.self) }
        switch Int32(address.pointee.sa_family) {
        case AF_INET: return !(byte(4) == 169 && byte(5) == 254)
        case AF_INET6: return !(byte(8) == 0xFE && byte(9) & 0xC0 == 0x80)
        default: return false
        }
    }

    /// The names of the interfaces of default routes, the best first.
    private static func defaultRoutes() -> [String] {
        let table = (try? String(contentsOfFile: "/proc/net/route", encoding: .utf8)) ?? ""
        let table6 = (try? String(contentsOfFile: "/proc/net/ipv6_route", encoding: .utf8)) ?? ""
        return defaultRoutes(in: table) + defaultRoutesOfIPv6(in: table6)
    }

    /// Reads `/proc/net/route`: name, destination, gateway, flags, two counters, metric, mask.
    static func defaultRoutes(in table: String) -> [String] {
        let routes = table.split(separator: "\n").dropFirst().compactMap { line -> (name: String, metric: Int)? in
            let columns = line.split(whereSeparator: \.isWhitespace)
            guard columns.count > 7, columns[1] == "00000000", columns[7] == "00000000" else { return nil }
            return (String(columns[0]), Int(columns[6]) ?? .max)
        }
        return routes.sorted { $0.metric < $1.metric }.map(\.name)
    }

    /// Reads `/proc/net/ipv6_route`: destination and its length first, the metric the sixth, the name last.
    static func defaultRoutesOfIPv6(in table: String) -> [String] {
        let routes = table.split(separator: "\n").compactMap { line -> (name: String, metric: Int)? in
            let columns = line.split(whereSeparator: \.isWhitespace)
            guard columns.count > 9, columns[0].allSatisfy({ $0 == "0" }), columns[1] == "00" else { return nil }
            return (String(columns[columns.count - 1]), Int(columns[5], radix: 16) ?? .max)
        }
        return routes.sorted { $0.metric < $1.metric }.map(\.name)
    }

    /// The kind of an interface, from the kernel's data about its device.
    private static func kind(of name: String) -> Connectivity.Interface {
        let folder = "/sys/class/net/\(name)"
        let event = (try? String(contentsOfFile: "\(folder)/uevent", encoding: .utf8)) ?? ""
        let type = (try? String(contentsOfFile: "\(folder)/type", encoding: .utf8)) ?? ""
        return kind(ofEvent: event, type: type.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// The kind of an interface, from its `uevent` and its type of hardware (1 is Ethernet).
    static func kind(ofEvent event: String, type: String) -> Connectivity.Interface {
        let device = event.split(separator: "\n").first { $0.hasPrefix("DEVTYPE=") }?.dropFirst(8)
        switch device {
        case "wlan": return .wifi
        case "wwan": return .cellular
        case nil: return type == "1" ? .wired : .other
        default: return .other
        }
    }
}
#endif
