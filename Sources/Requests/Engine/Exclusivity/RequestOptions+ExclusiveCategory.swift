// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RequestOptions {
    /// A category of operations of which only one may run at a time, on all queues together.
    ///
    /// ```swift
    /// queue.addRequest(RenameRequest(file)) …   // with options.exclusivity = ["rename"]
    /// queue.addOperation(migration, exclusive: [ExclusiveCategory(Database.self)])
    /// ```
    ///
    /// A category is a value, such as a name or the identifier of a document, or a type. Equal values of one type are
    /// one category. An operation may be in several: it runs when it is the only one in all of them.
    ///
    /// A waiting operation takes no slot of its operation queue. It begins to wait when all its dependencies are
    /// finished; several operations that depended on the same one begin in no particular order. The highest priority at
    /// that time comes first, and among equals the operation that began to wait first. An operation holds its
    /// categories until it is finished, or cancelled before its start. It gets all of them together, so that two
    /// operations can't wait for each other.
    public struct ExclusiveCategory: Sendable, Hashable, CustomStringConvertible {
        private let value: any Hashable & Sendable

        /// The category of a value.
        public init(_ value: some Hashable & Sendable) {
            self.value = value
        }

        /// The category of a type.
        public init(_ type: Any.Type) {
            value = TypeName(id: ObjectIdentifier(type), name: String(describing: type))
        }

        /// The value, or the name of the type.
        public var description: String { String(describing: value).shortened() }

        /// Compares the types and the values: 1 as an `Int` and 1 as an `Int64` are two categories.
        public static func == (lhs: ExclusiveCategory, rhs: ExclusiveCategory) -> Bool {
            type(of: lhs.value) == type(of: rhs.value) && AnyHashable(lhs.value) == AnyHashable(rhs.value)
        }

        /// Hashes the value.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(AnyHashable(value))
        }

        private struct TypeName: Hashable, Sendable, CustomStringConvertible {
            let id: ObjectIdentifier
            let name: String

            var description: String { name }
        }
    }
}

extension RequestOptions.ExclusiveCategory: ExpressibleByStringInterpolation {
    /// The category of a name, such as `"document \(id)"`.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension RequestOptions {
    // The operation waits before its request is sent.
    private enum Exclusivity: RequestOption {
        static let unset: Set<RequestOptions.ExclusiveCategory> = []
        static let isPartOfFingerprint = false
        static func combine(_ value: Value, with base: Value) -> Value { value.union(base) }
    }

    /// The categories of which only one operation may run at a time, on all queues together; none by default.
    ///
    /// They take effect if the operation is added by ``RequestQueue``, by a client or by a group. An operation that was
    /// added with `addOperation` of `OperationQueue` fails, and so does a request that is made from results: name them
    /// in the call that adds it.
    public var exclusivity: Set<RequestOptions.ExclusiveCategory> {
        get { self[Exclusivity.self] }
        set { self[Exclusivity.self] = newValue }
    }
}
