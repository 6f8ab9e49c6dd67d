// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

/// The table without threads, for any inputs in any order.
@Suite(.bounded) struct ExclusivityTableTests {
    @Test func categoriesAreExclusiveAndAllAreAdmitted() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 100) {
            var table = ExclusivityTable()
            var wanted: [Int: Set<RequestOptions.ExclusiveCategory>] = [:]
            var holding: Set<Int> = []
            var (faults, last) = (0, 0)
            func check() {
                let held = holding.flatMap { wanted[$0] ?? [] }
                // An operation whose turn hasn't come has others in front of it.
                let waiting = Set(table.predecessors().keys)
                if Set(held).count != held.count || waiting != Set(wanted.keys).subtracting(holding) { faults += 1 }
            }
            for _ in 0..<30 {
                if Bool.random(using: &fuzz) {
                    last += 1
                    let numbers = (0..<3).filter { _ in Bool.random(using: &fuzz) }
                    let categories = Set(numbers.map { RequestOptions.ExclusiveCategory($0) })
                    guard !categories.isEmpty else { continue }
                    wanted[last] = categories
                    let priority = Int.random(in: -1...1, using: &fuzz)
                    if table.enqueue(last, categories, priority: priority) { holding.insert(last) }
                } else if let id = wanted.keys.sorted().randomElement(using: &fuzz) {
                    wanted[id] = nil
                    holding.remove(id)
                    holding.formUnion(table.leave(id))
                }
                check()
            }
            while let id = holding.min() {
                wanted[id] = nil
                holding.remove(id)
                holding.formUnion(table.leave(id))
                check()
            }
            #expect(faults == 0 && wanted.isEmpty && table.isEmpty, "seed \(Fuzz.seed)")
        }
    }
}
