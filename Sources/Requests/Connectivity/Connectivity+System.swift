// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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
