// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What changes about an operation: one struct behind one lock, for all the classes that an operation is made of.
///
/// No request type is in it, so it is of one layout, and the code that works on it needn't find out what a request is
/// made of.
struct OperationState: Sendable {
    /// A result, in a ``Box`` whose type the operation knows.
    typealias AnyResult = any AnyObject & Sendable
    /// What is done when the result is there.
    typealias Observer = @Sendable (AnyResult) -> Void

    var lifecycle = OperationLifecycle()
    var links = DependencyLinks()
    var role = OperationRole()
    private(set) var result: AnyResult?
    /// Whether the progress has been asked for.
    var hasProgress = false
    /// Whether monitors are told.
    var hasMonitors = false

    private var observers = Observers()
    /// Whether all observers have been told: until then, a new one stands behind the others.
    private var isTold = false

    /// What is called with the result, in its order.
    struct Observers: Sendable {
        // Nearly always there is one: a list would be made for it alone.
        private var first: Observer?
        private var others: [Observer] = []

        var isEmpty: Bool { first == nil }

        mutating func add(_ observer: @escaping Observer) {
            if first == nil { first = observer } else { others.append(observer) }
        }

        func tell(_ result: AnyResult) {
            first?(result)
            for observer in others { observer(result) }
        }
    }

    /// What comes at the end of a delivery.
    enum Ending: Sendable {
        /// Others have come in the meantime, and are told too.
        case tell(Observers)
        /// All has been done that the settlement asks for.
        case over(OperationLifecycle.Action)
    }

    /// Whether an operation without a result owes one to an observer.
    var isOwing: Bool { result == nil && !observers.isEmpty }

    /// Adds an observer; gives the result if that is to be told at once.
    mutating func add(_ observer: @escaping Observer) -> AnyResult? {
        if !isTold { observers.add(observer) }
        return isTold ? result : nil
    }

    /// Keeps the result, which is the first, and gives the observers that are to be told.
    mutating func settle(with result: AnyResult?) -> (settled: SettledOperation, observers: Observers) {
        self.result = result
        let settled = SettledOperation(
            sharing: role.endSharing(),
            gate: role.open(),
            hasOpenTransfers: lifecycle.hasOpenTransfers,
            hasProgress: hasProgress,
            hasMonitors: hasMonitors
        )
        return (settled, takeObservers())
    }

    /// Records that the delivery is over, unless an observer is still to be told.
    mutating func endDelivery() -> Ending {
        guard observers.isEmpty else { return .tell(takeObservers()) }
        isTold = true
        return .over(lifecycle.handle(.delivered))
    }

    /// Gives what there is to release, if the operation is deallocated without a result.
    mutating func abandon() -> SettledOperation? {
        guard result == nil else { return nil }
        return SettledOperation(sharing: role.endSharing(), gate: role.open())
    }

    private mutating func takeObservers() -> Observers {
        defer { observers = Observers() }
        return observers
    }
}

/// What there is to release when an operation has its result.
struct SettledOperation: Sendable {
    let sharing: OperationRole.Sharing
    let gate: OperationRole.Gate
    var hasOpenTransfers = false
    var hasProgress = false
    var hasMonitors = false

    /// Releases it.
    func release() {
        if case .seat(let seat) = sharing { seat.leave() }
        if case .waiting(let task) = gate { task.resume(returning: nil) }
    }
}

/// An operation whose work is a task.
protocol TaskOperation: AnyObject, Sendable {
    func run() async
}

/// How a ``NetworkOperation`` starts, and what it shares.
struct OperationRole: Sendable {
    /// What lets the operation share transfers.
    enum Sharing: Sendable {
        /// Nothing.
        case none
        /// A seat that is taken when it starts, if it is asked to share, or if the request asks for it.
        case atStart(QueueIdentity, isAsked: Bool)
        /// A seat.
        case seat(CoalescingSeat)
    }

    /// What waits for the start.
    enum Gate: Sendable {
        /// Nothing: the start makes the task.
        case closed
        /// A task that is made already, and is about to wait.
        case awaited
        /// A task that waits for its operation; it gets none if there is a result before the start.
        case waiting(UnsafeContinuation<(any TaskOperation)?, Never>)
        /// Nothing: the start was there before the task that was to wait.
        case passed(any TaskOperation)
        /// Nothing any more.
        case open
    }

    /// What the request and its environment say about the call.
    var plan: CallPlan?
    /// Whether the thread that starts the operation is a caller's, and is left at once.
    var startsElsewhere = false
    var sharing = Sharing.none
    private var gate = Gate.closed

    /// Records that a task is made before the start.
    mutating func awaitStart() {
        if case .closed = gate { gate = .awaited }
    }

    /// Has a task wait for the start; false if that has come, or a result, with what the task gets.
    mutating func wait(
        _ task: UnsafeContinuation<(any TaskOperation)?, Never>
    ) -> (waits: Bool, operation: (any TaskOperation)?) {
        switch gate {
        case .closed, .awaited, .waiting:
            gate = .waiting(task)
            return (true, nil)
        case .passed(let operation):
            gate = .open
            return (false, operation)
        case .open: return (false, nil)
        }
    }

    /// Opens the gate for an operation that starts, or for none, and returns what has waited.
    mutating func open(for operation: (any TaskOperation)? = nil) -> Gate {
        let former = gate
        if case .awaited = former, let operation { gate = .passed(operation) } else { gate = .open }
        return former
    }

    /// Ends the sharing, and returns what was shared.
    mutating func endSharing() -> Sharing {
        defer { sharing = .none }
        return sharing
    }
}

/// What tells the requests of one queue from all others.
struct QueueIdentity: Sendable {
    let queue: any AnyObject & Sendable
    /// Whether it is that of a client, all of whose environments are known.
    let isClient: Bool
}
