// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Publishes the latest of several values to its observers, in order, from any thread.
///
/// A broadcaster is a part of the state of a ``Locked``, whose `notifyObservers()` calls the observers. A value that is
/// replaced before it was reported is skipped.
struct Broadcaster<Value: Sendable>: Sendable {
    /// Receives each value; `nil`, once, at the end.
    typealias Observer = @Sendable (Value?) -> Void

    /// A call of observers.
    struct Notification: Sendable {
        let observers: [Observer]
        let value: Value?
        /// The value before, which is released outside of the lock, because its deinitializer may call back.
        fileprivate let previous: Value?
    }

    /// The last value that was reported to all observers at that time.
    private(set) var latest: Value?
    /// Whether the broadcaster is closed.
    private(set) var isClosed = false

    private var pending: Value?
    private var observers: [(id: Int, isNew: Bool, observe: Observer)] = []
    private var nextID = 0
    private var isNotifying = false

    /// Publishes a value, and returns the one that is skipped for it, to be released outside of the lock.
    @discardableResult
    mutating func publish(_ value: Value) -> Value? {
        guard !isClosed else { return nil }
        defer { pending = value }
        return pending
    }

    /// Ends the values, after the pending one.
    mutating func close() {
        isClosed = true
    }

    /// Adds an observer, which first receives the latest value; returns the number with which it is removed.
    mutating func add(_ observer: @escaping Observer) -> Int {
        nextID += 1
        observers.append((nextID, true, observer))
        return nextID
    }

    /// Removes an observer.
    mutating func remove(_ id: Int) {
        observers.removeAll { $0.id == id }
    }

    /// Returns the next notification; `nil` if none is due, or if another thread is notifying.
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

    /// Records that the notification of ``next()`` was performed.
    mutating func didNotify() {
        isNotifying = false
    }
}

/// A state that publishes its changes.
protocol Broadcasting: Sendable {
    associatedtype Published: Sendable
    var broadcaster: Broadcaster<Published> { get set }
}

extension Locked where Value: Broadcasting {
    /// Calls the observers, outside of the lock, until no value is pending.
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
