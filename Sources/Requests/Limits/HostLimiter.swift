// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

/// Limits the number of concurrent transfers to one origin, so that one slow server doesn't use up all capacity.
///
/// ```swift
/// let limiter = HostLimiter(limit: 6)
/// ```
///
/// An origin consists of scheme, host and port (RFC 6454). Each transfer occupies a slot of its origin until it ends,
/// and a request waits while all slots are occupied. A free slot goes to the request whose operation has the highest
/// priority. Among requests of equal priority, the one that has waited longest goes first. If more than a hundred
/// requests are waiting, a raised priority may take effect a few grants later.
///
/// A redirect needs a slot of the target's origin. A waiting operation still occupies its slot of the operation queue.
///
/// A limiter is a reference type: all requests that use the same limiter are limited together.
public final class HostLimiter: Sendable {
    /// The state of one origin; if there are both free slots and waiters, a refresh of the priorities is under way.
    private struct Host: Sendable {
        var activeCount = 0
        var waiters = Waiters()
    }

    private struct State: Sendable {
        /// The origins with transfers or waiters.
        var hosts: [Origin: Host] = [:]
        var lastID = 0
    }

    private let limit: Int
    private let state = Locked(State())

    /// Creates a limiter.
    ///
    /// - Parameter limit: The maximum number of concurrent transfers to one origin; at least 1.
    public init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Requests a slot of an origin.
    ///
    /// - Parameters:
    ///   - origin: The origin of the transfer.
    ///   - priority: Returns the current priority each time it is called; higher priorities go first.
    ///   - onGrant: Called once, now or later, on any thread, when the request gets a slot. Each call must be followed
    ///     by ``release(_:)``.
    /// - Returns: A closure that cancels the request. The closure can't free a slot. If the slot is granted at the same
    ///   moment, `onGrant` may still be called after the cancellation, and `release` is then required.
    func acquire(
        _ origin: Origin,
        priority: @escaping @Sendable () -> Int,
        onGrant: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        let initial = priority()
        let waiter = Waiter(priority: priority, onGrant: onGrant)
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
            let (removed, step) = self.change(origin) { $0.waiters.remove(id) }
            withExtendedLifetime(removed) { self.perform(step, at: origin) }
        }
    }

    /// Frees a slot of an origin; must be called once for each granted request.
    func release(_ origin: Origin) {
        perform(change(origin) { $0.activeCount = max(0, $0.activeCount - 1) }.step, at: origin)
    }

    private func change<Result: Sendable>(
        _ origin: Origin,
        _ change: @Sendable (inout Host) -> Result
    ) -> (result: Result, step: Waiters.Step) {
        state.withLock { [limit] state in
            var host = state.hosts.removeValue(forKey: origin) ?? Host()
            let result = change(&host)
            let step = host.waiters.next(limit - host.activeCount)
            if case .grant(let waiters) = step { host.activeCount += waiters.count }
            let isIdle = host.activeCount == 0 && host.waiters.isEmpty && !host.waiters.isRefreshing
            if !isIdle { state.hosts[origin] = host }
            return (result, step)
        }
    }

    private func perform(_ step: Waiters.Step, at origin: Origin) {
        switch step {
        case .none: break
        case .refresh(let waiters):
            let priorities = waiters.mapValues { $0.priority() }
            perform(change(origin) { $0.waiters.update(priorities) }.step, at: origin)
        case .grant(let waiters):
            // Call `onGrant` asynchronously to avoid unbounded recursion. A transfer that ends before its `onGrant`
            // returns admits the next transfer, so a long queue could overflow the stack.
            for waiter in waiters { DispatchQueue.global(qos: .utility).async(execute: waiter.onGrant) }
        }
    }
}
