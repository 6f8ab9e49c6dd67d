// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(FoundationNetworking)
import Foundation

/// Ends transfers that have been silent for too long, to the millisecond, which `URLSession` can't on Linux.
final class IdleWatch: Sendable {
    private struct State: Sendable {
        var timeouts = IdleTimeouts<ObjectIdentifier>()
        var actions: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "Requests.IdleWatch")

    func add(_ id: ObjectIdentifier, timeout: Duration, action: @escaping @Sendable () -> Void) {
        let nanoseconds = UInt64(max(0, min(timeout / .nanoseconds(1), 1e18)))
        let check = state.withLock { state in
            state.actions[id] = action
            return state.timeouts.add(id, timeout: nanoseconds, now: Self.now)
        }
        schedule(check)
    }

    func touch(_ id: ObjectIdentifier) {
        state.withLock { $0.timeouts.touch(id, now: Self.now) }
    }

    func remove(_ id: ObjectIdentifier) {
        _ = state.withLock { state in
            state.timeouts.remove(id)
            return state.actions.removeValue(forKey: id)
        }
    }

    private func schedule(_ check: UInt64?) {
        guard let check else { return }
        queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: check)) { [weak self] in self?.check() }
    }

    private func check() {
        let (actions, next) = state.withLock { state in
            let (expired, next) = state.timeouts.check(now: Self.now)
            return (expired.compactMap { state.actions.removeValue(forKey: $0) }, next)
        }
        for action in actions { action() }
        schedule(next)
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}
#endif
