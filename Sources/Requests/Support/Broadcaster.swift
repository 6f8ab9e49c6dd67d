// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Publishes values to its observers, in order, from any thread.
///
/// A broadcaster is part of the state of a ``Locked``, whose `notifyObservers()` calls the observers. A value that is
/// replaced before the observers are notified is skipped.
struct Broadcaster<Value: Sendable>: Sendable {
    /// Receives each value and, once at the end, `nil`.
    typealias Observer = @Sendable (Value?) -> Void

    /// The observers to call, and the value to pass to them.
    struct Notification: Sendable {
        let observers: [Observer]
        let value: Value?
        /// The previous value, which is released outside the lock, because its deinitializer may call back.
        fileprivate let previous: Value?
    }

    /// The last value that was passed to the observers.
    private(set) var latest: Value?
    private(set) var isClosed = false

    private var pending: Value?
    private var observers: [(id: Int, isNew: Bool, observe: Observer)] = []
    private var nextID = 0
    private var isNotifying = false

    /// Publishes a value; returns the pending value that it replaces, so that the caller can release it outside the
    /// lock.
    @discardableResult
    mutating func publish(_ value: Value) -> Value? {
        guard !isClosed else { return nil }
        defer { pending = value }
        return pending
    }

    /// Closes the broadcaster, so that observers receive `nil` after the pending value.
    mutating func close() {
        isClosed = true
    }

    /// Adds an observer, which first receives the latest value; returns the ID for `remove(_:)`.
    mutating func add(_ observer: @escaping Observer) -> Int {
        nextID += 1
        observers.append((nextID, true, observer))
        return nextID
    }

    /// Removes the observer with the ID.
    mutating func remove(_ id: Int) {
        observers.removeAll { $0.id == id }
    }

    /// Returns the next notification; `nil` if none is pending, or if another thread is notifying the observers.
    mutating func next() -> Notification? {
        guard !isNotifying else { return nil }
        let new = observers.filter(\.isNew)
        for index in observers.indices { observers[index].isNew = false }
        let previous = latest
        if let value = pending {
            (pending, latest, isNotifying) = (nil, value, true)
            return Notification(observers: observers.map(\.observe), value: value, previous: previous)
        }
        if let latest, !new.isEmpty {
            isNotifying = true
            return Notification(observers: new.map(\.observe), value: latest, previous: previous)
        }
        guard isClosed, !observers.isEmpty else { return nil }
        defer { observers = [] }
        isNotifying = true
        return Notification(observers: observers.map(\.observe), value: nil, previous: previous)
    }

    /// Records that the observers were called for the notification from ``next()``.
    mutating func didNotify() {
        isNotifying = false
    }
}

/// A state with a broadcaster that publishes its changes.
protocol Broadcasting: Sendable {
    associatedtype Published: Sendable
    var broadcaster: Broadcaster<Published> { get set }
}

extension Locked where Value: Broadcasting {
    /// Calls the observers outside the lock, until no value is pending.
    func notifyObservers() {
        drain(
            next: { $0.broadcaster.next() },
            completed: { $0.broadcaster.didNotify() },
            perform: { notification in
                for observe in notification.observers { observe(notification.value) }
            }
        )
    }
}
