// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Sends the events of one operation to its monitors, in the order that `EventMonitor` guarantees.
///
/// Events come from the thread of the run and from the thread that cancels it. The monitors are notified of one event
/// at a time, in order, and outside of all locks.
final class EventEmitter: Sendable {
    private struct State: Sendable {
        var sequencer = EventSequencer()
        var operation: OperationEvent.Info
        var monitors: [any EventMonitor]
        var pending: [Notification] = []
        var isNotifying = false

        mutating func enqueue(_ events: [OperationEvent], for monitors: [any EventMonitor]) {
            guard !monitors.isEmpty else { return }
            for event in events {
                pending.append(Notification(event: event, operation: operation, monitors: monitors))
            }
        }

        /// Returns the next notification; `nil` if there is none, or if another thread is notifying.
        mutating func next() -> Notification? {
            guard !isNotifying, !pending.isEmpty else { return nil }
            isNotifying = true
            return pending.removeFirst()
        }
    }

    /// An event for some of the monitors.
    private struct Notification: Sendable {
        let event: OperationEvent
        let operation: OperationEvent.Info
        let monitors: [any EventMonitor]
    }

    private let state: Locked<State>

    private init(_ monitors: [any EventMonitor], operation: OperationEvent.Info) {
        state = Locked(State(operation: operation, monitors: monitors))
    }

    /// Attaches monitors to an operation, unless there are none.
    ///
    /// - Parameters:
    ///   - operation: The operation, which has just been created.
    ///   - monitors: The monitors.
    ///   - info: Creates the description of the operation for the monitors.
    static func attach(
        to operation: AnyRequestOperation,
        _ monitors: [any EventMonitor],
        as info: () -> OperationEvent.Info
    ) {
        guard !monitors.isEmpty else { return }
        let emitter = EventEmitter(monitors, operation: info())
        emitter.observe(.operationCreated)
        operation.add(emitter)
    }

    /// Returns the emitter of an operation, or attaches a new emitter that knows the current state.
    static func attach(to operation: AnyRequestOperation, as info: () -> OperationEvent.Info) -> EventEmitter {
        if let emitter = operation.observer(EventEmitter.self) { return emitter }
        let emitter = EventEmitter([], operation: info())
        let isAdded = operation.add(emitter) {
            if operation.isExecuting { emitter.observe(.operationStarted) }
            for (transfer, _) in operation.record.unsharedTransfers { transfer.add(emitter, of: operation) }
        }
        return isAdded ? emitter : operation.observer(EventEmitter.self) ?? emitter
    }

    /// Adds a monitor, which first receives events that describe the current state of the operation.
    ///
    /// These events report whether the operation has started or ended, and its running transfers.
    func add(_ monitor: any EventMonitor) {
        change { state in
            state.enqueue(state.sequencer.current, for: [monitor])
            state.monitors.append(monitor)
        }
    }

    func identify(by identifier: @escaping @Sendable () -> String, _ options: RequestOptions) {
        state.withLock { $0.operation.identify(by: identifier, options) }
    }

    /// The operation, as monitors see it.
    var operation: OperationEvent.Info { state.withLock { $0.operation } }

    private func change(_ change: (inout State) -> Void) {
        let first = state.withLock { state in
            change(&state)
            return state.next()
        }
        state.drain(
            first,
            next: { $0.next() },
            completed: { $0.isNotifying = false },
            perform: { notification in
                for monitor in notification.monitors {
                    monitor.eventOccurred(notification.event, of: notification.operation)
                }
            }
        )
    }
}

extension EventEmitter: OperationObserver {
    func observe(_ event: OperationEvent) {
        change { $0.enqueue($0.sequencer.handle(event), for: $0.monitors) }
    }
}

extension AnyRequestOperation {
    /// The events of the operation as they occur, ending with `operationEnded`.
    ///
    /// ```swift
    /// for await event in operation.events {
    ///     if case .retryScheduled(let delay, _) = event { print("once more in \(delay)") }
    /// }
    /// ```
    ///
    /// The sequence begins with `operationCreated` and the current state: whether the operation has started, and each
    /// running transfer, with its number and the head of its response. From then on, no event is omitted.
    ///
    /// The following past events aren't reported: ended transfers (which ``transfers`` contains), a scheduled retry,
    /// joining another operation's transfer, and a wait for a credential that began before the observation. To see all
    /// events, observe an operation from `makeOperation(for:)` before you add it.
    ///
    /// Each call creates a separate sequence.
    public final var events: AsyncStream<OperationEvent> {
        AsyncStream { continuation in
            addMonitor(
                .events { event, _ in
                    continuation.yield(event)
                    if case .operationEnded = event { continuation.finish() }
                }
            )
        }
    }

    /// Adds a monitor for this operation only, in addition to the environment's monitors.
    ///
    /// First, the monitor receives the current state: whether the operation has started or ended, and the running
    /// transfers with their numbers. Then it receives every event, as ``EventMonitor`` guarantees; ``events`` explains
    /// which events aren't reported. Safe to call from any thread.
    public final func addMonitor(_ monitor: any EventMonitor) {
        let emitter = EventEmitter.attach(to: self) {
            var info = OperationEvent.Info(requestType: displayType)
            if kind.sendsRequest, let makeIdentifier { info.identify(by: makeIdentifier, configuration.options) }
            return info
        }
        emitter.add(monitor)
    }
}

extension OperationEvent.Info {
    mutating func identify(by make: @escaping @Sendable () -> String, _ options: RequestOptions) {
        identify(by: make, tag: options.tag, userInfo: options.userInfo)
    }
}
