// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct DependencyCycleTests {
    private let queue = TestQueue()

    private func make(_ count: Int) -> [DataOperation<TextRequest>] {
        (0..<count).map { queue.makeOperation(for: TextRequest(identifier: "\($0)")) }
    }

    @Test(arguments: [1, 2, 3, 10]) func dependencyCycleIsRejected(count: Int) async {
        let operations = make(count)

        for index in 0..<count { operations[index].addDependency(operations[(index + 1) % count]) }

        #expect(operations.map(\.result?.error?.code) == Array(repeating: nil, count: count - 1) + [.dependencyCycle])
        for operation in operations { queue.addOperation(operation) }
        for operation in operations { await operation.end() }
        #expect(operations.dropLast().allSatisfy { $0.result?.value == "hello" })
    }

    @Test func cycleThroughPlainOperationIsRejected() async {
        let operation = make(1)[0]
        let plain = BlockOperation {}
        plain.addDependency(operation)

        operation.addDependency(plain)

        #expect(operation.result?.error?.code == .dependencyCycle)
        for operation in [operation, plain] { queue.addOperation(operation) }
        await plain.end()
    }

    @Test func diamondDependenciesAreAllowed() async {
        let operations = make(4)
        operations[1].addDependency(operations[0])
        operations[2].addDependency(operations[0])
        operations[3].addDependency(operations[1])
        operations[3].addDependency(operations[2])
        operations[3].addDependency(operations[0])
        operations[3].addDependency(operations[0])

        for operation in operations { queue.addOperation(operation) }
        for operation in operations { await operation.end() }

        #expect(operations.allSatisfy { $0.result?.value == "hello" })
    }

    // At full scale, quadratic work would take minutes, and a recursion would overflow the stack.
    @Test(arguments: [false, true]) func longChainIsCheckedInLinearTime(isReversed: Bool) {
        let count = Scale.pick(10_000, whole: 100_000)
        let operations = (0..<count).map { _ in AsynchronousOperation() }
        let links = Array(zip(operations.dropFirst(), operations))

        for (operation, dependency) in isReversed ? links.reversed() : links { operation.addDependency(dependency) }
        operations[0].addDependency(operations[count - 1])

        // The cycle was rejected, but the chain wasn't.
        #expect(operations[0].dependencies.isEmpty && operations[1].dependencies.count == 1)
        #expect(operations.allSatisfy { !$0.isFinished })
        for (operation, dependency) in links.reversed() { operation.removeDependency(dependency) }
    }
}
