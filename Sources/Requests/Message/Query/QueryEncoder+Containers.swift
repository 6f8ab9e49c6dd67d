// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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

    /// What a value writes itself to.
    struct NodeEncoder: Encoder {
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

        func singleValueContainer() -> any SingleValueEncodingContainer {
            SingleContainer(encoder: self)
        }

        /// The encoder of a new child; nobody sees what it writes where that would be too deep.
        fileprivate func child(_ key: any CodingKey, add: (Node) -> Void) -> NodeEncoder {
            let path = codingPath + [key]
            let child = session.child(of: node, at: path)
            if let child { add(child) }
            // A path that doesn't grow any more, where there is no end to it.
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
            child(key).node.content = .null
        }

        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            let child = child(key)
            try encoder.session.write(value, to: child.node, at: child.codingPath)
        }

        private func encodeOptional<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
            if let value { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
        }

        // By default nothing is written for nil; here the options say what is, and each type has a method of its own.
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
            child().node.content = .null
        }

        func encode<Value: Encodable>(_ value: Value) throws {
            let child = child()
            try encoder.session.write(value, to: child.node, at: child.codingPath)
        }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            child().container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyedContainer() }

        func superEncoder() -> any Encoder { child() }
    }

    private struct SingleContainer: SingleValueEncodingContainer {
        let encoder: NodeEncoder
        var codingPath: [any CodingKey] { encoder.codingPath }

        func encodeNil() throws {
            encoder.node.content = .null
        }

        func encode<Value: Encodable>(_ value: Value) throws {
            try encoder.session.write(value, to: encoder.node, at: codingPath)
        }
    }
}
