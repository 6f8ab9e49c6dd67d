// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

/// Limits the number of concurrent transfers to one origin, so that one slow server doesn't take up all capacity.
///
/// ```swift
/// let limiter = HostLimiter(limit: 6)
/// ```
///
/// An origin is scheme, host and port (RFC 6454). Requests wait if their origin is full. When there is room, the
/// request whose operation has the highest priority continues, and among equals the one that has waited longest. In a
/// line of more than a hundred, a raised priority may take effect a few turns later.
///
/// A transfer keeps its place until it ends, and a redirect needs a place at the origin that it leads to. An operation
/// that waits keeps its place in its queue.
///
/// It is shared by reference: all users of a limiter are limited together.
public final class HostLimiter: Sendable {
    private struct State {
        var slots: HostSlots
        var waiters = Waiters()

        mutating func handle(_ input: HostSlots.Input, at origin: Origin) -> Effect {
            switch slots.handle(input, at: origin) {
            case .ask(let ids): .ask(waiters.find(ids))
            case .grant(let ids): .grant(ids.compactMap { waiters.remove($0) })
            case .none: if case .left(let id) = input { .release(waiters.remove(id)) } else { .release(nil) }
            }
        }
    }

    /// The action to perform after unlocking.
    private enum Effect: Sendable {
        case ask([Int: Waiter])
        case grant([Waiter])
        case release(Waiter?)
    }

    private let state: Locked<State>

    /// Makes a limiter.
    ///
    /// - Parameter limit: The number of concurrent transfers to one origin; at least 1.
    public init(limit: Int) {
        state = Locked(State(slots: HostSlots(limit: limit)))
    }

    /// Waits until there is room at an origin.
    ///
    /// - Parameters:
    ///   - origin: The origin of the transfer.
    ///   - priority: Returns the present priority, whenever the limiter asks; higher goes first.
    ///   - granted: Called once, now or later, on any thread, when there is room. It must be followed by ``leave(_:)``.
    /// - Returns: A closure that withdraws the request. It doesn't free a place: if both happen at once, `granted` may
    ///   be called although the request seems withdrawn, and `leave` is due.
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

    /// Frees a place at an origin; to be called once for each granted request.
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
                // Called asynchronously: a transfer that ends before `granted` returns admits the next one, and a long
                // line of them would overflow the stack.
                for waiter in waiters { DispatchQueue.global(qos: .utility).async(execute: waiter.granted) }
            }
        case .release:
            break
        }
    }
}

/// The logic of a ``HostLimiter``: for each origin, the number of occupied places and the line of waiters.
///
/// An origin with room has no waiters, except while the priorities are being asked for. An origin without transfers and
/// waiters isn't stored.
struct HostSlots: Sendable {
    enum Input: Sendable, Hashable {
        /// A new waiter.
        case arrived(Int, priority: Int)
        /// A waiter withdraws.
        case left(Int)
        /// These are the priorities that were asked for.
        case answered([Int: Int])
        /// A transfer has left its place.
        case freed
    }

    enum Action: Sendable, Hashable {
        /// Nothing.
        case none
        /// Ask these for their priorities, then say `answered`.
        case ask([Int])
        /// Admit these, in this order.
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

    /// The number of origins with transfers or waiters.
    var count: Int { hosts.count }

    /// Handles an input, and returns the action to perform.
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
        // Priorities matter only if there are more waiters than places.
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
