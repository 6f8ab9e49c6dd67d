// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Random graphs with all kinds of nodes.
@Suite(.bounded, .serialized) struct GraphStormTests {
    private static let server = InMemoryTransport(recordsRequests: false) { request in
        switch (Int(request.url.lastPathComponent) ?? 0) % 10 {
        case 0: .status(.notFound)
        case 1: .failure(RequestError(.connectionLost, phase: .receiving))
        default: .status(.ok, body: Data("x".utf8))
        }
    }

    /// The problems of a graph, and the number of calls of each completion.
    private struct Ledger: Sendable {
        private let completions = Locked<[Int: Int]>([:])
        private let tooEarly = Locked(0)

        func complete(_ number: Int) { completions.withLock { $0[number, default: 0] += 1 } }
        func check(_ dependencies: [Operation]) {
            if !dependencies.allSatisfy(\.isFinished) { tooEarly.withLock { $0 += 1 } }
        }

        var completed: Int { completions.withLock { $0.count } }
        var isOnceEach: Bool { completions.withLock { $0.values.allSatisfy { $0 == 1 } } }
        var isInOrder: Bool { tooEarly.withLock { $0 } == 0 }
    }

    private static func request(
        _ number: Int,
        _ life: Census.Life,
        behind dependencies: [Operation],
        _ ledger: Ledger
    ) -> TextRequest {
        TextRequest(
            identifier: "\(number)",
            life: life,
            make: { completion in
                ledger.check(dependencies)
                completion(.success(URLRequest(url: home.appending(path: "\(number)"))))
            }
        )
    }

    /// Adds a node that depends on some earlier ones, and returns it with the number of its expected completions.
    private static func add(
        _ number: Int,
        to queue: TestQueue,
        behind nodes: [RequestOperation<TextRequest>],
        _ life: Census.Life,
        _ ledger: Ledger,
        _ fuzz: inout Fuzz
    ) -> (operation: Operation, request: RequestOperation<TextRequest>?) {
        let chosen = nodes.suffix(50).shuffled(using: &fuzz).prefix(Int.random(in: 0...3, using: &fuzz))
        let causes = chosen.map { $0 as Operation }
        let categories: Set<RequestOptions.ExclusiveCategory> =
            Int.random(in: 0..<10, using: &fuzz) == 0
            ? [RequestOptions.ExclusiveCategory(Int.random(in: 0..<4, using: &fuzz))] : []
        let request = Self.request(number, life, behind: causes, ledger)
        switch Int.random(in: 0..<6, using: &fuzz) {
        case 0:
            guard let first = chosen.first else { fallthrough }
            let made = Self.request(number, life, behind: [first], ledger)
            let operation = queue.addRequest(after: first.outcome, exclusive: categories) { _ in
                made
            } completion: { _ in
                ledger.complete(number)
            }
            return (operation, operation)
        case 1:
            let members = (0..<3).map { _ in request }
            let group = queue.addGroup(
                members,
                dependencies: causes,
                failingFast: Bool.random(using: &fuzz),
                exclusive: categories
            ) { _ in ledger.complete(number) }
            return (group, nil)
        case 2:
            let group = queue.addOperationGroup(exclusive: categories) { group -> Int in
                group.addRequest(request, dependencies: causes)
                let nested = group.addGroup([request, request], dependencies: causes)
                return try await nested.value().count
            } completion: { _ in
                ledger.complete(number)
            }
            return (group, nil)
        case 3:
            let operation = BlockOperation {
                ledger.check(causes)
            }
            operation.completionBlock = { ledger.complete(number) }
            for cause in causes { operation.addDependency(cause) }
            queue.addOperation(operation, exclusive: categories)
            return (operation, nil)
        default:
            var exclusive = request
            exclusive.options.exclusivity = categories
            let operation = queue.addRequest(exclusive, dependencies: causes) { _ in ledger.complete(number) }
            return (operation, operation)
        }
    }

    private static func storm(_ count: Int, width: Int, _ fuzz: inout Fuzz) async throws {
        let (census, ledger) = (Census(), Ledger())
        do {
            let queue = TestQueue(server, width: width, isSuspended: Bool.random(using: &fuzz))
            var operations: [Operation] = []
            var requests: [RequestOperation<TextRequest>] = []
            for number in 0..<count {
                let node = add(number, to: queue, behind: requests, census.life(), ledger, &fuzz)
                operations.append(node.operation)
                if let request = node.request { requests.append(request) }
                if Int.random(in: 0..<8, using: &fuzz) == 0 {
                    operations[Int.random(in: max(0, number - 30)...number, using: &fuzz)].cancel()
                }
                if number % 97 == 0 { queue.base.isSuspended.toggle() }
            }
            queue.base.isSuspended = false
            for operation in operations { await operation.end() }
            try await eventually { ledger.completed == count && queue.operations.isEmpty }
        }
        #expect(ledger.isOnceEach && ledger.isInOrder, "seed \(Fuzz.seed)")
        await census.extinction()
    }

    @Test(arguments: [1, 8]) func nodesCompleteOnceInDependencyOrder(width: Int) async throws {
        var fuzz = Fuzz()
        try await Self.storm(Scale.pick(200, whole: 10_000), width: width, &fuzz)
    }

    @Test func manySmallGraphsComplete() async throws {
        var fuzz = Fuzz()
        for _ in 0..<Scale.races { try await Self.storm(12, width: 2, &fuzz) }
    }
}
