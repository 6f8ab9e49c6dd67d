// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operations of a queue and their dependencies at one moment: for logs, tests and drawings.
///
/// ```swift
/// print(queue.graph().mermaid)  // a picture, where Markdown is shown with Mermaid diagrams
/// ```
public struct QueueGraph: Sendable, Hashable {
    /// The state of an operation.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It depends on operations that aren't finished.
        case waiting
        /// It starts when the queue has room.
        case ready
        /// It has been started.
        case executing
        /// It is over; if it has a request, with a value.
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
        /// The identifier of the request; `nil` until the request is made.
        public var identifier: String?
        /// The tag of the request's options.
        public var tag: String?
        /// The state of the operation.
        public var state: State

        /// Makes a node.
        public init(type: String, name: String? = nil, identifier: String? = nil, tag: String? = nil, state: State) {
            (self.type, self.name, self.identifier, self.tag) = (type, name, identifier, tag)
            self.state = state
        }
    }

    /// A connection between two operations, one of which waits for the other.
    public struct Edge: Sendable, Hashable {
        /// The reason for the wait.
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// It depends on it.
            case dependency
            /// It is a group, and the other is its member.
            case membership
            /// The other is before it, in the line of an exclusive category.
            case exclusivity
        }

        /// The index of the operation that comes first.
        public var from: Int
        /// The index of the operation that waits for it.
        public var to: Int
        /// The reason for the wait.
        public var kind: Kind

        /// Makes an edge; a dependency by default.
        public init(from: Int, to: Int, kind: Kind = .dependency) {
            (self.from, self.to, self.kind) = (from, to, kind)
        }
    }

    /// The operations of the queue in its order, followed by their dependencies that aren't on it: finished ones, and
    /// those of other queues.
    public var nodes: [Node]
    /// The connections; a finished operation waits for nothing any more.
    ///
    /// A group that hasn't begun waits for its dependencies.
    public var edges: [Edge]

    /// Makes a graph.
    public init(nodes: [Node], edges: [Edge]) {
        self.nodes = nodes
        self.edges = edges
    }
}

// MARK: - Text

extension QueueGraph: CustomStringConvertible {
    /// The graph as text: a line for each operation, with its state, and the numbers of those that it waits for.
    ///
    /// ```text
    /// 0 finished  UserRequest ada
    /// 1 executing ReposRequest ada, after 0
    /// 2 waiting   RequestGroup<IssuesRequest>, after 1
    /// ```
    ///
    /// Texts of requests are truncated to 64 characters, and can't move the cursor.
    ///
    /// - Complexity: O(n) in the number of nodes and edges.
    public var description: String {
        var causes: [Int: [Edge.Kind: [Int]]] = [:]
        for edge in edges { causes[edge.to, default: [:]][edge.kind, default: []].append(edge.from) }
        let width = String(max(0, nodes.count - 1)).count
        return nodes.enumerated().map { index, node in
            let number = String(index).fitted(to: width, alignedRight: true)
            let names = [node.type, node.name, node.shownIdentifier, node.tag]
            let name = names.compactMap { $0?.shortened() }.filter { !$0.isEmpty }.joined(separator: " ")
            let waits = Edge.Kind.allCases.compactMap { kind in
                causes[index]?[kind].map { "\(kind.notation.word) \($0.map(String.init).joined(separator: " "))" }
            }
            let state = node.state.rawValue.fitted(to: State.executing.rawValue.count)  // The longest.
            return "\(number) \(state) \(([name] + waits).joined(separator: ", "))\n"
        }
        .joined()
    }
}

extension QueueGraph.Edge.Kind {
    /// The word in a text, and the arrow in a flowchart.
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
    /// The graph as a flowchart in the language of [Mermaid](https://mermaid.js.org), which Markdown often understands.
    ///
    /// ```text
    /// flowchart LR
    ///     n0["LoginRequest<br/>ada<br/>executing"]:::executing
    ///     n1["ProfileRequest<br/>waiting"]:::waiting
    ///     n0 --> n1
    ///     classDef waiting …
    /// ```
    ///
    /// An arrow leads to the dependents of an operation, a line with a circle to the group of a member, and a dotted
    /// arrow to the next operation in a line. Identifiers are shown unchanged, and those of ready-made requests have no
    /// secrets. Every state has a colour and a text. Texts are truncated to 64 characters, and contain no code for
    /// Mermaid, Markdown or a browser. Edges to missing nodes are left out.
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
            // Without a semicolon: Mermaid removes one at the end of a line of colours.
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
    /// The beginning of the text, in Mermaid's quotes.
    ///
    /// All characters except letters, digits and spaces become character codes. Their meaning depends on the place
    /// (directives, comments, Markdown, HTML, icons) and on the version of the renderer.
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
    /// Returns the unfinished operations, and all their dependencies, as a graph.
    ///
    /// It contains operations of any type. They continue while it is made, so the states may be of slightly different
    /// moments.
    ///
    /// - Complexity: O(n) in the number of operations and dependencies, and O(m log m) in the number m of operations in
    ///   the process that wait for their turn in a category.
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
        let queues = ExclusivitySnapshot()
        var next = 0
        while next < found.count {
            for (cause, kind) in found[next].causes(in: queues) {
                edges.append(QueueGraph.Edge(from: index(of: cause), to: next, kind: kind))
            }
            next += 1
        }
        return QueueGraph(nodes: found.map(QueueGraph.Node.init), edges: edges)
    }
}

extension Operation {
    /// The operations that this one waits for, each once, with the reason.
    ///
    /// A gate is replaced by the operations that it waits for; of a queue, only the last operation in front is shown.
    fileprivate func causes(in queues: ExclusivitySnapshot) -> [(Operation, QueueGraph.Edge.Kind)] {
        var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
        var causes: [(Operation, QueueGraph.Edge.Kind)] = []
        func add(_ cause: Operation, _ kind: QueueGraph.Edge.Kind) {
            if seen.insert(ObjectIdentifier(cause)).inserted { causes.append((cause, kind)) }
        }
        let members = (self as? AnyRequestOperation)?.observer(GroupContents.self)?.ids ?? []
        for dependency in dependencies {
            if let gate = dependency as? OperationGate {
                for cause in gate.dependencies { add(cause, .dependency) }
                for last in queues.operations(before: gate) { add(last, .exclusivity) }
            } else {
                add(dependency, members.contains(ObjectIdentifier(dependency)) ? .membership : .dependency)
            }
        }
        return causes
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
    /// The state, if the result determines it.
    fileprivate var stateOfResult: QueueGraph.State? {
        guard let result = core.withLock({ $0.result }) else { return nil }
        guard let error = type(of: self).failure(in: result) else { return isFinished ? .finished : .executing }
        let isCancellation = (error as? RequestError).map { $0.code == .cancelled } ?? isCancelled
        return isCancellation ? .cancelled : .failed
    }
}
