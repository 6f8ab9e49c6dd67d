// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The state of the network: whether there is one, and over which kind of interface, now and at each change.
///
/// ```swift
/// environment.conditions.append(.connected(timeout: .seconds(60)))
/// for await status in Connectivity.system.updates() { banner.isHidden = status.isConnected }
/// ```
///
/// ``system`` reports the system's state. One that you make reports the state that you set, as in tests:
///
/// ```swift
/// let connectivity = Connectivity(isConnected: false)
/// connectivity.isConnected = true
/// ```
///
/// A network doesn't guarantee that a host can be reached over it: only a request can find that out, such as that of
/// ``RequestQueue/canReach(_:timeout:session:)``. All members may be used from any thread.
public final class Connectivity: Sendable {
    /// A kind of network interface.
    public enum Interface: String, Sendable, Hashable, CaseIterable {
        /// A wireless local network.
        case wifi
        /// A cable.
        case wired
        /// A mobile network.
        case cellular
        /// A virtual one, such as a tunnel, or an unknown one.
        case other
    }

    /// The state of the network.
    public enum Status: Sendable, Hashable {
        /// There is no network.
        case disconnected
        /// A network, over an interface of this kind.
        case connected(Interface)

        /// Whether there is a network.
        public var isConnected: Bool { self != .disconnected }
    }

    private struct State: Broadcasting {
        var status: Status
        var broadcaster = Broadcaster<Status>()
    }

    private let state: Locked<State>

    /// Makes an object whose state you set.
    public convenience init(isConnected: Bool = true) {
        self.init(isConnected ? .connected(.other) : .disconnected)
    }

    /// Makes an object whose state you set.
    public init(_ status: Status) {
        state = Locked(State(status: status))
    }

    deinit {
        state.withLock { $0.broadcaster.close() }
        state.notifyObservers()
    }

    /// The state; setting a connected one resumes all operations that wait for a network.
    public var status: Status {
        get { state.withLock { $0.status } }
        set {
            state.withLock { state in
                if newValue != state.status { state.broadcaster.publish(newValue) }
                state.status = newValue
            }
            state.notifyObservers()
        }
    }

    /// Whether there is a network; setting it to true resumes all operations that wait for one.
    public var isConnected: Bool {
        get { status.isConnected }
        set { if newValue != isConnected { status = newValue ? .connected(.other) : .disconnected } }
    }

    /// The state, and then each change, as a sequence.
    ///
    /// A slow consumer gets the newest state. Each call makes a sequence of its own, which ends with the object; that
    /// of ``system`` never ends.
    public func updates() -> AsyncStream<Status> { subscription().updates }

    /// The updates for one reader, and the continuation that ends them.
    private func subscription() -> (updates: AsyncStream<Status>, continuation: AsyncStream<Status>.Continuation) {
        let (updates, continuation) = AsyncStream.makeStream(of: Status.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            if state.broadcaster.latest == nil { state.broadcaster.publish(state.status) }
            return state.broadcaster.add { status in
                if let status { continuation.yield(status) } else { continuation.finish() }
            }
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.broadcaster.remove(id) } }
        state.notifyObservers()
        return (updates, continuation)
    }

    /// Waits until there is a network, with an optional limit; returns at once if there is one.
    ///
    /// - Parameters:
    ///   - limit: The maximum wait; `nil`, the default, sets no limit.
    ///   - clock: The clock of the limit.
    /// - Returns: Whether there is a network; `false` also if the task is cancelled while it waits.
    public func waitUntilConnected(
        timeout limit: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) async -> Bool {
        // Also if the limit is zero, and the first update comes after it.
        if isConnected { return true }
        let (updates, continuation) = subscription()
        let timer = limit.map { DelayedAction(after: $0, on: clock) { continuation.finish() } }
        defer { timer?.cancel() }
        return await updates.contains { $0.isConnected }
    }
}

// MARK: - System

#if canImport(Network)
import Network

extension Connectivity {
    /// The state that the system reports.
    ///
    /// It is observed from the first use on, until the process ends. Before the first report, there is assumed to be a
    /// network.
    public static let system: Connectivity = {
        let connectivity = Connectivity()
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { connectivity.status = Status($0) }
        monitor.start(queue: DispatchQueue(label: "Requests.Connectivity"))
        // A deallocated monitor reports nothing. This one is meant to exist for ever.
        _ = Unmanaged.passRetained(monitor)
        return connectivity
    }()
}

extension Connectivity.Status {
    fileprivate init(_ path: NWPath) {
        // A path that is made when it is needed, as over a VPN, counts as a network.
        if path.status == .unsatisfied {
            self = .disconnected
        } else if path.usesInterfaceType(.wifi) {
            self = .connected(.wifi)
        } else if path.usesInterfaceType(.wiredEthernet) {
            self = .connected(.wired)
        } else {
            self = .connected(path.usesInterfaceType(.cellular) ? .cellular : .other)
        }
    }
}
#elseif os(Linux)
extension Connectivity {
    /// The state that the system reports: whether an interface is up that isn't the loopback and has an address that
    /// others can reach.
    ///
    /// The kind of the interface is always `other`.
    /// The kernel reports every change, from the first use on until the process ends. If the process isn't allowed to
    /// observe it, as in some sandboxes, there is assumed to be a network. A machine that has only its loopback has no
    /// network, also for requests to itself.
    public static let system: Connectivity = {
        let connectivity = Connectivity()
        NetworkInterfaces.observe {
            if let hasNetwork = NetworkInterfaces.haveNetwork() { connectivity.isConnected = hasNetwork }
        }
        return connectivity
    }()
}
#else
extension Connectivity {
    /// The state that the system reports; on this platform it is unknown, so there is assumed to be a network.
    public static let system = Connectivity()
}
#endif
