// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RequestOptions {
    /// A category in which only one operation may run at a time, across all queues.
    ///
    /// ```swift
    /// queue.addRequest(RenameRequest(file)) …   // with options.exclusivity = ["rename"]
    /// queue.addOperation(migration, exclusive: [ExclusiveCategory(Database.self)])
    /// ```
    ///
    /// A category is a type, or a value such as a name or the identifier of a document. Equal values of the same type
    /// are the same category. An operation may have several categories: it runs when no other operation holds any of
    /// them.
    ///
    /// A waiting operation doesn't occupy a slot of its operation queue. It begins to wait when all its dependencies
    /// are finished. If several operations depended on the same operation, they begin to wait in no particular order.
    /// The operation with the highest priority at that time comes first; among equal priorities, the one that began to
    /// wait first. An operation holds its categories until it is finished, or until it is cancelled before its start.
    /// It gets all of them simultaneously, so two operations can't wait for each other.
    public struct ExclusiveCategory: Sendable, Hashable, CustomStringConvertible {
        private let value: any Hashable & Sendable

        /// Creates the category of a value.
        public init(_ value: some Hashable & Sendable) {
            self.value = value
        }

        /// Creates the category of a type.
        public init(_ type: Any.Type) {
            value = TypeName(id: ObjectIdentifier(type), name: String(describing: type))
        }

        /// The value, or the name of the type.
        public var description: String { String(describing: value).shortened() }

        /// Compares the types and the values, so 1 as an `Int` and 1 as an `Int64` are different categories.
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
    /// Creates the category of a name, such as `"document \(id)"`.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension RequestOptions {
    // Exclusivity isn't part of the fingerprint, because the operation waits for its categories before its request is
    // sent.
    private enum Exclusivity: RequestOption {
        static let unset: Set<RequestOptions.ExclusiveCategory> = []
        static let isPartOfFingerprint = false
        static func combine(_ value: Value, with base: Value) -> Value { value.union(base) }
    }

    /// The categories in which only one operation may run at a time, across all queues; none by default.
    ///
    /// The categories take effect if a ``RequestQueue``, a client or a group adds the operation. An operation with this
    /// option fails if it was added with the `addOperation` of `OperationQueue`. A request that is created from the
    /// results of other operations fails with this option, because its categories must be known earlier: pass them to
    /// the call that adds the request.
    public var exclusivity: Set<RequestOptions.ExclusiveCategory> {
        get { self[Exclusivity.self] }
        set { self[Exclusivity.self] = newValue }
    }
}
