// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct WaitingLineTests {
    private func turns(of line: WaitQueue) -> [Int] {
        var line = line
        var turns: [Int] = []
        while let next = line.popFirst() { turns.append(next) }
        return turns
    }

    private func line(_ priorities: [Int]) -> WaitQueue {
        var line = WaitQueue()
        for (id, priority) in priorities.enumerated() { line.add(id, priority: priority) }
        return line
    }

    @Test(arguments: [
        ([], []), ([5], [0]), ([0, 0, 0], [0, 1, 2]), ([0, 4, 8], [2, 1, 0]), ([0, 8, 0, 8, -4], [1, 3, 0, 2, 4]),
        ([.min, .max], [1, 0]),
    ])
    func grantsByPriorityThenAge(priorities: [Int], turns: [Int]) {
        #expect(self.turns(of: line(priorities)) == turns)
    }

    @Test func cancelledWaiterIsNotGranted() {
        var line = line([1, 2, 3])

        let isRemoved = [2, 2, 7].map { line.remove($0) }

        #expect(isRemoved == [true, false, false])
        #expect(line.count == 2 && turns(of: line) == [1, 0])
    }

    @Test func updateReordersAndPreservesEqualPriorities() {
        var line = line([0, 0, 0, 0])

        line.remove(1)
        line.update([0: 0, 1: 9, 2: 0, 3: 5])
        line.add(4, priority: 5)

        #expect(turns(of: line) == [3, 4, 0, 2])
    }

    @Test func longQueueRefreshesPrioritiesLessOften() {
        var line = line(Array(repeating: 0, count: 640))
        var questions = 0
        var asked: [Int] = []

        while !line.isEmpty {
            if line.needsRefresh {
                questions += line.count
                asked.append(line.count)
                line.update([:])
            }
            _ = line.popFirst()
        }

        #expect(asked.prefix(3) == [640, 630, 621])
        #expect(asked.suffix(5) == [6, 5, 4, 3, 2])
        #expect(questions <= 70 * 640)
    }

    @Test func singleWaiterNeedsNoRefresh() {
        #expect(!line([]).needsRefresh && !line([3]).needsRefresh && line([3, 3]).needsRefresh)
    }

    @Test func requireRefreshForcesRefresh() {
        var line = line(Array(repeating: 0, count: 1000))
        line.update([:])
        #expect(!line.needsRefresh)

        line.requireRefresh()

        #expect(line.needsRefresh)
    }
}

@Suite(.bounded) struct WaitingLineFuzzTests {
    @Test func matchesSortedListModel() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 1000) {
            var line = WaitQueue()
            var model: [(id: Int, priority: Int)] = []
            for id in 0..<300 {
                switch Int.random(in: 0..<8, using: &fuzz) {
                case 0...3:
                    let priority = Int.random(in: -2...2, using: &fuzz)
                    line.add(id, priority: priority)
                    model.append((id, priority))
                case 4, 5:
                    guard let index = model.indices.randomElement(using: &fuzz) else { continue }
                    line.remove(model.remove(at: index).id)
                case 6:
                    for index in model.indices { model[index].priority = Int.random(in: -2...2, using: &fuzz) }
                    line.update(Dictionary(uniqueKeysWithValues: model.map { ($0.id, $0.priority) }))
                default:
                    let best = model.indices.max {
                        (model[$0].priority, -model[$0].id) < (model[$1].priority, -model[$1].id)
                    }
                    #expect(line.popFirst() == best.map { model.remove(at: $0).id }, "seed \(Fuzz.seed)")
                }
                #expect(line.count == model.count && Set(line.ids) == Set(model.map(\.id)))
            }
        }
    }
}
