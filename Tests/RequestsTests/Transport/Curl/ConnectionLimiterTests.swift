// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import RequestsTesting
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ConnectionPlacesTests {
    /// Places that can be taken inside an expectation.
    private final class Places {
        private var places: ConnectionLimiter<Int, String>

        init(maximumPerHost: Int?, maximumTotal: Int?) throws {
            places = try #require(ConnectionLimiter(maximumPerHost: maximumPerHost, maximumTotal: maximumTotal))
        }

        func take(_ id: Int, at host: String, isExclusive: Bool = false) -> Bool {
            places.take(id, at: host, isExclusive: isExclusive)
        }
        func leave(_ id: Int) -> [Int] { places.leave(id) }
        func share(at host: String) -> [Int] { places.share(at: host) }
        func setConnected(_ id: Int, _ isConnected: Bool) -> [Int] { places.setConnected(id, isConnected) }
        func fail(_ id: Int) -> [[Int]] {
            let (admitted, failed) = places.fail(id)
            return [admitted, failed]
        }
        var isEmpty: Bool { places.isEmpty }
    }

    @Test func nothingWaitsWhereNothingIsLimited() {
        #expect(ConnectionLimiter<Int, String>(maximumPerHost: nil, maximumTotal: nil) == nil)
    }

    @Test func placesOfAHostGoInTheOrderOfArrival() throws {
        let places = try Places(maximumPerHost: 2, maximumTotal: nil)
        let begun = (0..<5).filter { places.take($0, at: "a") }

        #expect(begun == [0, 1])
        #expect(places.leave(1) == [2])
        #expect(places.leave(0) == [3])
        #expect(places.leave(3) == [4])
        #expect(places.leave(4) == [])
    }

    @Test func waiterThatLeavesTheLineIsSkipped() throws {
        let places = try Places(maximumPerHost: 1, maximumTotal: nil)
        for id in 0..<4 { _ = places.take(id, at: "a") }

        #expect(places.leave(1) == [])
        #expect(places.leave(0) == [2])
        #expect(places.leave(3) == [])
        #expect(places.leave(2) == [])
        #expect(places.take(5, at: "a"))
    }

    // The address of a deallocated object is soon reused.
    @Test func identityThatComesAgainTakesNoPlaceOfItsPredecessor() throws {
        let places = try Places(maximumPerHost: 1, maximumTotal: nil)
        #expect(places.take(0, at: "a"))
        #expect(places.take(1, at: "b"))
        #expect(!places.take(2, at: "a"))
        #expect(!places.take(3, at: "a"))
        #expect(places.leave(2) == [])
        #expect(!places.take(2, at: "b"))

        #expect(places.leave(0) == [3])
        #expect(places.leave(1) == [2])
    }

    @Test func thoseThatWaitForADeadHostFailWithTheLastAttempt() throws {
        let places = try Places(maximumPerHost: 2, maximumTotal: nil)
        for id in 0..<5 { _ = places.take(id, at: "a") }

        #expect(places.fail(0) == [[], []])
        #expect(!places.take(5, at: "a"))
        #expect(places.take(6, at: "b"))
        #expect(places.fail(1) == [[], [2, 3, 4, 5]])
        #expect(places.take(7, at: "a"))
        for id in [6, 7] { #expect(places.leave(id) == []) }
        #expect(places.isEmpty)
    }

    @Test func attemptThatSucceedsAfterAFailureLetsTheOthersGo() throws {
        let places = try Places(maximumPerHost: 2, maximumTotal: nil)
        for id in 0..<5 { _ = places.take(id, at: "a") }

        #expect(places.fail(0) == [[], []])
        #expect(places.setConnected(1, true) == [2])
        #expect(places.fail(2) == [[3], []])
        #expect(places.setConnected(1, false) == [])
        #expect(places.fail(3) == [[], []])
        #expect(places.leave(1) == [4])
        #expect(places.leave(4) == [])
        #expect(places.isEmpty)
    }

    /// Each leaves the line without a copy of it.
    @Test func longLineTakesTimeInProportion() throws {
        let places = try Places(maximumPerHost: 1, maximumTotal: nil)
        for id in 0..<50_000 { _ = places.take(id, at: "a") }

        for id in 0..<49_999 { #expect(places.leave(id) == [id + 1]) }
    }

    @Test func hostsWithoutTransfersAreForgotten() throws {
        let places = try Places(maximumPerHost: 1, maximumTotal: 2)
        #expect(places.take(0, at: "a"))
        #expect(places.share(at: "a") == [])
        #expect(places.take(1, at: "a"))
        #expect(places.take(2, at: "b"))
        #expect(!places.take(3, at: "c"))
        #expect(places.leave(3) == [])
        for id in 0..<3 { #expect(places.leave(id) == []) }

        #expect(places.isEmpty)
    }

    @Test func transferThatCannotShareTakesAConnectionOfItsOwn() throws {
        let places = try Places(maximumPerHost: 2, maximumTotal: nil)
        #expect(places.take(0, at: "a"))
        #expect(places.share(at: "a") == [])
        #expect(places.take(1, at: "a", isExclusive: true))
        #expect(!places.take(2, at: "a", isExclusive: true))
        #expect(!places.take(3, at: "a"))

        #expect(places.leave(1) == [2, 3])
        for id in [0, 2, 3] { #expect(places.leave(id) == []) }
        #expect(places.isEmpty)
    }

    @Test func limitForAllGoesToTheOneThatHasWaitedLongest() throws {
        let places = try Places(maximumPerHost: nil, maximumTotal: 2)
        #expect(places.take(0, at: "a"))
        #expect(places.take(1, at: "b"))
        #expect(!places.take(2, at: "c"))
        #expect(!places.take(3, at: "a"))

        #expect(places.leave(0) == [2])
        #expect(places.leave(1) == [3])
    }

    @Test func hostWithRoomIsNotDelayedByOneWithout() throws {
        let places = try Places(maximumPerHost: 1, maximumTotal: 3)
        #expect(places.take(0, at: "a"))
        #expect(!places.take(1, at: "a"))
        #expect(places.take(2, at: "b"))
        #expect(places.take(3, at: "c"))
        #expect(!places.take(4, at: "d"))

        #expect(places.leave(2) == [4])
        #expect(places.leave(0) == [1])
    }

    @Test func connectionThatIsSharedCarriesAHundred() throws {
        let places = try Places(maximumPerHost: 1, maximumTotal: 2)
        let begun = (0..<250).filter { places.take($0, at: "a") }
        #expect(begun == [0])

        #expect(places.share(at: "a") == Array(1..<100))
        #expect(places.share(at: "a") == [])
        #expect(places.take(1_000, at: "b"))
        #expect(!places.take(1_001, at: "c"))
        #expect(places.leave(0) == [100])
    }

    /// In any order of events, the limit is never exceeded, and every request gets its turn.
    @Test func limitsHoldInAnyOrder() throws {
        var random = SeededRandom(7)
        for _ in 0..<200 {
            let places = try Places(maximumPerHost: 2, maximumTotal: 3)
            var (inside, waiting, hosts, done) = (Set<Int>(), Set<Int>(), [Int: String](), 0)
            for id in 0..<60 {
                hosts[id] = ["a", "b", "c"].randomElement(using: &random)
                if places.take(id, at: hosts[id] ?? "") { inside.insert(id) } else { waiting.insert(id) }
                while Bool.random(using: &random), let id = inside.union(waiting).randomElement(using: &random) {
                    inside.remove(id)
                    waiting.remove(id)
                    done += 1
                    var next = places.leave(id)
                    if let id = inside.randomElement(using: &random) {
                        next += places.setConnected(id, Bool.random(using: &random))
                    }
                    if let id = inside.randomElement(using: &random), Int.random(in: 0..<4, using: &random) == 0 {
                        let ends = places.fail(id)
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
                let next = places.leave(id)
                waiting.subtract(next)
                inside.formUnion(next)
            }
            #expect(done == 60 && waiting.isEmpty && places.isEmpty)
        }
    }
}
#endif
