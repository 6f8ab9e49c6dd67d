// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A snapshot of the operations of a queue and their dependencies, for logs, tests and diagrams.
///
/// ```swift
/// print(queue.graph().mermaid)  // a picture, where Markdown is shown with Mermaid diagrams
/// ```
public struct QueueGraph: Sendable, Hashable {
    /// The state of an operation.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The operation depends on operations that aren't finished.
        case waiting
        /// The operation starts as soon as the queue has a free slot.
        case ready
        /// The operation has started.
        case executing
        /// The operation has finished and, if it runs a request, has succeeded.
        case finished
        /// The operation runs a request, which has failed.
        case failed
        /// The operation was cancelled; it may still be in the queue.
        case cancelled
    }

    /// An operation.
    public struct Node: Sendable, Hashable {
        /// The type of the request, or of the operation if it has no request.
        public var type: String
        /// The name of the operation.
        public var name: String?
        /// The identifier of the request; `nil` until the request has been created.
        public var identifier: String?
        /// The tag of the request's options.
        public var tag: String?
        /// The state of the operation.
        public var state: State

        /// Creates a node.
        public init(type: String, name: String? = nil, identifier: String? = nil, tag: String? = nil, state: State) {
            (self.type, self.name, self.identifier, self.tag) = (type, name, identifier, tag)
            self.state = state
        }
    }

    /// A relation between two operations, one of which waits for the other.
    public struct Edge: Sendable, Hashable {
        /// The reason for waiting.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// The waiting operation depends on the other.
            case dependency
            /// The waiting operation is a group, and the other is its member.
            case membership
            /// The other operation is ahead of the waiting operation in the queue of an exclusive category.
            case exclusivity
        }

        /// The index of the operation that must finish first.
        public var from: Int
        /// The index of the operation that waits.
        public var to: Int
        /// The reason for waiting.
        public var kind: Kind

        /// Creates an edge, by default for a dependency.
        public init(from: Int, to: Int, kind: Kind = .dependency) {
            (self.from, self.to, self.kind) = (from, to, kind)
        }
    }

    /// The operations of the queue in order, followed by dependencies that aren't on the queue.
    ///
    /// Such dependencies are finished, or on other queues.
    public var nodes: [Node]
    /// The relations between the operations; a finished operation no longer waits for anything.
    ///
    /// A group that hasn't begun waits for its dependencies.
    public var edges: [Edge]

    /// Creates a graph.
    public init(nodes: [Node], edges: [Edge]) {
        self.nodes = nodes
        self.edges = edges
    }
}

// MARK: - Text

extension QueueGraph: CustomStringConvertible {
    /// The graph as text, with one line per operation: its index, its state, its name, and the operations that it waits
    /// for.
    ///
    /// ```text
    /// 0 finished  UserRequest ada
    /// 1 executing ReposRequest ada, after 0
    /// 2 waiting   RequestGroup<IssuesRequest>, after 1
    /// ```
    ///
    /// Strings from requests are truncated to 64 characters, and can't contain control characters that move the cursor.
    ///
    /// - Complexity: O(n) in the number of nodes and edges.
    public var description: String {
        var predecessors: [Int: [Edge.Kind: [Int]]] = [:]
        for edge in edges { predecessors[edge.to, default: [:]][edge.kind, default: []].append(edge.from) }
        let width = String(max(0, nodes.count - 1)).count
        return nodes.enumerated().map { index, node in
            let number = String(index).fitted(to: width, alignedRight: true)
            let names = [node.type, node.name, node.shownIdentifier, node.tag]
            let name = names.compactMap { $0?.shortened() }.filter { !$0.isEmpty }.joined(separator: " ")
            let waits = Edge.Kind.allCases.compactMap { kind in
                predecessors[index]?[kind].map { "\(kind.notation.word) \($0.map(String.init).joined(separator: " "))" }
            }
            let state = node.state.rawValue.fitted(to: State.executing.rawValue.count)  // The longest state name.
            return "\(number) \(state) \(([name] + waits).joined(separator: ", "))\n"
        }
        .joined()
    }
}

extension QueueGraph.Edge.Kind {
    /// The word for this kind in the description, and its arrow in a flowchart.
    fileprivate var notation: (word: String, arrow: String) {
        switch self {
        case .dependency: ("after", "-->")
        case .membership: ("of", "--o")
        case .exclusivity: ("behind", "-.->")
        }
    }
}

// MARK: - Mermaid

extension QueueGraph {
    /// The graph as a [Mermaid](https://mermaid.js.org) flowchart, which many Markdown viewers can display.
    ///
    /// ```text
    /// flowchart LR
    ///     n0["LoginRequest<br/>ada<br/>executing"]:::executing
    ///     n1["ProfileRequest<br/>waiting"]:::waiting
    ///     n0 --> n1
    ///     classDef waiting …
    /// ```
    ///
    /// A plain arrow points from an operation to its dependents. A line with a circle connects a member to its group. A
    /// dotted arrow points to the next operation in the queue of an exclusive category. Identifiers are shown
    /// unchanged, but the identifiers of ready-made requests contain no secrets. Every state has a colour and a label.
    /// Strings are truncated to 64 characters, and contain no markup for Mermaid, Markdown or a browser. Edges to
    /// missing nodes are omitted.
    ///
    /// - Complexity: O(n) in the number of nodes and edges.
    public var mermaid: String {
        var lines = ["flowchart LR"]
        for (index, node) in nodes.enumerated() {
            lines.append("    n\(index)[\"\(node.label)\"]:::\(node.state.rawValue)")
        }
        for edge in edges where nodes.indices.contains(edge.from) && nodes.indices.contains(edge.to) {
            lines.append("    n\(edge.from) \(edge.kind.notation.arrow) n\(edge.to)")
        }
        let states = Set(nodes.map(\.state))
        for state in State.allCases where states.contains(state) {
            // The line has no semicolon, because Mermaid removes a semicolon at the end of a list of colours.
            lines.append("    classDef \(state.rawValue) \(state.style),color:#000")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension QueueGraph.Node {
    /// The identifier without secrets, and without the digest of a ready-made request.
    fileprivate var shownIdentifier: String? { identifier.map { Redaction.address($0.withoutDigest) } }

    fileprivate var label: String {
        [type, name, shownIdentifier, tag, state.rawValue].compactMap { $0?.escapedForMermaid }
            .joined(separator: "<br/>")
    }
}

extension QueueGraph.State {
    fileprivate var style: String {
        switch self {
        case .waiting: "fill:#eeeeee,stroke:#888888"
        case .ready: "fill:#fff3cd,stroke:#b58900"
        case .executing: "fill:#cfe2ff,stroke:#0d6efd"
        case .finished: "fill:#d1e7dd,stroke:#198754"
        case .failed: "fill:#f8d7da,stroke:#dc3545"
        case .cancelled: "fill:#ffffff,stroke:#888888,stroke-dasharray:4"
        }
    }
}

extension String {
    /// The beginning of the string, escaped for a quoted Mermaid label.
    ///
    /// All characters except letters, digits and spaces become character codes. Unescaped, their meaning would depend
    /// on their context (directives, comments, Markdown, HTML, icons) and on the version of the renderer.
    fileprivate var escapedForMermaid: String {
        shortened().unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber:
                String(scalar)
            default:
                scalar == " " ? " " : "#\(scalar.value);"
            }
        }
        .joined()
    }
}

// MARK: - Graph

extension RequestQueue {
    /// Returns the unfinished operations and all their dependencies as a graph.
    ///
    /// The graph contains operations of any type. The operations continue to run while the graph is created, so the
    /// states may be from slightly different moments.
    ///
    /// - Complexity: O(n) in the number of operations and dependencies, and O(m log m) in the number of operations in
    ///   the process that wait for an exclusive category.
    public func graph() -> QueueGraph {
        var found: [Operation] = []
        var indices: [ObjectIdentifier: Int] = [:]
        func index(of operation: Operation) -> Int {
            if let index = indices[ObjectIdentifier(operation)] { return index }
            indices[ObjectIdentifier(operation)] = found.count
            found.append(operation)
            return found.count - 1
        }
        for operation in operations where !(operation is OperationGate) { _ = index(of: operation) }
        var edges: [QueueGraph.Edge] = []
        let snapshot = ExclusivitySnapshot()
        var next = 0
        while next < found.count {
            for (predecessor, kind) in found[next].predecessors(in: snapshot) {
                edges.append(QueueGraph.Edge(from: index(of: predecessor), to: next, kind: kind))
            }
            next += 1
        }
        return QueueGraph(nodes: found.map(QueueGraph.Node.init), edges: edges)
    }
}

extension Operation {
    /// Returns the operations that this operation waits for, each once, with the reason.
    ///
    /// A gate is replaced by the operations that it waits for. In the queue of an exclusive category, only the direct
    /// predecessor counts.
    fileprivate func predecessors(in snapshot: ExclusivitySnapshot) -> [(Operation, QueueGraph.Edge.Kind)] {
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var predecessors: [(Operation, QueueGraph.Edge.Kind)] = []
        func add(_ predecessor: Operation, _ kind: QueueGraph.Edge.Kind) {
            if seen.insert(ObjectIdentifier(predecessor)).inserted { predecessors.append((predecessor, kind)) }
        }
        let members = (self as? AnyRequestOperation)?.observer(GroupContents.self)?.memberIDs ?? []
        for dependency in dependencies {
            if let gate = dependency as? OperationGate {
                for predecessor in gate.dependencies { add(predecessor, .dependency) }
                for last in snapshot.operations(before: gate) { add(last, .exclusivity) }
            } else {
                add(dependency, members.contains(ObjectIdentifier(dependency)) ? .membership : .dependency)
            }
        }
        return predecessors
    }
}

extension QueueGraph.Node {
    fileprivate init(_ operation: Operation) {
        let request = operation as? AnyRequestOperation
        type = (operation as? AsynchronousOperation)?.displayType ?? String(describing: Swift.type(of: operation))
        (name, identifier, tag) = (operation.name, request?.identifier, request?.tag)
        state = request?.stateOfResult ?? operation.state
    }
}

extension Operation {
    fileprivate var state: QueueGraph.State {
        if isCancelled { return .cancelled }
        if isFinished { return .finished }
        return isExecuting ? .executing : isReady ? .ready : .waiting
    }
}

extension AnyRequestOperation {
    /// The state of the operation if it has a result; otherwise `nil`.
    fileprivate var stateOfResult: QueueGraph.State? {
        guard let result = core.withLock({ $0.result }) else { return nil }
        guard let error = type(of: self).failure(in: result) else { return isFinished ? .finished : .executing }
        let isCancellation = (error as? RequestError).map { $0.code == .cancelled } ?? isCancelled
        return isCancellation ? .cancelled : .failed
    }
}
