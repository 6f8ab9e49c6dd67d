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
    /// The places at one origin; an origin with room has no waiters, except while they are asked for their priorities.
    private struct Host: Sendable {
        var occupied = 0
        var waiters = Waiters()
    }

    private struct State: Sendable {
        /// The origins with transfers or waiters.
        var hosts: [Origin: Host] = [:]
        var lastID = 0
    }

    private let limit: Int
    private let state = Locked(State())

    /// Makes a limiter.
    ///
    /// - Parameter limit: The number of concurrent transfers to one origin; at least 1.
    public init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Waits until there is room at an origin.
    ///
    /// - Parameters:
    ///   - origin: The origin of the transfer.
    ///   - priority: Returns the present priority, whenever the limiter asks; higher goes first.
    ///   - granted: Called once, now or later, on any thread, when there is room. It must be followed by ``leave(_:)``.
    /// - Returns: A closure that withdraws the request. It doesn't free a place: if both happen at once, `granted` may
    ///   be called although the request seems withdrawn, and `leave` is due.
    func acquire(
        _ origin: Origin,
        priority: @escaping @Sendable () -> Int,
        granted: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let initial = priority()
        let waiter = Waiter(priority: priority, granted: granted)
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let step = change(origin) { $0.waiters.add(waiter, as: id, priority: initial) }.step
        if case .grant(let waiters) = step {
            for waiter in waiters { waiter.onGrant() }
        } else {
            perform(step, at: origin)
        }
        return {
            let (former, step) = self.change(origin) { $0.waiters.remove(id) }
            withExtendedLifetime(former) { self.perform(step, at: origin) }
        }
    }

    /// Frees a place at an origin; to be called once for each granted request.
    func release(_ origin: Origin) {
        perform(change(origin) { $0.occupied = max(0, $0.occupied - 1) }.step, at: origin)
    }

    private func change<Result: Sendable>(
        _ origin: Origin,
        _ change: @Sendable (inout Host) -> Result
    ) -> (result: Result, step: Waiters.Step) {
        state.withLock { [limit] state in
            var host = state.hosts.removeValue(forKey: origin) ?? Host()
            let result = change(&host)
            let step = host.waiters.next(limit - host.occupied)
            if case .grant(let waiters) = step { host.occupied += waiters.count }
            let isIdle = host.occupied == 0 && host.waiters.isEmpty && !host.waiters.isRefreshing
            if !isIdle { state.hosts[origin] = host }
            return (result, step)
        }
    }

    private func perform(_ step: Waiters.Step, at origin: Origin) {
        switch step {
        case .none: break
        case .refresh(let waiters):
            let answers = waiters.mapValues { $0.priority() }
            perform(change(origin) { $0.waiters.update(answers) }.step, at: origin)
        case .grant(let waiters):
            // Called asynchronously: a transfer that ends before `granted` returns admits the next one, and a long
            // line of them would overflow the stack.
            for waiter in waiters { DispatchQueue.global(qos: .utility).async(execute: waiter.onGrant) }
        }
    }
}
