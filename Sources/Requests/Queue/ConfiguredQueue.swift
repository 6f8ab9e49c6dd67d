// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension OperationQueue {
    /// This queue, as one whose requests inherit something: monitors, interceptors, a base URL.
    ///
    /// ```swift
    /// let watched = queue.configured { $0.monitors.append(.console) }
    /// watched.addRequest(RecipeRequest(recipeID: "1"))
    /// ```
    ///
    /// The operations run on this very queue, beside those that are added to it otherwise: its bound, its quality of
    /// service and its suspension count for all. Keep what is returned as long as requests are added; requests share
    /// transfers only if it is the same object that they were added to.
    ///
    /// - Parameters:
    ///   - transport: What carries the requests; nil, the default, is the platform's best.
    ///   - configure: Changes what the requests inherit. What it throws, this does.
    /// - Returns: A queue that adds operations to this one.
    public func configured(
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows -> some RequestQueue {
        var environment = RequestEnvironment()
        try configure(&environment)
        return ConfiguredQueue(self, environment, transport ?? DefaultTransport.shared)
    }
}

/// An operation queue, with what its requests inherit.
private final class ConfiguredQueue: RequestQueue {
    let environment: RequestEnvironment
    let transport: any HTTPTransport
    private let queue: OperationQueue

    init(_ queue: OperationQueue, _ environment: RequestEnvironment, _ transport: any HTTPTransport) {
        self.queue = queue
        self.environment = environment
        self.transport = transport
    }

    var operations: [Operation] { queue.operations }
    var underlyingQueue: DispatchQueue? { queue.underlyingQueue }

    func addOperation(_ operation: Operation) { queue.place(operation) }
}
