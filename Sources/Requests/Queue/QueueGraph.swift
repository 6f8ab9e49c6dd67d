// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The operations of a queue and what waits for what, as they were at one moment: for logs, tests and pictures.
///
/// ```swift
/// print(queue.graph().mermaid)  // a picture, where Markdown is shown with Mermaid diagrams
/// ```
public struct QueueGraph: Sendable, Hashable {
    /// How far an operation has come.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It depends on operations that aren't finished.
        case waiting
        /// It starts when the queue has room.
        case ready
        /// It has been started.
        case executing
        /// It is over; where it is one of a request, with a value.
        case finished
        /// It is the operation of a request, and has a failure.
        case failed
        /// It was cancelled; it may still be in the queue.
        case cancelled
    }

    /// An operation.
    public struct Node: Sendable, Hashable {
        /// The type of the request, or of an operation that has none.
        public var type: String
        /// The name of the operation.
        public var name: String?
        /// The identifier of the request; nil as long as that is yet to be made.
        public var identifier: String?
        /// The tag of the request's options.
        public var tag: String?
        /// How far it has come.
        public var state: State

        /// Makes a node.
        public init(
            type: String,
            name: String? = nil,
            identifier: String? = nil,
            tag: String? = nil,
            state: State
        ) {
            self.type = type
            self.name = name
            self.identifier = identifier
            self.tag = tag
            self.state = state
        }
    }

    /// That one operation waits for another.
    public struct Edge: Sendable, Hashable {
        /// The index of the operation that comes first.
        public var from: Int
        /// The index of the operation that depends on it.
        public var to: Int

        /// Makes an edge.
        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The operations of the queue in its order, then those that they depend on and that aren't on it: finished ones,
    /// and those of other queues.
    public var nodes: [Node]
    /// What waits for what; an operation that is finished has let go of what it waited for.
    public var edges: [Edge]

    /// Makes a graph.
    public init(nodes: [Node], edges: [Edge]) {
        self.nodes = nodes
        self.edges = edges
    }
}
