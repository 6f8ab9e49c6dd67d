// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Stands in for Apple's module Network in Scripts/apple-check: what the sources use of it, and no more.
// Nothing of it is ever run.

import Dispatch

public struct NWPath {
    public enum Status {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public var status: Status { fatalError() }

    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { fatalError() }
}

public struct NWInterface {
    public enum InterfaceType {
        case other
        case wifi
        case cellular
        case wiredEthernet
        case loopback
    }
}

public final class NWPathMonitor {
    public init() {}

    public var pathUpdateHandler: (@Sendable (_ path: NWPath) -> Void)? {
        get { nil }
        set {}
    }

    public func start(queue: DispatchQueue) {}
}
