// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// Resolves host names to addresses, and caches the results, for all transports of the process.
///
/// A system lookup blocks a thread, can't be cancelled, and may last half a minute if no name server responds. libcurl
/// would use a thread and two descriptors for each transfer that waits for a lookup. Here, each name is looked up once
/// for all transfers, and the result is cached for a minute.
///
/// At most 16 lookups with waiting requests run concurrently. A lookup that all requests have abandoned no longer
/// counts, so a lookup that hangs delays others only as long as a request waits for it. At most 64 lookups run in
/// total.
package final class HostResolver: Sendable {
    /// The reason why a lookup failed.
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

    /// Creates a resolver.
    ///
    /// - Parameters:
    ///   - maximumAwaited: The maximum number of concurrent lookups with waiting requests.
    ///   - maximumWorkers: The maximum number of concurrent lookups.
    ///   - clock: Returns the current time, in nanoseconds.
    ///   - lookUp: Looks up the addresses of a name; may block.
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

    /// Returns the cached addresses of a name, and starts a lookup unless they are fresh.
    ///
    /// - Parameters:
    ///   - name: The name in lower case.
    ///   - query: Receives the result of the lookup, unless the cached addresses are fresh. With `nil`, the default,
    ///     the lookup only refreshes the cache.
    /// - Returns: The cached addresses.
    func addresses(of name: String, for query: HostQuery? = nil) -> NameTable.Lookup {
        let (lookup, startsWorker) = table.withLock { $0.lookUp(name, query, now: clock()) }
        if startsWorker { startWorker() }
        return lookup
    }

    /// Removes addresses from the cache after a connection to them failed, unless the name already has other addresses.
    func forget(_ addresses: [String], of name: String) {
        table.withLock { $0.forget(addresses, of: name) }
    }

    /// Cancels a query, so that it receives no result unless the delivery has already begun.
    ///
    /// A pending lookup without any other queries is cancelled, too.
    func cancel(_ query: HostQuery) {
        if table.withLock({ $0.cancel(query) }) { startWorker() }
    }

    private func startWorker() {
        let isStarted = WorkerThread.start("Requests.HostResolver") { [self] in
            while let name = table.withLock({ $0.next() }) {
                let found = lookUp(name)
                let queries = table.withLock { $0.finish(name, found, now: clock()) }
                for query in queries { query.deliver(found) }
            }
        }
        guard !isStarted else { return }
        let queries = table.withLock { $0.removeFailedWorker() }
        for query in queries { query.deliver(.failure(Failure(reason: "can't start a thread"))) }
    }
}

/// A query for the addresses of a name.
///
/// Queries are compared by identity, because a result may arrive after its query was cancelled and replaced by another
/// query for the same name.
final class HostQuery: Sendable, Equatable {
    let name: String
    private let receive: @Sendable (HostQuery, HostResolver.LookupResult) -> Void

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - name: The name in lower case.
    ///   - receive: Called at most once with the result, on a thread of the resolver or, if no thread can be started,
    ///     on the current thread.
    init(_ name: String, receive: @escaping @Sendable (HostQuery, HostResolver.LookupResult) -> Void) {
        self.name = name
        self.receive = receive
    }

    fileprivate func deliver(_ found: HostResolver.LookupResult) { receive(self, found) }

    static func == (one: HostQuery, other: HostQuery) -> Bool { one === other }
}

extension HostResolver {
    /// Looks up a name with the system resolver, that is, with the hosts file, DNS and other sources.
    @Sendable static func systemLookup(_ name: String) -> LookupResult {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_family = hasIPv6 ? AF_UNSPEC : AF_INET
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else { return .failure(Failure(reason: String(cString: gai_strerror(code)))) }
        let addresses = sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap(text)
        return addresses.isEmpty ? .failure(Failure(reason: "no usable address was found")) : .success(addresses)
    }

    // A scoped address is excluded, because libcurl doesn't support its suffix with a percent sign.
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
