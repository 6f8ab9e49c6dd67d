// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The variables of an operation: one struct behind one lock, for all classes of the operation's hierarchy.
///
/// It doesn't depend on the request's type, so it has a single layout, and its code needs no generic metadata.
struct OperationState: Sendable {
    /// A result, in a ``Box`` whose type the operation knows.
    typealias AnyResult = any AnyObject & Sendable
    /// A closure that is called with the result.
    typealias Observer = @Sendable (AnyResult) -> Void

    var lifecycle = OperationLifecycle()
    var links = DependencyLinks()
    var role = OperationRole()
    private(set) var result: AnyResult?
    /// Whether the progress is observed.
    var hasProgress = false
    /// Whether there are monitors.
    var hasMonitors = false

    private var observers = Observers()
    /// Whether all observers have been notified: until then, a new one is added behind the others.
    private var isTold = false

    /// The closures to call with the result, in their order.
    struct Observers: Sendable {
        // There is nearly always one, for which a list would be wasteful.
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

    /// The end of a delivery.
    enum Ending: Sendable {
        /// More observers have come in the meantime, and are notified too.
        case tell(Observers)
        /// Everything that the settlement requires has been done; the operation may still have to be started.
        case over(OperationLifecycle.Action, awaitsStart: Bool)
    }

    /// Whether an operation without a result has observers to notify.
    var isOwing: Bool { result == nil && !observers.isEmpty }

    /// Adds an observer; returns the result if it is to be notified at once.
    mutating func add(_ observer: @escaping Observer) -> AnyResult? {
        if !isTold { observers.add(observer) }
        return isTold ? result : nil
    }

    /// Stores the result, which is the first, and returns the observers to notify.
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

    /// Records that the delivery is over, unless an observer is still to be notified.
    mutating func endDelivery() -> Ending {
        guard observers.isEmpty else { return .tell(takeObservers()) }
        isTold = true
        let action = lifecycle.handle(.delivered)
        return .over(action, awaitsStart: lifecycle.state == .settled(.start))
    }

    /// Returns the references to release, if the operation is deallocated without a result.
    mutating func abandon() -> SettledOperation? {
        guard result == nil else { return nil }
        return SettledOperation(sharing: role.endSharing(), gate: role.open())
    }

    private mutating func takeObservers() -> Observers {
        defer { observers = Observers() }
        return observers
    }
}

/// The references to release when an operation has its result.
struct SettledOperation: Sendable {
    let sharing: OperationRole.Sharing
    let gate: OperationRole.Gate
    var hasOpenTransfers = false
    var hasProgress = false
    var hasMonitors = false

    /// Releases them.
    func release() {
        if case .seat(let seat) = sharing { seat.leave() }
        if case .waiting(let task) = gate { task.resume(returning: nil) }
    }
}

/// An operation whose work is a task.
protocol TaskOperation: AsynchronousOperation {
    /// Makes the task now, with the task-locals of the present task; it waits for the start.
    func prepareTask()
    func run() async
}

/// The start of a ``NetworkOperation``, and its sharing.
struct OperationRole: Sendable {
    /// The sharing of transfers.
    enum Sharing: Sendable {
        /// No sharing.
        case none
        /// A seat that is taken when it starts, if it is asked to share, or if the request asks for it.
        case atStart(QueueIdentity, isAsked: Bool)
        /// A seat.
        case seat(CoalescingSeat)
    }

    /// The task that waits for the start.
    enum Gate: Sendable {
        /// None: the start makes the task.
        case closed
        /// A task that is already made, and is about to wait.
        case awaited
        /// A task that waits for its operation; it gets none if there is a result before the start.
        case waiting(UnsafeContinuation<(any TaskOperation)?, Never>)
        /// None: the start came before the task could wait.
        case passed(any TaskOperation)
        /// None any more.
        case open
    }

    /// The plan of the call, from the request and its environment.
    var plan: CallPlan?
    /// Whether the thread that starts the operation is a caller's, and is left at once.
    var startsElsewhere = false
    var sharing = Sharing.none
    private var gate = Gate.closed

    /// Records that a task is made before the start.
    mutating func awaitStart() {
        if case .closed = gate { gate = .awaited }
    }

    /// Makes a task wait for the start; returns `false`, with the operation for the task, if the start or a result has
    /// come.
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

    /// Opens the gate for an operation that starts, or for none, and returns the former gate.
    mutating func open(for operation: (any TaskOperation)? = nil) -> Gate {
        let former = gate
        if case .awaited = former, let operation { gate = .passed(operation) } else { gate = .open }
        return former
    }

    /// Ends the sharing, and returns it.
    mutating func endSharing() -> Sharing {
        defer { sharing = .none }
        return sharing
    }
}

/// The identity that separates the requests of one queue from all others.
struct QueueIdentity: Sendable {
    let queue: any AnyObject & Sendable
    /// Whether it is that of a client, all of whose environments are known.
    let isClient: Bool
}
