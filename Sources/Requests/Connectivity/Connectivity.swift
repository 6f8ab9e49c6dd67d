// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Whether there is a network, as far as somebody tells; others wait for it.
///
/// On Apple platforms, `system` is told by the system. Elsewhere nobody tells by himself: make one, and set
/// ``isConnected`` by whatever the program knows, such as a link that goes up and down. Tests do the same.
///
/// ```swift
/// let connectivity = Connectivity(isConnected: false)
/// environment.conditions.append(.connected(by: connectivity, within: .seconds(60)))
/// connectivity.isConnected = true
/// ```
///
/// That there is a network doesn't say that a host can be reached over it: only a request can find that out. All members
/// may be used from any thread.
public final class Connectivity: Sendable {
    private struct State: Sendable {
        var isConnected: Bool
        var nextID = 0
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]

        mutating func set(_ value: Bool) -> [CheckedContinuation<Bool, Never>] {
            isConnected = value
            guard value else { return [] }
            defer { waiters = [:] }
            return waiters.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    private let state: Locked<State>

    /// Makes one that knows what it is told.
    public init(isConnected: Bool = true) {
        state = Locked(State(isConnected: isConnected))
    }

    /// Whether there is a network; setting it to true lets all go on that wait.
    public var isConnected: Bool {
        get { state.withLock { $0.isConnected } }
        set {
            for waiter in state.withLock({ $0.set(newValue) }) { waiter.resume(returning: true) }
        }
    }

    /// Waits until there is a network, or at most for a while; where there is one, not at all.
    ///
    /// - Parameters:
    ///   - limit: For how long; nil, the default, is as long as it takes.
    ///   - clock: The clock of the limit.
    /// - Returns: Whether there is a network; false too where the task is cancelled.
    public func wait(atMost limit: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()) async -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let timer = Locked<DelayedAction?>(nil)
        let isConnected = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let answer: Bool? = state.withLock { state in
                    if state.isConnected { return true }
                    // A cancellation before this point found nobody to let go; the flag, which is set before, tells.
                    if Task.isCancelled { return false }
                    state.waiters[id] = waiter
                    return nil
                }
                if let answer { return waiter.resume(returning: answer) }
                guard let limit else { return }
                let action = DelayedAction(after: limit, on: clock) { self.giveUp(id) }
                timer.withLock { $0 = action }
            }
        } onCancel: {
            giveUp(id)
        }
        timer.withLock { $0 }?.cancel()
        return isConnected
    }

    private func giveUp(_ id: Int) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: false)
    }
}

// MARK: - System

#if canImport(Network)
import Foundation
import Network

extension Connectivity {
    /// What the system says; on Apple platforms only.
    ///
    /// It is asked from the first use on, until the process ends. Until it has answered, there is taken to be a network.
    public static let system: Connectivity = {
        let connectivity = Connectivity()
        let monitor = NWPathMonitor()
        // A path that is made when it is needed, as over a VPN, is as good as one that is there.
        monitor.pathUpdateHandler = { connectivity.isConnected = $0.status != .unsatisfied }
        monitor.start(queue: DispatchQueue(label: "Requests.Connectivity"))
        // A monitor that nobody holds says nothing more. This one is meant to be there for ever.
        _ = Unmanaged.passRetained(monitor)
        return connectivity
    }()
}
#endif
