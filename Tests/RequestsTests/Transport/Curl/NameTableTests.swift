// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct NameTableTests {
    /// A table that can be used inside an expectation.
    private final class Table {
        private var table: NameTable
        private(set) var workers = 0

        init(maximumAwaited: Int = 16, maximumWorkers: Int) {
            table = NameTable(maximumAwaited: maximumAwaited, maximumWorkers: maximumWorkers)
        }

        /// Asks at a time in seconds.
        func lookUp(_ query: HostQuery, at second: UInt64 = 0) -> NameTable.Lookup {
            lookUp(query.name, query, second)
        }

        /// Renews a known name at a time in seconds.
        func renew(_ name: String, at second: UInt64) -> NameTable.Lookup {
            lookUp(name, nil, second)
        }

        private func lookUp(_ name: String, _ query: HostQuery?, _ second: UInt64) -> NameTable.Lookup {
            let (answer, startsWorker) = table.lookUp(name, query, now: second * 1_000_000_000)
            if startsWorker { workers += 1 }
            return answer
        }

        func cancel(_ query: HostQuery) {
            if table.cancel(query) { workers += 1 }
        }

        /// Ends a worker that couldn't be started; returns the names of the queries that are left without one.
        func removeFailedWorker() -> [String] {
            workers -= 1
            return table.removeFailedWorker().map(\.name)
        }

        /// Returns the name that a worker looks up next; `nil` ends the worker.
        func next() -> String? {
            let name = table.next()
            if name == nil { workers -= 1 }
            return name
        }

        func forget(_ name: String, _ addresses: [String]) { table.forget(addresses, of: name) }

        /// Ends a look-up at a time in seconds; returns the number of queries that it answers.
        @discardableResult
        func finish(_ name: String, _ addresses: [String]?, at second: UInt64 = 0) -> Int {
            let found = addresses.map(HostResolver.LookupResult.success) ?? .failure(.init(reason: "unknown"))
            return table.finish(name, found, now: second * 1_000_000_000).count
        }
    }

    private func query(_ name: String) -> HostQuery { HostQuery(name) { _, _ in } }

    @Test func failedAddressesAreForgottenUnlessRenewed() {
        let table = Table(maximumWorkers: 1)
        let query = HostQuery("a") { _, _ in }
        _ = table.lookUp(query)
        _ = table.next()
        table.finish("a", ["1"])

        table.forget("a", ["2"])
        #expect(table.lookUp(query) == .fresh(["1"]), "a failure of former addresses says nothing of these")
        table.forget("a", ["1"])
        #expect(table.lookUp(query) == .pending)
    }

    @Test func concurrentQueriesShareLookup() {
        let table = Table(maximumWorkers: 4)

        #expect(table.lookUp(query("a")) == .pending)
        #expect(table.lookUp(query("a")) == .pending)
        #expect(table.workers == 1)
        #expect(table.next() == "a")
        #expect(table.lookUp(query("a")) == .pending)
        #expect(table.finish("a", ["::1"]) == 3)
        #expect(table.next() == nil && table.workers == 0)
        #expect(table.lookUp(query("a")) == .fresh(["::1"]))
    }

    @Test func addressesExpireAfterMinute() {
        let table = Table(maximumWorkers: 4)
        _ = table.lookUp(query("a"))
        _ = table.next()
        table.finish("a", ["::1"])

        #expect(table.renew("a", at: 59) == .fresh(["::1"]))
        #expect(table.renew("a", at: 60) == .stale(["::1"]))
        #expect(table.next() == "a", "it is looked up anew, though no request waits")
        #expect(table.finish("a", nil, at: 61) == 0)
        #expect(table.renew("a", at: 62) == .stale(["::1"]), "a failure takes nothing away")
    }

    @Test func cancelledQueryIsNotLookedUp() {
        let table = Table(maximumWorkers: 1)
        let queries = ["a", "b", "c"].map(query)
        for query in queries { _ = table.lookUp(query) }
        table.cancel(queries[1])

        #expect(table.workers == 1)
        #expect(table.next() == "a")
        table.finish("a", nil)
        #expect(table.next() == "c")
        table.finish("c", nil)
        #expect(table.next() == nil)
        _ = table.lookUp(queries[1])
        #expect(table.workers == 1)
    }

    @Test func renewedQueryIsLookedUpOnce() {
        let table = Table(maximumWorkers: 1)
        let first = query("a")
        _ = table.lookUp(first)
        table.cancel(first)
        _ = table.lookUp(query("a"))

        #expect(table.next() == "a")
        #expect(table.finish("a", nil) == 1)
        #expect(table.next() == nil)
    }

    @Test func queriesFailIfNoWorkerStarts() {
        let table = Table(maximumWorkers: 2)
        _ = table.lookUp(query("a"))
        _ = table.lookUp(query("b"))
        #expect(table.workers == 2)

        #expect(table.removeFailedWorker() == [], "the other one may answer")
        #expect(table.removeFailedWorker().sorted() == ["a", "b"])
        #expect(table.workers == 0)
    }

    @Test func failureIsNotCached() {
        let table = Table(maximumWorkers: 1)
        _ = table.lookUp(query("a"))
        _ = table.next()
        table.finish("a", nil)

        #expect(table.lookUp(query("a")) == .pending)
        #expect(table.next() == "a")
    }

    /// A look-up can't be stopped, and takes long if no server responds.
    @Test func hangingLookupsDoNotDelayOthers() {
        let table = Table(maximumAwaited: 2, maximumWorkers: 5)
        let silent = (1...3).map { query("silent-\($0)") }
        for query in silent { _ = table.lookUp(query) }
        #expect(table.workers == 2)
        #expect(table.next() == "silent-1")
        #expect(table.next() == "silent-2")
        _ = table.lookUp(query("good"))
        #expect(table.workers == 2, "there are as many as requests wait for")

        table.cancel(silent[0])
        #expect(table.workers == 3)
        #expect(table.next() == "silent-3")
        table.cancel(silent[2])
        #expect(table.workers == 4)
        #expect(table.next() == "good")
    }

    @Test func workerCountIsLimited() {
        let table = Table(maximumAwaited: 2, maximumWorkers: 5)

        for number in 0..<100 {
            let query = query("silent-\(number)")
            _ = table.lookUp(query)
            if table.workers <= 5, number < 5 { _ = table.next() }
            table.cancel(query)
        }

        #expect(table.workers == 5)
    }

    @Test func renewedQueryReclaimsRunningLookup() {
        let table = Table(maximumAwaited: 1, maximumWorkers: 5)
        let first = query("a")
        _ = table.lookUp(first)
        _ = table.next()
        table.cancel(first)
        _ = table.lookUp(query("b"))
        _ = table.next()
        _ = table.lookUp(query("a"))
        _ = table.lookUp(query("c"))
        #expect(table.workers == 2)

        table.finish("b", nil)
        #expect(table.next() == nil, "the other one has its place")
        #expect(table.finish("a", nil) == 1)
        #expect(table.next() == "c")
    }
}
#endif
