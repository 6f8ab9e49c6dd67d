// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The addresses of hosts by name, for all transports of the process.
///
/// The system's look-up blocks a thread, can't be stopped, and takes half a minute if no server answers. libcurl makes
/// a thread and two descriptors for each transfer that waits for one. Here a name is looked up once for all transfers,
/// and the result is kept for a minute. At most sixteen look-ups with waiting requests run at a time. A look-up without
/// waiting requests gives up its place, so that names without an answer don't delay others for longer than requests
/// wait for them. There are at most sixty-four look-ups in all.
package final class HostResolver: Sendable {
    /// The reason why a name has no address.
    package struct Failure: Error, Hashable {
        let reason: String

        package init(reason: String) {
            self.reason = reason
        }
    }

    package typealias LookupResult = Result<[String], Failure>

    static let shared = HostResolver(lookUp: HostResolver.systemLookup)

    private let table: Locked<NameTable>
    private let lookUp: @Sendable (String) -> LookupResult
    private let clock: @Sendable () -> UInt64

    /// - Parameters:
    ///   - maximumAwaited: The maximum number of concurrent look-ups with waiting requests.
    ///   - maximumWorkers: The maximum number of concurrent look-ups.
    ///   - clock: Returns the current time, in nanoseconds.
    ///   - lookUp: Returns the addresses of a name; may block.
    package init(
        maximumAwaited: Int = NameTable.maximumAwaited,
        maximumWorkers: Int = NameTable.maximumWorkers,
        clock: @escaping @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds },
        lookUp: @escaping @Sendable (String) -> LookupResult
    ) {
        table = Locked(NameTable(maximumAwaited: maximumAwaited, maximumWorkers: maximumWorkers))
        self.clock = clock
        self.lookUp = lookUp
    }

    /// Returns the known addresses of a name, and looks it up if they aren't known, or have expired.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - query: Receives the answer, if the addresses aren't known or have expired; `nil`, the default, accepts
    ///     known ones only.
    /// - Returns: The presently known addresses.
    func addresses(of name: String, for query: HostQuery? = nil) -> NameTable.Lookup {
        let (answer, startsWorker) = table.withLock { $0.lookUp(name, query, now: clock()) }
        if startsWorker { startWorker() }
        return answer
    }

    /// Forgets addresses of a name that can't be connected to, unless it has others by now.
    func forget(_ addresses: [String], of name: String) {
        table.withLock { $0.forget(addresses, of: name) }
    }

    /// Withdraws a query, which isn't answered unless that is already happening.
    ///
    /// If it was the last, and its look-up hasn't begun, the name isn't looked up.
    func cancel(_ query: HostQuery) {
        if table.withLock({ $0.cancel(query) }) { startWorker() }
    }

    private func startWorker() {
        let isStarted = WorkerThread.start("Requests.HostResolver") { [self] in
            while let name = table.withLock({ $0.next() }) {
                let found = lookUp(name)
                let queries = table.withLock { $0.finish(name, found, now: clock()) }
                for query in queries { query.answer(found) }
            }
        }
        guard !isStarted else { return }
        let queries = table.withLock { $0.removeFailedWorker() }
        for query in queries { query.answer(.failure(Failure(reason: "No thread can be started"))) }
    }
}

/// A query for the addresses of a name, with an identity: an answer may come after it has been withdrawn.
final class HostQuery: Sendable, Equatable {
    let name: String
    private let receive: @Sendable (HostQuery, HostResolver.LookupResult) -> Void

    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - receive: Called with the answer, once, on a thread of its own.
    init(_ name: String, receive: @escaping @Sendable (HostQuery, HostResolver.LookupResult) -> Void) {
        self.name = name
        self.receive = receive
    }

    fileprivate func answer(_ found: HostResolver.LookupResult) { receive(self, found) }

    static func == (one: HostQuery, other: HostQuery) -> Bool { one === other }
}

extension HostResolver {
    /// Asks the system, with its hosts file, its name servers, and its other sources.
    @Sendable static func systemLookup(_ name: String) -> LookupResult {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_family = hasIPv6 ? AF_UNSPEC : AF_INET
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else { return .failure(Failure(reason: String(cString: gai_strerror(code)))) }
        let addresses = sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap(text)
        return addresses.isEmpty ? .failure(Failure(reason: "It has no usable address")) : .success(addresses)
    }

    // An address that is valid on one interface only is followed by a percent sign, which libcurl doesn't understand.
    private static func text(_ address: UnsafeMutablePointer<addrinfo>?) -> String? {
        guard let info = address?.pointee else { return nil }
        var bytes = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = getnameinfo(
            info.ai_addr,
            info.ai_addrlen,
            &bytes,
            socklen_t(bytes.count),
            nil,
            0,
            NI_NUMERICHOST
        )
        let text = String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return code == 0 && !text.contains("%") ? text : nil
    }

    private static let hasIPv6: Bool = {
        let socket = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue), 0)
        guard socket >= 0 else { return false }
        close(socket)
        return true
    }()
}
#endif
