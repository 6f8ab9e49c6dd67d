// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension QueryEncoder {
    /// A name or an index on the path to a value.
    struct Name: CodingKey {
        let stringValue: String
        let intValue: Int?

        init(_ name: String) {
            (stringValue, intValue) = (name, nil)
        }

        init(_ index: Int) {
            (stringValue, intValue) = (String(index), index)
        }

        init?(stringValue: String) {
            self.init(stringValue)
        }

        init?(intValue: Int) {
            self.init(intValue)
        }
    }

    /// The encoder of one value, and its container for a single value, which writes to a node.
    struct NodeEncoder: Encoder, SingleValueEncodingContainer {
        let session: Session
        let node: Node
        let codingPath: [any CodingKey]
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            switch node.content {
            case .object: break  // A subclass goes on where its superclass stopped.
            case .nothing: node.content = .object([])
            case .null, .text, .list: session.fail("is written in two ways", at: codingPath)
            }
            return KeyedEncodingContainer(KeyedContainer<Key>(encoder: self))
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer {
            switch node.content {
            case .list: break
            case .nothing: node.content = .list([])
            case .null, .text, .object: session.fail("is written in two ways", at: codingPath)
            }
            return UnkeyedContainer(encoder: self)
        }

        func singleValueContainer() -> any SingleValueEncodingContainer { self }

        func encodeNil() { node.content = .null }

        func encode(_ value: some Encodable) throws { try session.write(value, to: node, at: codingPath) }

        /// The encoder of a new child; if that would be too deep, its output is discarded.
        fileprivate func child(_ key: any CodingKey, add: (Node) -> Void) -> NodeEncoder {
            let path = codingPath + [key]
            let child = session.child(of: node, at: path)
            if let child { add(child) }
            // A path that doesn't grow any more, for values that nest without end.
            return NodeEncoder(
                session: session,
                node: child ?? Node(depth: node.depth),
                codingPath: child == nil ? codingPath : path
            )
        }
    }

    private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: NodeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        private func child(_ key: any CodingKey) -> NodeEncoder {
            encoder.child(key) { encoder.node.setChild($0, named: key.stringValue) }
        }

        func encodeNil(forKey key: Key) throws {
            child(key).encodeNil()
        }

        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            try child(key).encode(value)
        }

        private func encodeOptional<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
        }

        // By default nothing is written for `nil`; here the options decide, and each type has a method of its own.
        func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            try encodeOptional(value, forKey: key)
        }
        func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
        func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            child(key).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            child(key).unkeyedContainer()
        }

        func superEncoder() -> any Encoder { child(Name("super")) }

        func superEncoder(forKey key: Key) -> any Encoder { child(key) }
    }

    private struct UnkeyedContainer: UnkeyedEncodingContainer {
        let encoder: NodeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        var count: Int {
            guard case .list(let members) = encoder.node.content else { return 0 }
            return members.count
        }

        private func child() -> NodeEncoder {
            encoder.child(Name(count)) { encoder.node.append($0) }
        }

        func encodeNil() throws {
            child().encodeNil()
        }

        func encode<Value: Encodable>(_ value: Value) throws {
            try child().encode(value)
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            child().container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyedContainer() }

        func superEncoder() -> any Encoder { child() }
    }
}

// MARK: - Node

extension QueryEncoder {
    /// A value on its way into the query.
    ///
    /// It is a class because containers keep writing into it after they were handed out.
    final class Node {
        enum Content {
            /// Nothing was written.
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

        /// Sets the child of a name; of several, the last one written counts.
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

        /// Sorts the values of a dictionary or a set, whose own order differs between runs.
        func sort() {
            switch content {
            case .object(let names): content = .object(names.sorted())
            case .list(let members):
                let keyed = members.map { ($0.sortKey, $0) }
                content = .list(keyed.sorted { $0.0 < $1.0 }.map(\.1))
            case .nothing, .null, .text: break
            }
        }

        /// A text that differs for nodes that are printed differently.
        private var sortKey: String {
            switch content {
            case .nothing, .null: ""
            case .text(let text): text
            case .list(let members): members.map(\.sortKey).joined(separator: "\u{1}")
            case .object(let names):
                names.map { "\($0)=\(children[$0]?.sortKey ?? "")" }.joined(separator: "\u{2}")
            }
        }
    }

    /// The state of one call of an encoder, shared by its containers.
    final class Session {
        let options: QueryEncoder
        /// The error of a method that can't throw.
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

        /// A node below another; if it would be too deep, `nil`, and the call fails.
        func child(of node: Node, at path: [any CodingKey]) -> Node? {
            guard node.depth < QueryEncoder.maximalDepth else {
                fail("is nested too deeply", at: path)
                return nil
            }
            return Node(depth: node.depth + 1)
        }

        /// Runs the closure one level deeper, unless that is too deep.
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
            if value is any Unordered { node.sort() }
        }
    }
}

/// A marker protocol for sets, and for dictionaries that are objects, of any element.
private protocol Unordered {}
extension Set: Unordered {}
extension Dictionary: Unordered where Key: CodingKeyRepresentable {}

// MARK: - Untyped

extension QueryEncoder.Session {
    /// Writes a value whose type is known only at run time.
    func writeUntyped(_ value: Any, to node: QueryEncoder.Node, at path: [any CodingKey]) throws {
        try descend(at: path) {
            if let optional = value as? any Wrapping {
                guard let wrapped = optional.wrapped else { return node.content = .null }
                return try writeUntyped(wrapped, to: node, at: path)
            }
            if value is NSNull { return node.content = .null }
            // Before the Swift types, because on Apple platforms an `NSNumber` can be cast to Bool.
            if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
                return node.content = .text(try text(ofObject: number, at: path))
            }
            if let text = try options.text(of: value, at: path) { return node.content = .text(text) }
            if let dictionary = value as? [String: Any] {
                node.content = .object([])
                for key in dictionary.keys.sorted() {
                    guard let value = dictionary[key] else { continue }
                    let path = path + [QueryEncoder.Name(key)]
                    guard let child = child(of: node, at: path) else { return }
                    try writeUntyped(value, to: child, at: path)
                    node.setChild(child, named: key)
                }
            } else if let members = value as? [Any] {
                try writeMembers(members, to: node, at: path)
            } else if let members = value as? Set<AnyHashable> {
                try writeMembers(Array(members), to: node, at: path)
                node.sort()
            } else if let value = value as? any Encodable {
                try write(value, to: node, at: path)
            } else {
                throw Self.failure("is a \(type(of: value)), which has no place in a query", at: path)
            }
        }
    }

    private func writeMembers(_ members: [Any], to node: QueryEncoder.Node, at path: [any CodingKey]) throws {
        node.content = .list([])
        for (index, member) in members.enumerated() {
            let path = path + [QueryEncoder.Name(index)]
            guard let child = child(of: node, at: path) else { return }
            try writeUntyped(member, to: child, at: path)
            node.append(child)
        }
    }

    private func text(ofObject number: NSNumber, at path: [any CodingKey]) throws -> String {
        if number.isBool { return options.bools.text(of: number.boolValue) }
        guard number.doubleValue.isFinite else { throw Self.failure("isn't a finite number", at: path) }
        return number.stringValue
    }
}

extension NSNumber {
    fileprivate var isBool: Bool {
        #if canImport(Darwin)
        CFGetTypeID(self) == CFBooleanGetTypeID()
        #else
        ["c", "B"].contains(String(cString: objCType))
        #endif
    }
}

/// An optional of any type.
private protocol Wrapping {
    var wrapped: Any? { get }
}

extension Optional: Wrapping {
    fileprivate var wrapped: Any? { self }
}
