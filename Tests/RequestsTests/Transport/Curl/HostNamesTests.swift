// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HostNamesTests {
    private final class Caller {}

    /// A table that can be asked within an expectation.
    private final class Table {
        private var table: NameTable

        init(mostWorkers: Int) {
            table = NameTable(mostWorkers: mostWorkers)
        }

        /// Asks at a second; without a caller to renew what is known.
        func ask(_ name: String, _ caller: Caller?, at second: UInt64 = 0) -> NameTable.Answer {
            let waiter = caller.map { NameTable.Waiter(id: ObjectIdentifier($0)) { _ in } }
            let (answer, startsWorker) = table.ask(name, waiter, now: second * 1_000_000_000)
            if startsWorker { workers += 1 }
            return answer
        }

        private(set) var workers = 0

        func leave(_ name: String, _ caller: Caller) { table.leave(name, ObjectIdentifier(caller)) }
        func next() -> String? { table.next() }

        /// Ends a look-up at a second; gives how many waited for it.
        @discardableResult
        func finish(_ name: String, _ addresses: [String]?, at second: UInt64 = 0) -> Int {
            let found = addresses.map(HostNames.Found.success) ?? .failure(.init(reason: "unknown"))
            return table.finish(name, found, now: second * 1_000_000_000).count
        }
    }

    private let one = Caller()
    private let other = Caller()

    @Test func nameIsLookedUpOnceForAllWhoAsk() {
        let table = Table(mostWorkers: 4)

        #expect(table.ask("a", one) == .nothing)
        #expect(table.ask("a", other) == .nothing)
        #expect(table.workers == 1)
        #expect(table.next() == "a")
        #expect(table.next() == nil)
        #expect(table.finish("a", ["::1"]) == 2)
        #expect(table.ask("a", one) == .fresh(["::1"]))
    }

    @Test func addressesAreKeptForAMinute() {
        let table = Table(mostWorkers: 4)
        _ = table.ask("a", one)
        _ = table.next()
        table.finish("a", ["::1"])

        #expect(table.ask("a", nil, at: 59) == .fresh(["::1"]))
        #expect(table.ask("a", nil, at: 60) == .outdated(["::1"]))
        #expect(table.next() == "a", "it is looked up anew, though no request waits")
        #expect(table.finish("a", nil, at: 61) == 0)
        #expect(table.ask("a", nil, at: 62) == .outdated(["::1"]), "a failure takes nothing away")
    }

    @Test func nameThatNoRequestWaitsForIsNotLookedUp() {
        let table = Table(mostWorkers: 1)
        for name in ["a", "b", "c"] { _ = table.ask(name, one) }
        table.leave("b", one)

        #expect(table.workers == 1)
        #expect(table.next() == "a")
        #expect(table.next() == "c")
        #expect(table.next() == nil)
        _ = table.ask("b", one)
        #expect(table.workers == 2)
    }

    @Test func nameThatIsAskedForAgainIsLookedUpOnce() {
        let table = Table(mostWorkers: 1)
        _ = table.ask("a", one)
        table.leave("a", one)
        _ = table.ask("a", one)

        #expect(table.next() == "a")
        #expect(table.next() == nil)
    }

    @Test func failureIsNotRemembered() {
        let table = Table(mostWorkers: 1)
        _ = table.ask("a", one)
        _ = table.next()
        table.finish("a", nil)

        #expect(table.ask("a", one) == .nothing)
        #expect(table.next() == "a")
    }

    @Test func systemKnowsThisMachine() throws {
        let addresses = try HostNames.system("localhost").get()

        #expect(Set(addresses).isSubset(of: ["127.0.0.1", "::1"]) && !addresses.isEmpty)
    }

    @Test(
        arguments: [
            ("http://example.com", "http://example.com:80", "example.com"),
            ("http://Example.COM:8080/a:b", "http://example.com:8080", "example.com"),
            ("https://example.com?q", "https://example.com:443", "example.com"),
            ("https://a_b-c.test:1/", "https://a_b-c.test:1", "a_b-c.test"),
            ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example:80", "xn--bcher-kva.example"),
            ("http://127.0.0.1:9/", "http://127.0.0.1:9", nil), ("http://[::1]:9/", "http://[::1]:9", nil),
            ("http://[::1]/", "http://[::1]:80", nil), ("http://127.1/", "http://127.1:80", nil),
            ("http://localhost/", "http://localhost:80", nil), ("http://a.LocalHost:1/", "http://a.localhost:1", nil),
            ("http://example.com./", "http://example.com.:80", nil), ("http://a%62.test/", "http://a%62.test:80", nil),
            ("", "http://:80", nil), ("http:", "http://:80", nil),
        ] as [(String, String, String?)]
    )
    func addressLeadsSomewhere(_ address: String, _ origin: String, _ name: String?) {
        let destination = CurlDestination(address)

        #expect(destination.origin == origin)
        #expect(destination.name == name)
    }
}
#endif
