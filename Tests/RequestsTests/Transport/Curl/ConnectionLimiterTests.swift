// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import RequestsTesting
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ConnectionPlacesTests {
    /// A limiter that can be used inside an expectation.
    private final class Limiter {
        private var limiter: ConnectionLimiter<Int, String>

        init(maximumPerHost: Int?, maximumTotal: Int?) throws {
            limiter = try #require(ConnectionLimiter(maximumPerHost: maximumPerHost, maximumTotal: maximumTotal))
        }

        func acquire(_ id: Int, at host: String, isExclusive: Bool = false) -> Bool {
            limiter.acquire(id, at: host, isExclusive: isExclusive)
        }
        func release(_ id: Int) -> [Int] { limiter.release(id) }
        func setShared(at host: String) -> [Int] { limiter.setShared(at: host) }
        func setConnected(_ id: Int, _ isConnected: Bool) -> [Int] { limiter.setConnected(id, isConnected) }
        func releaseUnconnected(_ id: Int) -> [[Int]] {
            let (admitted, failed) = limiter.releaseUnconnected(id)
            return [admitted, failed]
        }
        var isEmpty: Bool { limiter.isEmpty }
    }

    @Test func limiterIsNilWithoutLimits() {
        #expect(ConnectionLimiter<Int, String>(maximumPerHost: nil, maximumTotal: nil) == nil)
    }

    @Test func slotsOfHostAreGrantedInOrder() throws {
        let limiter = try Limiter(maximumPerHost: 2, maximumTotal: nil)
        let begun = (0..<5).filter { limiter.acquire($0, at: "a") }

        #expect(begun == [0, 1])
        #expect(limiter.release(1) == [2])
        #expect(limiter.release(0) == [3])
        #expect(limiter.release(3) == [4])
        #expect(limiter.release(4) == [])
    }

    @Test func cancelledWaiterIsSkipped() throws {
        let limiter = try Limiter(maximumPerHost: 1, maximumTotal: nil)
        for id in 0..<4 { _ = limiter.acquire(id, at: "a") }

        #expect(limiter.release(1) == [])
        #expect(limiter.release(0) == [2])
        #expect(limiter.release(3) == [])
        #expect(limiter.release(2) == [])
        #expect(limiter.acquire(5, at: "a"))
    }

    // The address of a deallocated object is soon reused.
    @Test func reusedIdentifierDoesNotInheritSlot() throws {
        let limiter = try Limiter(maximumPerHost: 1, maximumTotal: nil)
        #expect(limiter.acquire(0, at: "a"))
        #expect(limiter.acquire(1, at: "b"))
        #expect(!limiter.acquire(2, at: "a"))
        #expect(!limiter.acquire(3, at: "a"))
        #expect(limiter.release(2) == [])
        #expect(!limiter.acquire(2, at: "b"))

        #expect(limiter.release(0) == [3])
        #expect(limiter.release(1) == [2])
    }

    @Test func waitersFailWithLastAttemptAtDeadHost() throws {
        let limiter = try Limiter(maximumPerHost: 2, maximumTotal: nil)
        for id in 0..<5 { _ = limiter.acquire(id, at: "a") }

        #expect(limiter.releaseUnconnected(0) == [[], []])
        #expect(!limiter.acquire(5, at: "a"))
        #expect(limiter.acquire(6, at: "b"))
        #expect(limiter.releaseUnconnected(1) == [[], [2, 3, 4, 5]])
        #expect(limiter.acquire(7, at: "a"))
        for id in [6, 7] { #expect(limiter.release(id) == []) }
        #expect(limiter.isEmpty)
    }

    @Test func successAfterFailureAdmitsWaiters() throws {
        let limiter = try Limiter(maximumPerHost: 2, maximumTotal: nil)
        for id in 0..<5 { _ = limiter.acquire(id, at: "a") }

        #expect(limiter.releaseUnconnected(0) == [[], []])
        #expect(limiter.setConnected(1, true) == [2])
        #expect(limiter.releaseUnconnected(2) == [[3], []])
        #expect(limiter.setConnected(1, false) == [])
        #expect(limiter.releaseUnconnected(3) == [[], []])
        #expect(limiter.release(1) == [4])
        #expect(limiter.release(4) == [])
        #expect(limiter.isEmpty)
    }

    /// Each leaves the line without a copy of it.
    @Test func longQueueTakesLinearTime() throws {
        let limiter = try Limiter(maximumPerHost: 1, maximumTotal: nil)
        for id in 0..<50_000 { _ = limiter.acquire(id, at: "a") }

        for id in 0..<49_999 { #expect(limiter.release(id) == [id + 1]) }
    }

    @Test func hostsWithoutTransfersAreForgotten() throws {
        let limiter = try Limiter(maximumPerHost: 1, maximumTotal: 2)
        #expect(limiter.acquire(0, at: "a"))
        #expect(limiter.setShared(at: "a") == [])
        #expect(limiter.acquire(1, at: "a"))
        #expect(limiter.acquire(2, at: "b"))
        #expect(!limiter.acquire(3, at: "c"))
        #expect(limiter.release(3) == [])
        for id in 0..<3 { #expect(limiter.release(id) == []) }

        #expect(limiter.isEmpty)
    }

    @Test func exclusiveTransferTakesOwnConnection() throws {
        let limiter = try Limiter(maximumPerHost: 2, maximumTotal: nil)
        #expect(limiter.acquire(0, at: "a"))
        #expect(limiter.setShared(at: "a") == [])
        #expect(limiter.acquire(1, at: "a", isExclusive: true))
        #expect(!limiter.acquire(2, at: "a", isExclusive: true))
        #expect(!limiter.acquire(3, at: "a"))

        #expect(limiter.release(1) == [2, 3])
        for id in [0, 2, 3] { #expect(limiter.release(id) == []) }
        #expect(limiter.isEmpty)
    }

    @Test func totalLimitAdmitsLongestWaiter() throws {
        let limiter = try Limiter(maximumPerHost: nil, maximumTotal: 2)
        #expect(limiter.acquire(0, at: "a"))
        #expect(limiter.acquire(1, at: "b"))
        #expect(!limiter.acquire(2, at: "c"))
        #expect(!limiter.acquire(3, at: "a"))

        #expect(limiter.release(0) == [2])
        #expect(limiter.release(1) == [3])
    }

    @Test func fullHostDoesNotDelayOthers() throws {
        let limiter = try Limiter(maximumPerHost: 1, maximumTotal: 3)
        #expect(limiter.acquire(0, at: "a"))
        #expect(!limiter.acquire(1, at: "a"))
        #expect(limiter.acquire(2, at: "b"))
        #expect(limiter.acquire(3, at: "c"))
        #expect(!limiter.acquire(4, at: "d"))

        #expect(limiter.release(2) == [4])
        #expect(limiter.release(0) == [1])
    }

    @Test func sharedConnectionCarriesHundredTransfers() throws {
        let limiter = try Limiter(maximumPerHost: 1, maximumTotal: 2)
        let begun = (0..<250).filter { limiter.acquire($0, at: "a") }
        #expect(begun == [0])

        #expect(limiter.setShared(at: "a") == Array(1..<100))
        #expect(limiter.setShared(at: "a") == [])
        #expect(limiter.acquire(1_000, at: "b"))
        #expect(!limiter.acquire(1_001, at: "c"))
        #expect(limiter.release(0) == [100])
    }

    /// In any order of events, the limit is never exceeded, and every request gets its turn.
    @Test func limitsHoldInAnyOrder() throws {
        var random = SeededRandom(7)
        for _ in 0..<200 {
            let limiter = try Limiter(maximumPerHost: 2, maximumTotal: 3)
            var (inside, waiting, hosts, done) = (Set<Int>(), Set<Int>(), [Int: String](), 0)
            for id in 0..<60 {
                hosts[id] = ["a", "b", "c"].randomElement(using: &random)
                if limiter.acquire(id, at: hosts[id] ?? "") { inside.insert(id) } else { waiting.insert(id) }
                while Bool.random(using: &random), let id = inside.union(waiting).randomElement(using: &random) {
                    inside.remove(id)
                    waiting.remove(id)
                    done += 1
                    var next = limiter.release(id)
                    if let id = inside.randomElement(using: &random) {
                        next += limiter.setConnected(id, Bool.random(using: &random))
                    }
                    if let id = inside.randomElement(using: &random), Int.random(in: 0..<4, using: &random) == 0 {
                        let ends = limiter.releaseUnconnected(id)
                        inside.remove(id)
                        waiting.subtract(ends[1])
                        done += 1 + ends[1].count
                        next += ends[0]
                    }
                    #expect(waiting.isSuperset(of: next))
                    waiting.subtract(next)
                    inside.formUnion(next)
                }
                #expect(inside.count <= 3)
                #expect(["a", "b", "c"].allSatisfy { host in inside.count { hosts[$0] == host } <= 2 })
            }
            while let id = inside.first {
                inside.remove(id)
                done += 1
                let next = limiter.release(id)
                waiting.subtract(next)
                inside.formUnion(next)
            }
            #expect(done == 60 && waiting.isEmpty && limiter.isEmpty)
        }
    }
}
#endif
