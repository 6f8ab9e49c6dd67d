// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestQueue {
    /// The operations that aren't finished, and all that they depend on, as a graph.
    ///
    /// Operations of any type are in it. They go on while it is made, so the states needn't be of exactly one moment.
    ///
    /// - Complexity: O(n) in the number of operations and dependencies.
    public func graph() -> QueueGraph {
        var found = operations
        var indices: [ObjectIdentifier: Int] = [:]
        for (index, operation) in found.enumerated() { indices[ObjectIdentifier(operation)] = index }
        var edges: [QueueGraph.Edge] = []
        var next = 0
        while next < found.count {
            for dependency in found[next].dependencies {
                let index = indices[ObjectIdentifier(dependency)] ?? found.count
                if index == found.count {
                    indices[ObjectIdentifier(dependency)] = index
                    found.append(dependency)
                }
                edges.append(QueueGraph.Edge(from: index, to: next))
            }
            next += 1
        }
        return QueueGraph(nodes: found.map(QueueGraph.Node.init), edges: edges)
    }
}

extension QueueGraph.Node {
    fileprivate init(_ operation: Operation) {
        let request = operation as? any DrawnOperation
        self.init(
            type: request?.requestType ?? String(describing: Swift.type(of: operation)),
            name: operation.name,
            identifier: request?.requestIdentifier,
            tag: request?.requestTag,
            state: request?.stateOfResult ?? QueueGraph.State(operation)
        )
    }
}

extension QueueGraph.State {
    fileprivate init(_ operation: Operation) {
        self =
            if operation.isCancelled {
                .cancelled
            } else if operation.isFinished {
                .finished
            } else if operation.isExecuting {
                .executing
            } else {
                operation.isReady ? .ready : .waiting
            }
    }
}

/// An operation that a graph can say more of.
private protocol DrawnOperation: Operation {
    var requestType: String { get }
    var requestIdentifier: String? { get }
    var requestTag: String? { get }
    /// The state, where the result decides about it.
    var stateOfResult: QueueGraph.State? { get }
}

extension RequestOperation: DrawnOperation {
    fileprivate var requestType: String { R.shownTypeName }
    fileprivate var requestIdentifier: String? { request?.identifier }
    fileprivate var requestTag: String? { (request as? any NetworkRequest)?.options.tag }

    fileprivate var stateOfResult: QueueGraph.State? {
        switch result {
        case .failure(let error as RequestError) where error.code == .cancelled: .cancelled
        case .failure: isCancelled ? .cancelled : .failed
        case .success: isFinished ? .finished : .executing
        case nil: nil
        }
    }
}
