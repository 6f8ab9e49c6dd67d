// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch

/// Lets only so many transfers to one origin be under way at a time: one slow server then doesn't take up everything.
///
/// ```swift
/// let limiter = HostLimiter(limit: 6)
/// ```
///
/// An origin is scheme, host and port (RFC 6454). Requests that find theirs full wait; the next one in is the one whose
/// operation has the highest priority when there is room, and among equals the one that has waited longest. In a line
/// of more than a hundred, a priority that is raised may count only after a few turns more.
///
/// A transfer has its room until it ends, and a redirect asks for room at the origin that it leads to. An operation that
/// waits keeps its place in its queue.
///
/// It is shared by reference: all that are given the same limiter are limited together.
public final class HostLimiter: Sendable {
    private struct State {
        var slots: HostSlots
        var waiters = Waiters()

        mutating func handle(_ input: HostSlots.Input, at origin: Origin) -> Effect {
            switch slots.handle(input, at: origin) {
            case .ask(let ids): .ask(waiters.find(ids))
            case .grant(let ids): .grant(ids.compactMap { waiters.remove($0) })
            case .none: if case .left(let id) = input { .letGo(waiters.remove(id)) } else { .letGo(nil) }
            }
        }
    }

    /// What to do when the lock is free again.
    private enum Effect: Sendable {
        case ask([Int: Waiter])
        case grant([Waiter])
        case letGo(Waiter?)
    }

    private let state: Locked<State>

    /// Makes a limiter.
    ///
    /// - Parameter limit: How many transfers to one origin may be under way; at least 1.
    public init(limit: Int) {
        state = Locked(State(slots: HostSlots(limit: limit)))
    }

    /// Waits until there is room at an origin.
    ///
    /// - Parameters:
    ///   - origin: Where to.
    ///   - priority: Tells how urgent it is, whenever the limiter wants to know; higher goes first.
    ///   - granted: Called once, now or later, on any thread, when there is room. Who was called owes a
    ///     ``leave(_:)``.
    /// - Returns: What takes the wish back. It takes back no room: where both come at once, `granted` may be called
    ///   although the wish seems to have been taken back, and `leave` is owed.
    func enter(
        _ origin: Origin,
        priority: @escaping @Sendable () -> Int,
        granted: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let initial = priority()
        let waiter = Waiter(priority: priority, granted: granted)
        let id = state.withLock { $0.waiters.add(waiter) }
        handle(.arrived(id, priority: initial), at: origin)
        return { self.handle(.left(id), at: origin) }
    }

    /// Makes room at an origin; to be called once for each that was let in.
    func leave(_ origin: Origin) {
        handle(.freed, at: origin)
    }

    private func handle(_ input: HostSlots.Input, at origin: Origin) {
        switch state.withLock({ $0.handle(input, at: origin) }) {
        case .ask(let waiters):
            handle(.answered(waiters.mapValues { $0.priority() }), at: origin)
        case .grant(let waiters):
            if case .arrived = input {
                for waiter in waiters { waiter.granted() }
            } else {
                // Not from here: a transfer that is over before `granted` returns lets the next one in, and a long
                // line of those would overflow the stack.
                for waiter in waiters { DispatchQueue.global(qos: .utility).async(execute: waiter.granted) }
            }
        case .letGo:
            break
        }
    }
}
