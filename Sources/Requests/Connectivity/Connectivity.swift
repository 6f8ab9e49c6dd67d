// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Reports whether a network is available, over which kind of interface, and when that changes.
///
/// ```swift
/// environment.conditions.append(.connected(timeout: .seconds(60)))
/// for await status in Connectivity.system.updates() { banner.isHidden = status.isConnected }
/// ```
///
/// ``system`` reports the state of the system. An instance that you create reports the state that you set, such as in a
/// test:
///
/// ```swift
/// let connectivity = Connectivity(isConnected: false)
/// connectivity.isConnected = true
/// ```
///
/// An available network doesn't guarantee that a host is reachable. Only a request can determine that; see
/// ``RequestQueue/canReach(_:timeout:session:)``. All members are thread-safe.
public final class Connectivity: Sendable {
    /// A kind of network interface.
    public enum Interface: String, Sendable, Hashable, CaseIterable {
        /// Wi-Fi.
        case wifi
        /// Wired Ethernet.
        case wired
        /// A mobile network.
        case cellular
        /// A virtual interface, such as a tunnel, or an unknown one.
        case other
    }

    /// The state of the network.
    public enum Status: Sendable, Hashable {
        /// No network is available.
        case disconnected
        /// A network is available over this kind of interface.
        case connected(Interface)

        /// Whether a network is available.
        public var isConnected: Bool { self != .disconnected }
    }

    private struct State: Broadcasting {
        var status: Status
        var broadcaster = Broadcaster<Status>()
    }

    private let state: Locked<State>

    /// Creates an instance whose state you set, for example in a test.
    public convenience init(isConnected: Bool = true) {
        self.init(isConnected ? .connected(.other) : .disconnected)
    }

    /// Creates an instance whose state you set, including the kind of interface.
    public init(_ status: Status) {
        state = Locked(State(status: status))
    }

    deinit {
        state.withLock { $0.broadcaster.close() }
        state.notifyObservers()
    }

    /// The current state; setting a connected state resumes all operations that wait for a network.
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

    /// Whether a network is available; setting it to `true` resumes all operations that wait for a network.
    public var isConnected: Bool {
        get { status.isConnected }
        set { if newValue != isConnected { status = newValue ? .connected(.other) : .disconnected } }
    }

    /// Returns a sequence of the current state and all later changes.
    ///
    /// A slow consumer receives only the newest state. Each call returns a separate sequence. The sequence finishes
    /// when this instance is deallocated, so the sequence of ``system`` never finishes.
    public func updates() -> AsyncStream<Status> { subscription().updates }

    /// Returns the updates for one consumer, and the continuation that can finish them.
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

    /// Waits until a network is available; returns immediately if one already is.
    ///
    /// - Parameters:
    ///   - limit: The timeout; `nil`, the default, means no limit.
    ///   - clock: The clock that measures the timeout.
    /// - Returns: Whether a network is available; `false` after the timeout, and if the task is cancelled while it
    ///   waits.
    public func waitUntilConnected(
        timeout limit: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) async -> Bool {
        // Check the state first, because with a timeout of zero, the first update might arrive too late.
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
    /// The state is observed from the first use until the process exits. Until the first report, a network is assumed
    /// to be available.
    public static let system: Connectivity = {
        let connectivity = Connectivity()
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { connectivity.status = Status($0) }
        monitor.start(queue: DispatchQueue(label: "Requests.Connectivity"))
        // A deallocated monitor reports nothing, so this one is never released.
        _ = Unmanaged.passRetained(monitor)
        return connectivity
    }()
}

extension Connectivity.Status {
    fileprivate init(_ path: NWPath) {
        // A path that is established on demand, for example by a VPN, counts as a network.
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
    /// The state that the system reports.
    ///
    /// The state is connected if a non-loopback interface is up and has an address that is reachable from other
    /// machines. The kind of interface is always `other`. The kernel reports every change from the first use until the
    /// process exits. If the process isn't allowed to observe the changes, as in some sandboxes, a network is assumed
    /// to be available. A machine that has only a loopback interface counts as disconnected, even for requests to
    /// itself.
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
    /// The state that the system reports; on this platform, a network is always assumed to be available.
    public static let system = Connectivity()
}
#endif
