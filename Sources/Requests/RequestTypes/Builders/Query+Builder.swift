// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Query {
    /// Builds a query from parameters, conditions and loops.
    ///
    /// Write each parameter as `Item("page", value: "2")`, or use your own ``Query/ItemConvertible`` values. A call
    /// without a value, such as logging, is allowed.
    @resultBuilder
    public enum Builder {
        /// Adds a parameter, or a value that converts to a parameter.
        public static func buildExpression(_ item: some Query.ItemConvertible) -> [Query.Item] { [item.queryItem] }
        /// Adds the parameters of another query.
        public static func buildExpression(_ query: Query) -> [Query.Item] { Array(query) }
        /// Accepts a call without a value.
        public static func buildExpression(_ nothing: Void) -> [Query.Item] { [] }
        /// Joins the statements of a block.
        public static func buildBlock(_ items: [Query.Item]...) -> [Query.Item] { items.flatMap { $0 } }
        /// Supports an `if` without an `else`.
        public static func buildOptional(_ items: [Query.Item]?) -> [Query.Item] { items ?? [] }
        /// Supports an `if`, or a case of a `switch`.
        public static func buildEither(first items: [Query.Item]) -> [Query.Item] { items }
        /// Supports an `else`, or another case of a `switch`.
        public static func buildEither(second items: [Query.Item]) -> [Query.Item] { items }
        /// Supports a `for` loop.
        public static func buildArray(_ items: [[Query.Item]]) -> [Query.Item] { items.flatMap { $0 } }
        /// Supports `if #available`.
        public static func buildLimitedAvailability(_ items: [Query.Item]) -> [Query.Item] { items }
        /// Creates the query from all parameters.
        public static func buildFinalResult(_ items: [Query.Item]) -> Query { Query(items) }
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns a query parameter; a `nil` value means a name without a value.
public func Item(_ name: String, value: (any Query.ValueConvertible)?) -> Query.Item { Query.Item(name, value: value) }
