// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension QueryEncoder {
    /// A value on its way into the query.
    ///
    /// It is a class since containers go on writing into it after they were handed out.
    final class Node {
        enum Content {
            /// What never wrote anything.
            case nothing
            case null
            case text(String)
            case list([Node])
            /// The names, in their order; the values are the node's children.
            case object([String])
        }

        let depth: Int
        var content = Content.nothing
        private(set) var children: [String: Node] = [:]

        init(depth: Int) {
            self.depth = depth
        }

        /// The child of a name, which is a new one where there was another: the last one written counts.
        func setChild(_ child: Node, named name: String) {
            guard case .object(var names) = content else { return }
            content = .nothing  // Or the array would be copied.
            if children.updateValue(child, forKey: name) == nil { names.append(name) }
            content = .object(names)
        }

        func append(_ child: Node) {
            guard case .list(var members) = content else { return }
            content = .nothing  // Or the array would be copied.
            members.append(child)
            content = .list(members)
        }

        /// Puts what comes from a dictionary or a set, in the order of hash values, into the same order each time.
        func sort() {
            switch content {
            case .object(let names): content = .object(names.sorted())
            case .list(let members): content = .list(members.sorted { $0.sortKey < $1.sortKey })
            case .nothing, .null, .text: break
            }
        }

        private var sortKey: String {
            guard case .text(let text) = content else { return "" }
            return text
        }
    }

    /// One call of an encoder: what its containers share.
    final class Session {
        let options: QueryEncoder
        /// What went wrong where nothing can be thrown.
        private(set) var failure: InvalidRequest?
        private var depth = 0

        init(options: QueryEncoder) {
            self.options = options
        }

        func fail(_ reason: String, at path: [any CodingKey]) {
            failure = failure ?? Self.failure(reason, at: path)
        }

        static func failure(_ reason: String, at path: [any CodingKey]) -> InvalidRequest {
            InvalidRequest(.query, reason, excerpt: path.prefix(16).map(\.stringValue).joined(separator: "."))
        }

        /// A node below another; a stray one, which nobody sees, where it would be too deep.
        func child(of node: Node, at path: [any CodingKey]) -> Node? {
            guard node.depth < QueryEncoder.maximalDepth else {
                fail("is nested too deeply", at: path)
                return nil
            }
            return Node(depth: node.depth + 1)
        }

        /// Does something one level deeper, unless that is too deep.
        func descend(at path: [any CodingKey], _ body: () throws -> Void) throws {
            guard depth < QueryEncoder.maximalDepth else { throw Self.failure("is nested too deeply", at: path) }
            depth += 1
            defer { depth -= 1 }
            try body()
            if let failure { throw failure }
        }

        func write<Value: Encodable>(_ value: Value, to node: Node, at path: [any CodingKey]) throws {
            if let text = try options.text(of: value, at: path) { return node.content = .text(text) }
            try descend(at: path) {
                try value.encode(to: NodeEncoder(session: self, node: node, codingPath: path))
            }
            switch Value.self {
            case is any UnorderedSet.Type: node.sort()
            case is any UnorderedDictionary.Type: if case .object = node.content { node.sort() }
            default: break
            }
        }
    }
}

/// What a set and a dictionary are known by, whatever they hold.
private protocol UnorderedSet {}
private protocol UnorderedDictionary {}
extension Set: UnorderedSet {}
extension Dictionary: UnorderedDictionary {}
