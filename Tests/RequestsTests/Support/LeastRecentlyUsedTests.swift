// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct LeastRecentlyUsedTests {
    @Test func leastRecentlyUsedElementIsRemoved() {
        var values = LeastRecentlyUsed<String, Int>(limit: 40)
        for (index, key) in ["a", "b", "c", "d"].enumerated() { values.insert(index, for: key, cost: 10) }

        #expect(values.value(for: "a") == 0)
        values.insert(4, for: "e", cost: 10)

        #expect(!values.contains("b"))
        #expect(values.value(for: "a") == 0)
        #expect(values.cost == 40)
    }

    @Test func newValueReplacesPrevious() {
        var values = LeastRecentlyUsed<String, Int>(limit: 40)
        values.insert(1, for: "a", cost: 5)

        values.insert(2, for: "a", cost: 7)

        #expect(values.values { _ in true } == ["a": 2])
        #expect(values.cost == 7)
    }

    @Test func oversizedValueRemovesPrevious() {
        var values = LeastRecentlyUsed<String, Int>(limit: 40)
        values.insert(1, for: "a", cost: 5)

        values.insert(2, for: "a", cost: 11)

        #expect(values.value(for: "a") == nil)
        #expect(values.cost == 0)
    }

    @Test(arguments: [0, -1]) func withoutPositiveLimitNothingIsStored(limit: Int) {
        var values = LeastRecentlyUsed<String, Int>(limit: limit)

        values.insert(1, for: "a", cost: 1)

        #expect(!values.contains("a") && values.cost == 0)
    }

    @Test func removeAllRemovesMatchingOrAllElements() {
        var values = LeastRecentlyUsed<Int, Int>(limit: 400)
        for key in 0..<10 { values.insert(key, for: key, cost: 1) }

        values.removeAll { $0.isMultiple(of: 2) }

        #expect((0..<10).filter(values.contains) == [1, 3, 5, 7, 9])
        values.removeAll()
        #expect(values.values { _ in true }.isEmpty && values.cost == 0)
    }
}

@Suite(.bounded) struct LeastRecentlyUsedFuzzTests {
    @Test func matchesPlainListModel() {
        var fuzz = Fuzz()
        var values = LeastRecentlyUsed<Int, Int>(limit: 100)
        var list: [(key: Int, value: Int, cost: Int)] = []
        for step in 0..<Scale.fuzz() {
            let key = Int.random(in: 0..<20, using: &fuzz)
            let known = list.firstIndex { $0.key == key }
            switch Int.random(in: 0..<10, using: &fuzz) {
            case 0:
                values.remove(key)
                if let known { list.remove(at: known) }
            case 1...5:
                let cost = Int.random(in: 0...28, using: &fuzz)
                values.insert(step, for: key, cost: cost)
                if let known { list.remove(at: known) }
                guard cost <= 25 else { break }
                while list.reduce(cost, { $0 + $1.cost }) > 100 { list.removeFirst() }
                list.append((key, step, cost))
            default:
                let value = values.value(for: key)
                guard value == known.map({ list[$0].value }) else {
                    Issue.record("step \(step) with seed \(Fuzz.seed)")
                    return
                }
                if let known { list.append(list.remove(at: known)) }
            }
            let kept = Dictionary(uniqueKeysWithValues: list.map { ($0.key, $0.value) })
            guard values.cost == list.reduce(0, { $0 + $1.cost }), values.values(where: { _ in true }) == kept else {
                Issue.record("step \(step) with seed \(Fuzz.seed)")
                return
            }
        }
    }
}
