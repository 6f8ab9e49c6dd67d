// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension QueryEncoder {
    /// The state of one call to `encode`, shared by its containers.
    final class Session {
        let options: QueryEncoder
        /// The first error of a method that can't throw.
        private(set) var failure: InvalidValue?

        init(options: QueryEncoder) {
            self.options = options
        }

        func fail(_ reason: String, at path: [any CodingKey]) {
            failure = failure ?? QueryEncoder.failure(reason, at: path)
        }
    }

    static func failure(_ reason: String, at path: [any CodingKey]) -> InvalidValue {
        InvalidValue(.query, reason, excerpt: path.prefix(16).map(\.stringValue).joined(separator: "."))
    }

    /// An encoder that encodes one value into a node, and is also its own single-value container.
    struct NodeEncoder: Encoder, SingleValueEncodingContainer {
        let session: Session
        let node: Node
        var codingPath: [any CodingKey] = []
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            setContent(.object)
            return KeyedEncodingContainer(KeyedContainer<Key>(encoder: self))
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer {
            setContent(.list)
            return UnkeyedContainer(encoder: self)
        }

        private func setContent(_ content: Node.Content) {
            // The content may already be set, because a superclass and its subclass both request a container.
            guard node.content == .nothing || node.content == content else {
                return session.fail("is encoded both as a list and as an object", at: codingPath)
            }
            node.content = content
        }

        func singleValueContainer() -> any SingleValueEncodingContainer { self }

        func encodeNil() { node.content = .null }

        func encode<Value: Encodable>(_ value: Value) throws {
            // Compare the types first, because a cast is much slower.
            let untyped = Value.self == Untyped.self ? value as? Untyped : nil
            let options = session.options
            let text =
                if let untyped { try options.text(ofUntyped: untyped.value, at: codingPath) } else {
                    try options.text(of: value, at: codingPath)
                }
            if let text { return node.content = .text(text) }
            guard node.depth < QueryEncoder.maximumDepth else {
                throw QueryEncoder.failure("is nested too deeply", at: codingPath)
            }
            if untyped == nil { node.depth += 1 }
            defer { if untyped == nil { node.depth -= 1 } }
            try value.encode(to: self)
            if let failure = session.failure { throw failure }
            if (untyped?.value ?? value) is any Unordered { node.sort(with: options) }
        }

        /// Returns an encoder for a new child node, whose output is discarded if it is nested too deeply.
        fileprivate func child(_ key: any CodingKey, add: (Node) -> Void) -> NodeEncoder {
            let child = Node(depth: node.depth)
            guard codingPath.count < QueryEncoder.maximumDepth else {
                session.fail("is nested too deeply", at: codingPath)
                return NodeEncoder(session: session, node: child, codingPath: codingPath)
            }
            add(child)
            return NodeEncoder(session: session, node: child, codingPath: codingPath + [key])
        }
    }

    private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: NodeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        private func child(_ key: any CodingKey) -> NodeEncoder {
            encoder.child(key) { encoder.node.set($0, named: key.stringValue) }
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

        // The default implementations encode nothing for `nil`, but in this encoder, an option determines how `nil` is
        // encoded. The protocol has a separate requirement for each type.
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

        func superEncoder() -> any Encoder { child("super".codingKey) }

        func superEncoder(forKey key: Key) -> any Encoder { child(key) }
    }

    private struct UnkeyedContainer: UnkeyedEncodingContainer {
        let encoder: NodeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }
        var count: Int { encoder.node.members.count }

        private func child() -> NodeEncoder {
            encoder.child(count.codingKey) { encoder.node.members.append($0) }
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
    /// An encoded value, before it is flattened to items of the query.
    ///
    /// The type is a class, because containers still add to a node after the encoder has returned them.
    final class Node {
        enum Content: Equatable {
            /// Nothing has been encoded yet.
            case nothing
            case null
            case text(String)
            case list
            case object
        }

        var content = Content.nothing
        /// The number of values that enclose the value being encoded.
        ///
        /// The depth is stored here rather than in the encoder, so that the encoder fits into the three-word buffer of
        /// an existential.
        var depth: Int
        /// The elements of a list, in their order.
        var members: [Node] = []
        /// The keys of an object, in the order in which they were first encoded.
        private(set) var names: [String] = []
        private(set) var children: [String: Node] = [:]

        init(depth: Int = 0) {
            self.depth = depth
        }

        /// Sets the child for a name, replacing any previous child.
        func set(_ child: Node, named name: String) {
            if children.updateValue(child, forKey: name) == nil { names.append(name) }
        }

        /// Sorts the values of a dictionary or a set, whose order differs between runs of a program.
        func sort(with options: QueryEncoder) {
            names.sort()
            guard !members.isEmpty else { return }
            let keyed = members.map { member in
                var items: [Query.Item] = []
                options.append(member, named: "", to: &items)
                return (items.map { "\($0.name)=\($0.value ?? "")" }.joined(), member)
            }
            members = keyed.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}

/// Marks collections without a defined order, that is, sets, and dictionaries that are encoded as objects.
private protocol Unordered {}
extension Set: Unordered {}
extension NSSet: Unordered {}
extension Dictionary: Unordered where Key: CodingKeyRepresentable {}

// MARK: - Untyped

extension QueryEncoder {
    /// A value whose type is known only at run time.
    struct Untyped: Encodable {
        let value: Any

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case let optional as any AnyOptional:
                guard let wrapped = optional.wrapped else { return try container.encodeNil() }
                try container.encode(Untyped(value: wrapped))
            case is NSNull: try container.encodeNil()
            case let members as [String: Any]: try container.encode(members.mapValues(Untyped.init))
            case let members as [Any]: try container.encode(members.map(Untyped.init))
            case let value as any Encodable: try container.encode(value)
            case let members as Set<AnyHashable>: try container.encode(members.map { Untyped(value: $0.base) })
            default:
                throw QueryEncoder.failure("is a \(type(of: value)), which can't be encoded", at: encoder.codingPath)
            }
        }
    }
}
