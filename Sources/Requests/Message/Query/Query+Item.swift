// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Query {
    /// A name and its value, or a name alone.
    public struct Item: Sendable, Hashable {
        /// The name, as it is meant: not escaped.
        public var name: String
        /// The value, as it is meant: not escaped; nil for a name that stands alone, as `flag` does in `?flag`.
        public var value: String?

        /// Makes an item of a name, and of a text, a number or a bool.
        public init(_ name: String, value: (any ValueConvertible)? = nil) {
            self.name = name
            self.value = value?.queryValue
        }
    }

    /// What is an item of a query: a type that knows its own name and value.
    ///
    /// ```swift
    /// struct Page: Query.ItemConvertible {
    ///     var number: Int
    ///     var queryItem: Query.Item { Query.Item("page", value: number) }
    /// }
    /// query.append(Page(number: 2))
    /// ```
    public protocol ItemConvertible: Sendable {
        /// The item.
        var queryItem: Query.Item { get }
    }
}

extension Query.Item: Query.ItemConvertible {
    /// The item itself.
    public var queryItem: Query.Item { self }
}

extension Query.Item: CustomStringConvertible {
    /// The name; the value may be a secret.
    public var description: String { "\(name.shortened())\(value == nil ? "" : "=…")" }
}
