// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Random graphs of requests, groups, other operations, categories and queues; many of them have cycles.
///
/// `REQUESTS_GRAPHS` sets their number, and `REQUESTS_FUZZ_SEED` the seed of the first graph. Seeds are consecutive.
@Suite(.bounded) struct RandomGraphStormTests {
    private static let count =
        ProcessInfo.processInfo.environment["REQUESTS_GRAPHS"].flatMap(Int.init) ?? Scale.pick(40, whole: 1_000)
    /// The number of graphs that run at the same time.
    private static let width = 50

    @Test func randomGraphsCompleteExactlyOnce() async {
        for start in stride(from: 0, to: Self.count, by: Self.width) {
            let numbers = start..<min(start + Self.width, Self.count)
            let graphs = numbers.map { RandomGraph(seed: Fuzz.seed &+ UInt64($0)) }
            await holds(within: Scale.pick(20, whole: 200)) { graphs.allSatisfy(\.isOver) }
            for graph in graphs where !graph.isRight {
                Issue.record("\(graph)")
                // On Linux, releasing an operation that others depend on crashes the process.
                withExtendedLifetime(Unmanaged.passRetained(graph)) {}
            }
        }
    }
}

/// Waits until a condition is true or a number of seconds has passed, and returns whether the condition is true.
@discardableResult
func holds(within seconds: Double, _ condition: () -> Bool) async -> Bool {
    let limit = ContinuousClock.now + .seconds(seconds)
    while !condition(), ContinuousClock.now < limit { try? await Task.sleep(for: .milliseconds(5)) }
    return condition()
}

/// A random graph that is reproducible from its seed.
///
/// Each cycle contains an operation of the library, which can fail. No cycle has only plain operations.
private final class RandomGraph: CustomStringConvertible {
    private static let transport = InMemoryTransport(recordsRequests: false) { request in
        request.url.lastPathComponent.hasSuffix("7") ? .status(.notFound) : .status(.ok, body: Data("x".utf8))
    }

    /// An operation without a result.
    private final class Step: AsynchronousOperation, @unchecked Sendable {
        override func execute() { finish() }
    }

    private let seed: UInt64
    private let ledger = Ledger()
    private let plain = OperationQueue()
    private var clients: [HTTPClient?] = []
    private var operations: [(name: String, operation: Operation)] = []
    private var groups: [any RequestQueue] = []
    private var random: Fuzz
    private var categories: [RequestOptions.ExclusiveCategory] { (0..<3).map { "\(seed) \($0)" } }

    init(seed: UInt64) {
        (self.seed, random) = (seed, Fuzz(seed: seed))
        for _ in 0..<2 {
            let width = Int.random(in: 1...4, using: &random)
            let client = HTTPClient(maxConcurrentRequests: width, transport: Self.transport)
            client.isSuspended = Int.random(in: 0..<3, using: &random) == 0
            clients.append(client)
        }
        for number in 0..<Int.random(in: 3...16, using: &random) { add("\(seed)-\(number)") }
        for _ in 0..<Int.random(in: 0...4, using: &random) { link() }
        for (name, operation) in operations where Int.random(in: 0..<12, using: &random) == 0 {
            ledger.note("cancel \(name)")
            operation.cancel()
        }
        for index in clients.indices {
            if Bool.random(using: &random) {
                ledger.note("release client \(index), suspended: \(clients[index]?.isSuspended as Any)")
                clients[index] = nil
            } else {
                clients[index]?.isSuspended = false
            }
        }
    }

    // On Linux, a dependency follows pointers to cancelled plain operations at its end.
    deinit {
        for case (_, let operation as BlockOperation) in operations {
            for dependency in operation.dependencies { operation.removeDependency(dependency) }
        }
    }

    /// Whether all operations and completions added so far have ended.
    var isOver: Bool { operations.allSatisfy { $0.operation.isFinished } && ledger.isOver }
    /// Whether the graph is over and each completion was called once.
    var isRight: Bool { isOver && ledger.isRight }

    // MARK: Construction

    private func add(_ name: String) {
        let client = clients[Int.random(in: 0...1, using: &random)] ?? .shared
        let (causes, exclusive) = (causes(), random.categories(of: categories))
        let (priority, isFast) = (random.priority(), Bool.random(using: &random))
        let kind = Int.random(in: 0..<10, using: &random)
        ledger.note("add \(name), kind \(kind), in \(exclusive) after \(causes.map(\.name))")
        let dependencies = causes.map(\.operation)
        let behind = causes.compactMap { $0.operation as? RequestOperation<TextRequest> }.first
        let operation: Operation
        switch kind {
        case 0, 1:
            operation = client.addRequest(
                TextRequest(name, exclusive),
                dependencies: dependencies,
                priority: priority,
                completion: ledger.completion(name)
            )
        case 2:
            let request = client.makeOperation(for: TextRequest(name, exclusive), completion: ledger.completion(name))
            place(request, behind: dependencies, client, [])
            operation = request
        case 3:
            operation = Step()
            place(operation, behind: dependencies, client, exclusive)
        case 4:
            operation = BlockOperation {}
            place(operation, behind: dependencies, client, exclusive)
        case 5:
            let own = random.categories(of: categories)
            let group = client.addGroup(
                (0..<3).map { TextRequest("\(name)-\($0)", own) },
                dependencies: dependencies,
                priority: priority,
                failingFast: isFast,
                exclusive: exclusive,
                completion: ledger.completion(name)
            )
            groups.append(group)
            operation = group
        case 6:
            operation = client.addRequests(
                TextRequest(name + "a", exclusive),
                TextRequest(name + "b"),
                dependencies: dependencies,
                completion: { [done = ledger.completion(name, of: Void.self)] _, _ in done(()) }
            )
        case 7:
            guard let behind else { fallthrough }
            let group = client.addGroup(after: behind.outcome, failingFast: isFast, exclusive: exclusive) { _ in
                (0..<2).map { TextRequest("\(name)-\($0)") }
            } completion: { [done = ledger.completion(name, of: Void.self)] _ in
                done(())
            }
            groups.append(group)
            operation = group
        default:
            let growth = Growth(name, behind: dependencies, categories, ledger, random.next())
            let done = ledger.completion(name, of: Void.self)
            let group: OperationGroup<Int> =
                if let behind {
                    client.addOperationGroup(after: behind, failingFast: isFast, exclusive: exclusive) { group, _ in
                        try await growth.grow(group)
                    } completion: { _ in
                        done(())
                    }
                } else {
                    client.addOperationGroup(failingFast: isFast, exclusive: exclusive) { group in
                        try await growth.grow(group)
                    } completion: { _ in
                        done(())
                    }
                }
            groups.append(group)
            operation = group
        }
        operations.append((name, operation))
    }

    /// Adds an operation to a queue, or to a group from outside.
    private func place(
        _ operation: Operation,
        behind dependencies: [Operation],
        _ client: HTTPClient,
        _ exclusive: Set<RequestOptions.ExclusiveCategory>
    ) {
        for dependency in dependencies { operation.addDependency(dependency) }
        let group = groups.randomElement(using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: plain.addOperation(operation, exclusive: exclusive)
        case 1, 2: (group ?? client).addOperation(operation, exclusive: exclusive)
        default: client.addOperation(operation, exclusive: exclusive)
        }
        ledger.note("place it in \(group == nil ? "a queue" : "a group, perhaps")")
    }

    private func causes() -> [(name: String, operation: Operation)] {
        (0..<2).compactMap { _ in
            Bool.random(using: &random) ? operations.suffix(6).randomElement(using: &random) : nil
        }
    }

    /// Makes an operation depend on a later one, which may close a cycle.
    private func link() {
        guard let (first, second) = pair(),
            first.operation is AsynchronousOperation || second.operation is AsynchronousOperation
        else { return }
        ledger.note("\(first.name) depends on \(second.name)")
        first.operation.addDependency(second.operation)
    }

    private func pair() -> ((name: String, operation: Operation), (name: String, operation: Operation))? {
        let (first, second) = (0..<operations.count, 0..<operations.count)
        guard let one = first.randomElement(using: &random), let other = second.randomElement(using: &random) else {
            return nil
        }
        return (operations[min(one, other)], operations[max(one, other)])
    }

    // MARK: Display

    var description: String {
        let states = operations.filter { !$0.operation.isFinished }.map { name, operation in
            "\(name) \(operation): ready \(operation.isReady), executing \(operation.isExecuting)"
        }
        let drawings = clients.compactMap { $0?.graph().description } + [plain.graph().description]
        return """
            The graph of seed \(seed) is wrong.
            \(ledger)
            unfinished: \(states.joined(separator: "\n"))
            \(drawings.joined(separator: "\n"))
            """
    }
}

/// The members that the closure of a group adds.
private struct Growth: Sendable {
    private let name: String
    private let outer: [Operation]
    private let categories: [RequestOptions.ExclusiveCategory]
    private let ledger: Ledger
    private let seed: UInt64

    init(
        _ name: String,
        behind outer: [Operation],
        _ categories: [RequestOptions.ExclusiveCategory],
        _ ledger: Ledger,
        _ seed: UInt64
    ) {
        (self.name, self.outer, self.categories, self.ledger, self.seed) = (name, outer, categories, ledger, seed)
    }

    func grow(_ group: any RequestQueue, depth: Int = 0) async throws -> Int {
        var random = Fuzz(seed: seed &+ UInt64(depth))
        for number in 0..<Int.random(in: 0...4, using: &random) {
            let (name, exclusive) = ("\(name).\(depth).\(number)", random.categories(of: categories))
            let causes = Bool.random(using: &random) ? outer : []
            let kind = Int.random(in: 0..<6, using: &random)
            ledger.note("grow \(name), kind \(kind), in \(exclusive) after \(causes.count)")
            switch kind {
            case 0, 1:
                group.addRequest(
                    TextRequest(name, exclusive),
                    dependencies: causes,
                    completion: ledger.completion(name)
                )
            case 2: _ = try? await group.fetch(TextRequest(name, exclusive))
            case 3:
                let block = BlockOperation {}
                for cause in causes { block.addDependency(cause) }
                group.addOperation(block, exclusive: exclusive)
            case 4 where depth < 2:
                let inner = Growth(name, behind: outer, categories, ledger, random.next())
                let done = ledger.completion(name, of: Void.self)
                group.addOperationGroup(exclusive: exclusive) { group in
                    try await inner.grow(group, depth: depth + 1)
                } completion: { _ in
                    done(())
                }
            default:
                group.addGroup(
                    [TextRequest(name, exclusive), TextRequest(name)],
                    dependencies: causes,
                    completion: ledger.completion(name)
                )
            }
        }
        if Int.random(in: 0..<6, using: &random) == 0 { throw SampleError() }
        return 1
    }
}

/// The completions of a graph, and its history.
private final class Ledger: Sendable, CustomStringConvertible {
    private struct State {
        var calls: [String: Int] = [:]
        var lines: [String] = []
    }

    private let state = Locked(State())

    /// Whether every completion was called.
    var isOver: Bool { state.withLock { $0.calls.values.allSatisfy { $0 > 0 } } }
    /// Whether every completion was called once.
    var isRight: Bool { state.withLock { $0.calls.values.allSatisfy { $0 == 1 } } }

    func note(_ line: String) { state.withLock { $0.lines.append(line) } }

    /// Returns a completion that must be called once.
    func completion<Value>(_ name: String, of type: Value.Type = Value.self) -> @Sendable (Value) -> Void {
        state.withLock { $0.calls[name] = 0 }
        return { _ in self.state.withLock { $0.calls[name, default: 0] += 1 } }
    }

    var description: String {
        let (lines, wrong) = state.withLock { state in (state.lines, state.calls.filter { $0.value != 1 }) }
        return lines.joined(separator: "\n") + "\ncompletions not called once: \(wrong)"
    }
}

extension Fuzz {
    fileprivate mutating func categories(
        of all: [RequestOptions.ExclusiveCategory]
    ) -> Set<RequestOptions.ExclusiveCategory> {
        guard Int.random(in: 0..<3, using: &self) == 0 else { return [] }
        return Set((0..<2).compactMap { _ in all.randomElement(using: &self) })
    }

    fileprivate mutating func priority() -> Operation.QueuePriority? {
        [nil, .low, .high].randomElement(using: &self) ?? nil
    }
}

extension TextRequest {
    fileprivate init(_ name: String, _ exclusive: Set<RequestOptions.ExclusiveCategory> = []) {
        var options = RequestOptions()
        options.exclusivity = exclusive
        self.init(identifier: name, options: options)
        make = { $0(.success(URLRequest(url: home.appending(path: name)))) }
    }
}
