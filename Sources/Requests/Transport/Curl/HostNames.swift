// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The addresses of hosts by name, for all transports of the process.
///
/// The system's look-up blocks a thread, can't be stopped, and takes half a minute where no server answers. libcurl makes
/// a thread and two descriptors for each transfer that waits for one. Here a name is looked up once for all who want it, and
/// what was found is kept for a minute. At most sixteen names that a request waits for are looked up at a time. One that
/// no request waits for any more gives up its place, so that names that aren't answered don't hold up others for longer than
/// requests are ready to wait for them; there are at most sixty-four look-ups in all.
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
    ///   - mostAwaited: How many names are looked up at a time that are waited for.
    ///   - mostWorkers: How many names are looked up at a time.
    ///   - clock: The present, in nanoseconds.
    ///   - lookUp: Gives the addresses of a name; may block.
    package init(
        mostAwaited: Int = 16,
        mostWorkers: Int = 64,
        clock: @escaping @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds },
        lookUp: @escaping @Sendable (String) -> Found
    ) {
        table = Locked(NameTable(mostAwaited: mostAwaited, mostWorkers: mostWorkers))
        self.clock = clock
        self.lookUp = lookUp
    }

    /// Gives the addresses of a name where they are known, and looks it up where they aren't, or are outdated.
    ///
    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - question: What is told the answer, if nothing is known or only what is outdated; nil, the default, to take what
    ///     is known.
    /// - Returns: What is known by now.
    func addresses(of name: String, for question: HostQuestion? = nil) -> NameTable.Answer {
        let (answer, startsWorker) = table.withLock { $0.ask(name, question, now: clock()) }
        if startsWorker { startWorker() }
        return answer
    }

    /// Takes back a question, which isn't answered unless that is being done.
    ///
    /// If it was the last, and nothing is under way, the name isn't looked up.
    func leave(_ question: HostQuestion) {
        if table.withLock({ $0.leave(question) }) { startWorker() }
    }

    private func startWorker() {
        let thread = Thread { [self] in
            while let name = table.withLock({ $0.next() }) {
                let found = lookUp(name)
                let questions = table.withLock { $0.finish(name, found, now: clock()) }
                for question in questions { question.answer(found) }
            }
        }
        thread.name = "Requests.HostNames"
        thread.start()
    }
}

/// A question for the addresses of a name, told from any other for the same: an answer may come when it has been taken back.
final class HostQuestion: Sendable, Equatable {
    let name: String
    private let receive: @Sendable (HostQuestion, HostNames.Found) -> Void

    /// - Parameters:
    ///   - name: The name, in lower case.
    ///   - receive: Called with the answer, once, on a thread of its own.
    init(_ name: String, receive: @escaping @Sendable (HostQuestion, HostNames.Found) -> Void) {
        self.name = name
        self.receive = receive
    }

    fileprivate func answer(_ found: HostNames.Found) { receive(self, found) }

    static func == (one: HostQuestion, other: HostQuestion) -> Bool { one === other }
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
