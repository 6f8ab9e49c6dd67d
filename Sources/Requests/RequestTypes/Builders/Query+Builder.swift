// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Query {
    /// Builds a query of parameters, conditions and loops.
    ///
    /// Parameters are written `Item("page", value: "2")`; values of your own that are ``Query/ItemConvertible`` may
    /// stand beside them. A call without a value, such as one that logs, is allowed.
    @resultBuilder
    public enum Builder {
        /// A parameter, or a value that is one.
        public static func buildExpression(_ item: some Query.ItemConvertible) -> [Query.Item] { [item.queryItem] }
        /// Another query.
        public static func buildExpression(_ query: Query) -> [Query.Item] { Array(query) }
        /// A call without a value.
        public static func buildExpression(_ nothing: Void) -> [Query.Item] { [] }
        /// One statement behind the other.
        public static func buildBlock(_ items: [Query.Item]...) -> [Query.Item] { items.flatMap { $0 } }
        /// An `if` without an `else`.
        public static func buildOptional(_ items: [Query.Item]?) -> [Query.Item] { items ?? [] }
        /// An `if`, or a case of a `switch`.
        public static func buildEither(first items: [Query.Item]) -> [Query.Item] { items }
        /// An `else`, or another case of a `switch`.
        public static func buildEither(second items: [Query.Item]) -> [Query.Item] { items }
        /// A `for` loop.
        public static func buildArray(_ items: [[Query.Item]]) -> [Query.Item] { items.flatMap { $0 } }
        /// An `if #available`.
        public static func buildLimitedAvailability(_ items: [Query.Item]) -> [Query.Item] { items }
        /// The query.
        public static func buildFinalResult(_ items: [Query.Item]) -> Query { Query(items) }
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns a query parameter; `nil` for one that has no value.
public func Item(_ name: String, value: (any Query.ValueConvertible)?) -> Query.Item { Query.Item(name, value: value) }
