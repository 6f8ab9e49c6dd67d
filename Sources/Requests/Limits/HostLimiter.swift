// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

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

/// The logic of a ``HostLimiter``: for each origin, how many are in, and who waits to come in.
///
/// Nobody waits at an origin that has room, except while the priorities are being asked for. Of origins that nobody is
/// at or waits at, nothing is kept.
struct HostSlots: Sendable {
    enum Input: Sendable, Hashable {
        /// Somebody new wants to come in.
        case arrived(Int, priority: Int)
        /// Somebody no longer wants to.
        case left(Int)
        /// These are the priorities that were asked for.
        case answered([Int: Int])
        /// Somebody who was in has gone.
        case freed
    }

    enum Action: Sendable, Hashable {
        /// Nothing.
        case none
        /// Ask these for their priorities, then say `answered`.
        case ask([Int])
        /// Tell these, in this order, that they are in.
        case grant([Int])
    }

    private struct Host: Sendable {
        var occupied = 0
        var line = WaitingLine()
        var isAsking = false
    }

    private let limit: Int
    private var hosts: [Origin: Host] = [:]

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// How many origins somebody is at or waits at.
    var count: Int { hosts.count }

    /// Moves on, and says what to do.
    mutating func handle(_ input: Input, at origin: Origin) -> Action {
        var host = hosts.removeValue(forKey: origin) ?? Host()
        let action = handle(input, at: &host)
        if host.occupied > 0 || !host.line.isEmpty || host.isAsking { hosts[origin] = host }
        return action
    }

    private func handle(_ input: Input, at host: inout Host) -> Action {
        switch input {
        case .arrived(let id, let priority):
            host.line.add(id, priority: priority)
        case .left(let id):
            host.line.remove(id)
            return .none
        case .answered(let priorities):
            host.isAsking = false
            host.line.update(priorities)
            return grant(at: &host)
        case .freed:
            host.occupied = max(0, host.occupied - 1)
        }
        guard !host.isAsking, host.occupied < limit else { return .none }
        // Who comes in is a question only where there is too little room.
        guard host.line.isCurious, host.line.count > limit - host.occupied else { return grant(at: &host) }
        host.isAsking = true
        return .ask(Array(host.line.ids))
    }

    private func grant(at host: inout Host) -> Action {
        var granted: [Int] = []
        while host.occupied < limit, let id = host.line.takeFirst() {
            host.occupied += 1
            granted.append(id)
        }
        return granted.isEmpty ? .none : .grant(granted)
    }
}

/// Waits until there is a place among the transfers to the origin, and keeps it until the transfer has ended.
struct HostLink: Interceptor {
    let limiter: HostLimiter

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        let origin = Origin(request.url)
        let source = context.source
        try await Suspension.wait { resume in
            limiter.enter(origin, priority: { source.urgency }, granted: resume)
        } late: { [limiter] in
            limiter.leave(origin)
        }
        defer { limiter.leave(origin) }
        return try await next(request)
    }
}
