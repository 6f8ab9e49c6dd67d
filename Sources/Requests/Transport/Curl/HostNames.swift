// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The addresses of hosts by name, for all transports of the process.
///
/// The system's look-up blocks a thread, can't be stopped, and takes half a minute where no server answers. libcurl makes
/// a thread and two descriptors for each transfer that waits for one. Here a name is looked up once for all who want it,
/// at most sixteen names at a time, and what was found is kept for a minute.
package final class HostNames: Sendable {
    /// Why a name has no address.
    package struct Failure: Error, Hashable {
        let reason: String

        package init(reason: String) {
            self.reason = reason
        }
    }

    package typealias Found = Result<[String], Failure>

    static let shared = HostNames(lookUp: HostNames.system)

    private let table: Locked<NameTable>
    private let lookUp: @Sendable (String) -> Found
    private let clock: @Sendable () -> UInt64

    /// - Parameters:
    ///   - mostWorkers: How many names are looked up at a time.
    ///   - clock: The present, in nanoseconds.
    ///   - lookUp: Gives the addresses of a name; may block.
    package init(
        mostWorkers: Int = 16,
        clock: @escaping @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds },
        lookUp: @escaping @Sendable (String) -> Found
    ) {
        table = Locked(NameTable(mostWorkers: mostWorkers))
        self.clock = clock
        self.lookUp = lookUp
    }

    /// Gives the addresses of a name where they are known, and looks it up where they aren't, or are outdated.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - waiter: The one to tell what is found, if nothing is known or only what is outdated; `nil` to take what is
    ///     known.
    /// - Returns: What is known by now.
    func addresses(of name: String, for waiter: NameTable.Waiter?) -> NameTable.Answer {
        let (answer, startsWorker) = table.withLock { $0.ask(name, waiter, now: clock()) }
        if startsWorker { startWorker() }
        return answer
    }

    /// Takes one out of those that wait for a name.
    ///
    /// If it was the last, and nothing is under way, the name isn't looked up.
    func leave(_ name: String, _ id: ObjectIdentifier) {
        table.withLock { $0.leave(name, id) }
    }

    private func startWorker() {
        let thread = Thread { [self] in
            while let name = table.withLock({ $0.next() }) {
                let found = lookUp(name)
                let waiters = table.withLock { $0.finish(name, found, now: clock()) }
                for waiter in waiters { waiter.tell(found) }
            }
        }
        thread.name = "Requests.HostNames"
        thread.start()
    }
}

/// The names that are looked up, those that wait for them, and what was found; without the looking up.
struct NameTable: Sendable {
    /// One that is told what was found.
    struct Waiter: Sendable {
        let id: ObjectIdentifier
        /// Called once, on a thread of the table's owner.
        let tell: @Sendable (HostNames.Found) -> Void
    }

    /// What is known of a name.
    enum Answer: Hashable, Sendable {
        /// Addresses that may be used.
        case fresh([String])
        /// Addresses that were good a while ago; they are looked up anew.
        case outdated([String])
        /// Nothing: it is being looked up.
        case nothing
    }

    private struct LookUp {
        var waiters: [Waiter] = []
        var isUnderWay = false
        /// Whether what is known already is to be renewed, also if no request waits.
        var isRenewal = false
    }

    private struct Entry {
        let addresses: [String]
        let time: UInt64
    }

    /// How long addresses are good, in nanoseconds: as long as libcurl keeps them.
    ///
    /// The system doesn't say how long they
    /// are meant to be.
    static let lifetime: UInt64 = 60 * 1_000_000_000
    /// How many names are remembered.
    private static let mostNames = 1_024

    private let mostWorkers: Int
    private var workers = 0
    private var known: [String: Entry] = [:]
    private var lookUps: [String: LookUp] = [:]
    /// The names that are to be looked up, in their order; one that isn't in the dictionary any more, or is under way, is
    /// passed over.
    private var line = FIFO<String>()

    init(mostWorkers: Int) {
        self.mostWorkers = mostWorkers
    }

    /// Tells what is known of a name, and has it looked up where that isn't enough.
    ///
    /// - Returns: What is known, and whether one more worker is needed.
    mutating func ask(_ name: String, _ waiter: Waiter?, now: UInt64) -> (Answer, startsWorker: Bool) {
        let entry = known[name]
        if let entry, now &- entry.time < Self.lifetime { return (.fresh(entry.addresses), false) }
        let answer = entry.map { Answer.outdated($0.addresses) } ?? .nothing
        let isNew = lookUps[name] == nil
        var lookUp = lookUps[name] ?? LookUp()
        if let waiter { lookUp.waiters.append(waiter) } else { lookUp.isRenewal = true }
        lookUps[name] = lookUp
        guard isNew else { return (answer, false) }
        line.append(name)
        guard workers < mostWorkers else { return (answer, false) }
        workers += 1
        return (answer, true)
    }

    /// Takes one out of those that wait.
    mutating func leave(_ name: String, _ id: ObjectIdentifier) {
        guard var lookUp = lookUps[name] else { return }
        lookUp.waiters.removeAll { $0.id == id }
        let isNeeded = lookUp.isUnderWay || lookUp.isRenewal || !lookUp.waiters.isEmpty
        lookUps[name] = isNeeded ? lookUp : nil
    }

    /// What a worker looks up next; nil if it isn't needed any more, and gone from here.
    mutating func next() -> String? {
        while let name = line.popFirst() {
            guard lookUps[name]?.isUnderWay == false else { continue }
            lookUps[name]?.isUnderWay = true
            return name
        }
        workers -= 1
        return nil
    }

    /// Notes what was found; gives those that wait for it.
    mutating func finish(_ name: String, _ found: HostNames.Found, now: UInt64) -> [Waiter] {
        if case .success(let addresses) = found {
            known[name] = Entry(addresses: addresses, time: now)
            if known.count > Self.mostNames { forgetOldest(now: now) }
        }
        return lookUps.removeValue(forKey: name)?.waiters ?? []
    }

    private mutating func forgetOldest(now: UInt64) {
        known = known.filter { now &- $0.value.time < Self.lifetime }
        while known.count > Self.mostNames, let oldest = known.min(by: { $0.value.time < $1.value.time }) {
            known[oldest.key] = nil
        }
    }
}

extension HostNames {
    /// Asks the system, which knows the file of hosts, the name servers, and whatever else it is set up with.
    @Sendable static func system(_ name: String) -> Found {
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

    // An address that is good on one interface only says so behind a percent sign, and libcurl wouldn't understand it.
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
