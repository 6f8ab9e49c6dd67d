// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The place of an operation in the lines of its categories, from the end of its dependencies until its own end.
///
/// The operation depends on the ``gate``, which opens when its turn comes. So its queue doesn't know of lines, and a
/// waiting operation takes no place in it.
final class ExclusivePlace: OperationObserver {
    /// Opens when the turn has come.
    let gate: OperationGate
    /// Joins the lines when all dependencies of the operation are finished; `nil` if they already are.
    private let approach = Locked<Operation?>(nil)
    private let ticket: Locked<Ticket>
    private let categories: Set<ExclusiveCategory>
    /// Whether an operation that has its result before its start keeps its turn until it is finished.
    private let lastsUntilEnd: Bool

    private enum Ticket: Sendable {
        case none
        case number(Int)
        case returned
    }

    /// Makes the place of an operation that isn't on a queue yet; it approaches the lines with ``approachLines(for:)``.
    init(in categories: Set<ExclusiveCategory>, behind causes: [Operation], untilEnd: Bool) {
        lastsUntilEnd = untilEnd
        let ticket = Locked(Ticket.none)
        let gate = OperationGate(behind: causes) {
            if case .number(let number) = ticket.withLock({ $0 }) { number } else { nil }
        }
        (self.gate, self.ticket, self.categories) = (gate, ticket, categories)
    }

    /// Whether the place is in the lines of all these categories.
    func covers(_ others: Set<ExclusiveCategory>) -> Bool { others.isSubset(of: categories) }

    /// Whether both places are in one line.
    func meets(_ other: ExclusivePlace) -> Bool { !categories.isDisjoint(with: other.categories) }

    // An operation that is deallocated without having run delays no other. Its gate stays closed: opening it would
    // notify the operation, which is already being deallocated.
    deinit {
        returnTicket()
        // On Linux, an operation that it was delayed behind too late would follow a pointer to it.
        if let approach = approach.withLock({ $0 }), approach.isFinished { approach.dropLinks() }
    }

    /// Joins the lines as soon as all dependencies of the operation are finished; if they already are, at once, in the
    /// order in which operations are added.
    func approachLines(for operation: Operation) {
        let causes = gate.dependencies.filter { !$0.isFinished }
        guard !causes.isEmpty else { return Self.join(categories, ticket, gate, operation) }
        let approach = BlockOperation { [categories, ticket, weak operation, weak gate] in
            guard let operation, let gate else { return }
            Self.join(categories, ticket, gate, operation)
        }
        for cause in causes { approach.addDependency(cause) }
        self.approach.withLock { $0 = approach }
        approach.runAside()
    }

    /// Delays the joining until another operation is finished, too; an operation that has joined keeps its place.
    func delay(behind operation: Operation) {
        guard operation !== gate, !gate.isFinished else { return }
        guard let approach = approach.withLock({ $0 }), !approach.isFinished else { return }
        gate.addDependency(operation)
        approach.addDependency(operation)
    }

    /// Leaves the lines, or ends the turn; a second call has no effect.
    func leave() {
        gate.open()
        returnTicket()
    }

    private func returnTicket() {
        let former = ticket.withLock { ticket in
            defer { ticket = .returned }
            return ticket
        }
        if case .number(let number) = former { Registry.shared.leave(number) }
    }

    func observe(_ step: OperationStep) {
        switch step {
        // Its turn in a line comes when all its dependencies are finished.
        case .dependencyAdded(let operation): delay(behind: operation)
        // An operation that has its result before its start has nothing left to do.
        case .settledUnstarted: if !lastsUntilEnd || !gate.isFinished { leave() }
        case .finished: leave()
        default: break
        }
    }

    private static func join(
        _ categories: Set<ExclusiveCategory>,
        _ ticket: Locked<Ticket>,
        _ gate: OperationGate,
        _ operation: Operation
    ) {
        let visitor = Registry.Visitor(operation: operation, gate: gate)
        let number = Registry.shared.register(visitor)
        let isLate = ticket.withLock { ticket in
            guard case .none = ticket else { return true }
            ticket = .number(number)
            return false
        }
        guard !isLate else { return Registry.shared.leave(number) }
        if Registry.shared.join(number, categories) { gate.open() }
    }

    /// All lines of the process.
    fileprivate final class Registry: Sendable {
        static let shared = Registry()

        /// The owner of a place; weak, as its own owners decide about its end.
        struct Visitor: Sendable {
            weak var operation: Operation?
            weak var gate: OperationGate?
        }

        private struct State {
            var table = ExclusivityTable()
            var visitors: [Int: Visitor] = [:]
            var lastNumber = 0
        }

        private let state = Locked(State())

        /// Returns a number for an operation that is about to join.
        func register(_ visitor: Visitor) -> Int {
            state.withLock { state in
                state.lastNumber += 1
                state.visitors[state.lastNumber] = visitor
                return state.lastNumber
            }
        }

        /// Joins the lines; returns whether the turn has come at once.
        func join(_ number: Int, _ categories: Set<ExclusiveCategory>) -> Bool {
            let priority = state.withLock { $0.visitors[number] }?.operation?.queuePriority ?? .normal
            return state.withLock { state in
                guard state.visitors[number] != nil else { return true }
                return state.table.join(number, categories, priority: priority.rawValue)
            }
        }

        /// Leaves the lines, and opens the gates of the operations whose turns come then.
        ///
        /// An operation is retained while its gate opens. Foundation notifies the dependents of the gate without
        /// retaining them, and this one may be cancelled and deallocated at the same moment; one that is already
        /// deallocated isn't notified.
        func leave(_ number: Int) {
            let next = state.withLock { state in
                state.visitors[number] = nil
                return state.table.leave(number).compactMap { state.visitors[$0] }
            }
            for visitor in next {
                // Outside the lock: this may release the last reference to the operation.
                guard let operation = visitor.operation else { continue }
                withExtendedLifetime(operation) { visitor.gate?.open() }
            }
        }

        /// For each waiting operation, the numbers of those directly in front of it.
        func predecessors() -> [Int: [Int]] {
            // Sorted outside the lock, in a copy: the lines may be long.
            state.withLock { $0.table }.predecessors()
        }

        /// The operations of some numbers that haven't left.
        func operations(_ numbers: [Int]) -> [Operation] {
            state.withLock { state in numbers.compactMap { state.visitors[$0]?.operation } }
        }
    }
}

/// The lines at one moment, for a search or a graph.
///
/// - Complexity: To make it, O(n log n) in the number of waiting operations; to use it, O(1).
struct ExclusiveLines {
    private let predecessors = ExclusivePlace.Registry.shared.predecessors()

    /// The operations that have to leave directly before a gate opens: one in each line, unless it has left since.
    func operations(before gate: OperationGate) -> [Operation] {
        guard let numbers = gate.ticket().flatMap({ predecessors[$0] }) else { return [] }
        return ExclusivePlace.Registry.shared.operations(numbers)
    }
}

extension Operation {
    /// Makes the operation wait for its turn in the lines of categories, where only one at a time may run.
    ///
    /// It is for an operation that isn't on a queue yet. Operations on behalf of a running one bypass the lines, as
    /// they bypass the limit of its queue: otherwise the running one would wait for itself if both are of the same
    /// category.
    ///
    /// - Parameters:
    ///   - categories: The categories in which it must be the only one; if empty, nothing is done.
    ///   - causes: The operations that must finish before it joins the lines; `nil`, the default, is all its
    ///     dependencies.
    ///   - untilEnd: Whether it keeps its turn until it is finished, also if it has its result before its start.
    final func takePlace(
        in categories: Set<ExclusiveCategory>,
        behind causes: [Operation]? = nil,
        untilEnd: Bool = false
    ) {
        guard !categories.isEmpty, !NestingContext.isNested, !isFinished else { return }
        let operation = self as? AsynchronousOperation
        // A caller's queue may pass its operations on to another one, which admits them again.
        guard operation?.observer(ExclusivePlace.self) == nil else { return }
        let place = ExclusivePlace(in: categories, behind: causes ?? dependencies, untilEnd: untilEnd)
        if let operation {
            guard operation.add(place) else { return }
            operation.addVerifiedDependency(place.gate)
        } else {
            addDependency(place.gate)
            // It ends the turn; until then it retains the place.
            let end = BlockOperation { [self] in
                place.leave()
                dropLinks()
            }
            end.addDependency(self)
            end.runAside()
            CycleWatch.shared.watch(self)
        }
        place.approachLines(for: self)
    }
}

extension AnyRequestOperation {
    /// Refuses a request whose exclusive categories its operation doesn't have.
    final func checkPlace(in categories: Set<ExclusiveCategory>) throws {
        guard scope == nil, observer(ExclusivePlace.self)?.covers(categories) != true else { return }
        let names = categories.map(\.description).sorted()
        let reason =
            "the request is exclusive, and its operation isn't: name \(names) in the call that adds it, as `exclusive:`"
        throw RequestError(.unsupported, phase: .building, reason: reason)
    }
}
