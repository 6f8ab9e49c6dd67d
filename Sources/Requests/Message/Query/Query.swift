// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An ordered list of name–value pairs: the query of a URL, or the fields of a URL-encoded form.
///
/// ```swift
/// var query: Query = ["q": text, "page": 2, "flag": nil]
/// query.append("tag", value: "a&b")
/// query.percentEncoded  // q=…&page=2&flag&tag=a%26b
/// ```
///
/// A query keeps all items in their order, including items with the same name. Names and values are stored unescaped.
/// They are percent-encoded only once, when the query is serialized, so don't escape them yourself.
///
/// - Complexity: A lookup is O(n) in the number of items. Queries are short, so a linear scan is faster than hashing.
public struct Query: Sendable, Hashable {
    private var items: [Item]
    /// How a space is encoded; by default as `%20`, which every server understands.
    public var spaces: Spaces

    /// Creates an empty query.
    public init() {
        self.init([Item]())
    }

    /// Creates a query from items, in the given order.
    public init(_ items: [Item], spaces: Spaces = .percent) {
        self.items = items
        self.spaces = spaces
    }

    /// Creates a query from a dictionary, sorted by name so that the order is deterministic.
    @_disfavoredOverload
    public init(_ dictionary: [String: some ValueConvertible]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { Item($0.key, value: $0.value) })
    }

    /// The value of the first item with the name; `nil` if there is no such item, or if it has no value.
    ///
    /// Setting a value replaces all items that have the name with a single item. Setting `nil` removes them.
    public subscript(name: String) -> String? {
        get { items.first { $0.name == name }?.value }
        set {
            guard let newValue else { return remove(named: name) }
            set(newValue, for: name)
        }
    }

    /// The values of all items with the name, in their order; items without a value are skipped.
    public subscript(values name: String) -> [String] {
        items.lazy.filter { $0.name == name }.compactMap(\.value)
    }

    /// Returns whether there is an item with the name, even one without a value.
    public func contains(_ name: String) -> Bool {
        items.contains { $0.name == name }
    }

    /// Appends an item, even if there is already one with the same name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value; `nil` for a name without a value, such as `flag` in `?flag`.
    public mutating func append(_ name: String, value: (any ValueConvertible)? = nil) {
        items.append(Item(name, value: value))
    }

    /// Appends an item, even if there is already one with the same name.
    public mutating func append(_ item: some ItemConvertible) {
        items.append(item.queryItem)
    }

    /// Appends items, in their order.
    public mutating func append(contentsOf items: some Sequence<Item>) {
        self.items.append(contentsOf: items)
    }

    /// Appends the items of another query, in their order.
    ///
    /// The query keeps its ``spaces`` setting. Only an empty query adopts the setting of the other query.
    public mutating func append(contentsOf query: Query) {
        if isEmpty, !query.isEmpty { spaces = query.spaces }
        items.append(contentsOf: query.items)
    }

    /// Replaces all items that have the name with a single item, at the position of the first of them.
    ///
    /// If there is no such item, a new item is appended.
    ///
    /// - Parameters:
    ///   - value: The value; `nil` for a name without a value.
    ///   - name: The name.
    public mutating func set(_ value: (any ValueConvertible)?, for name: String) {
        guard let first = items.firstIndex(where: { $0.name == name }) else { return append(name, value: value) }
        items[first] = Item(name, value: value)
        items[(first + 1)...].removeAll { $0.name == name }
    }

    /// Removes all items with the name.
    public mutating func remove(named name: String) {
        items.removeAll { $0.name == name }
    }

    /// Removes all items that satisfy the condition.
    ///
    /// - Throws: Any error that the condition throws.
    public mutating func removeAll(where condition: (Item) throws -> Bool) rethrows {
        try items.removeAll(where: condition)
    }
}

extension Query: RandomAccessCollection {
    /// The position of the first item.
    public var startIndex: Int { items.startIndex }
    /// The position after the last item.
    public var endIndex: Int { items.endIndex }
    /// The item at a position.
    public subscript(position: Int) -> Item { items[position] }
}

extension Query: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates a query from items, in the given order.
    public init(arrayLiteral elements: Item...) {
        self.init(elements)
    }

    /// Creates a query from names and values, in the given order.
    ///
    /// A name may be repeated. A value of `nil` creates an item without a value, such as `flag` in `?flag`.
    public init(dictionaryLiteral elements: (String, (any ValueConvertible)?)...) {
        self.init(elements.map { Item($0, value: $1) })
    }
}

extension Query: CustomStringConvertible {
    /// The names of the items, without their values, which may be secrets.
    public var description: String {
        items.map(\.description).joined(separator: "&")
    }
}

// MARK: - Item

extension Query {
    /// A name with a value, or a name without one.
    public struct Item: Sendable, Hashable {
        /// The name, unescaped.
        public var name: String
        /// The value, unescaped; `nil` for a name without a value, such as `flag` in `?flag`.
        public var value: String?

        /// Creates an item from a name and a value, such as a string, a number or a Boolean value.
        public init(_ name: String, value: (any ValueConvertible)? = nil) {
            self.name = name
            self.value = value?.queryValue
        }
    }

    /// A type that provides an item of a query, that is, both a name and a value.
    ///
    /// ```swift
    /// struct Page: Query.ItemConvertible {
    ///     var number: Int
    ///     var queryItem: Query.Item { Query.Item("page", value: number) }
    /// }
    /// query.append(Page(number: 2))
    /// ```
    public protocol ItemConvertible: Sendable {
        /// The item of the query.
        var queryItem: Query.Item { get }
    }
}

extension Query.Item: Query.ItemConvertible {
    /// The item itself.
    public var queryItem: Query.Item { self }
}

extension Query.Item: DescribedMirror {
    /// The name, without the value, which may be a secret.
    public var description: String { "\(name.shortened())\(value == nil ? "" : "=…")" }
}

extension Query: CustomReflectable {
    /// A mirror of the items, without their values.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: items, displayStyle: .collection) }
}

// MARK: - Percent encoding

extension Query {
    /// How a space is encoded, and what a `+` means when a query is parsed.
    ///
    /// A `+` is a plus sign in a URL (RFC 3986) but a space in a form (WHATWG URL, 5), and many servers parse both like
    /// forms. A plus sign is therefore always encoded as `%2B`. Only the encoding of a space is a choice.
    public enum Spaces: Sendable, Hashable {
        /// Encodes a space as `%20`, which every server understands, and parses a `+` as a plus sign.
        case percent
        /// Encodes a space as `+`, and parses a `+` as a space.
        case plus
    }

    /// Creates a query by parsing the percent-encoded query of a URL, without its `?`.
    ///
    /// Parsing never fails. A `%` that isn't followed by two hexadecimal digits is kept, invalid UTF-8 becomes U+FFFD,
    /// and an empty item, such as the one in `a&&b`, is skipped. Parsing the output of ``percentEncoded`` gives the
    /// same items.
    ///
    /// - Parameters:
    ///   - text: The query.
    ///   - spaces: The meaning of a `+`, by default a plus sign. The query also uses this setting when it is
    ///     serialized.
    /// - Complexity: O(n) in the length of the query.
    public init(percentEncoded text: String, spaces: Spaces = .percent) {
        let items = Array(text.utf8).split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            let value = name.endIndex < item.endIndex ? item[(name.endIndex + 1)...] : nil
            return Item(Self.decodedText(of: name, spaces), value: value.map { Self.decodedText(of: $0, spaces) })
        }
        self.init(items, spaces: spaces)
    }

    private static func decodedText(of bytes: ArraySlice<UInt8>, _ spaces: Spaces) -> String {
        // Most names and values contain nothing to decode, so they needn't be copied.
        let isPlain = !bytes.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        return String(decoding: isPlain ? bytes : bytes.percentDecoded(spaces: spaces)[...], as: UTF8.self)
    }

    /// The percent-encoded query for a URL, without its `?`; empty if there are no items.
    ///
    /// Unreserved characters, `/` and `?` aren't escaped (RFC 3986, 3.4). All other characters are, including the plus
    /// sign and brackets. An item with an empty name and no value is omitted.
    ///
    /// - Complexity: O(n) in the length of the query.
    public var percentEncoded: String { percentEncoded(spaces: spaces) }

    /// Returns the percent-encoded query for a URL, with spaces encoded in the given way.
    ///
    /// - Complexity: O(n) in the length of the query.
    public func percentEncoded(spaces: Spaces) -> String {
        String(decoding: encoded(keeping: .queryItem, spaces: spaces, isForm: false), as: UTF8.self)
    }

    /// The query as the body of a form, `application/x-www-form-urlencoded` (WHATWG URL, 5.2).
    ///
    /// Letters, digits and `*-._` aren't escaped, and a space becomes `+`. An item without a value is serialized with
    /// an empty value, because every field of a form has a value.
    ///
    /// - Complexity: O(n) in the length of the query.
    public var formEncoded: Data { Data(encoded(keeping: .form, spaces: .plus, isForm: true)) }

    private func encoded(keeping kept: ASCIISet, spaces: Spaces, isForm: Bool) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(items.reduce(16) { $0 + $1.name.utf8.count + ($1.value?.utf8.count ?? 0) + 2 })
        for item in items where isForm || !item.name.isEmpty || item.value != nil {
            if !output.isEmpty { output.append(UInt8(ascii: "&")) }
            kept.append(item.name, to: &output, spaces: spaces)
            guard let value = item.value ?? (isForm ? "" : nil) else { continue }
            output.append(UInt8(ascii: "="))
            kept.append(value, to: &output, spaces: spaces)
        }
        return output
    }
}

// MARK: - Foundation

extension Query {
    /// Creates a query from Foundation's query items, in the given order.
    public init(_ items: [URLQueryItem]) {
        self.init(items.map { Item($0.name, value: $0.value) })
    }
}

// MARK: - Value convertible

extension Query {
    /// A value of a query, such as a string, a number or a Boolean value.
    ///
    /// A type that can be represented as a string conforms in one line. Its values can then be used in templates, too:
    ///
    /// ```swift
    /// enum Order: String, Query.ValueConvertible { case newest, oldest }
    /// let query: Query = ["order": Order.newest]
    /// ```
    public protocol ValueConvertible: URITemplate.ValueConvertible {
        /// The value as a string, not escaped.
        var queryValue: String { get }
    }
}

extension Query.ValueConvertible {
    /// The value for a template, as a string.
    public var templateValue: URITemplate.Value { .string(queryValue) }
}

extension RawRepresentable where Self: Query.ValueConvertible, RawValue: Query.ValueConvertible {
    /// The raw value as a string.
    public var queryValue: String { rawValue.queryValue }
}

extension Query.ValueConvertible where Self: BinaryInteger {
    /// The number in decimal digits.
    public var queryValue: String { description }
}

extension Query.ValueConvertible where Self: BinaryFloatingPoint & CustomStringConvertible {
    /// The shortest decimal representation that parses back to the same number.
    public var queryValue: String { description }
}

extension String: Query.ValueConvertible {
    /// The string itself.
    public var queryValue: String { self }
}

extension Substring: Query.ValueConvertible {
    /// The string itself.
    public var queryValue: String { String(self) }
}

extension Bool: Query.ValueConvertible {
    /// The string `true` or `false`.
    public var queryValue: String { self ? "true" : "false" }
}

extension UUID: Query.ValueConvertible {
    /// The uppercase string form of the UUID.
    public var queryValue: String { uuidString }
}

extension Int: Query.ValueConvertible {}
extension Int8: Query.ValueConvertible {}
extension Int16: Query.ValueConvertible {}
extension Int32: Query.ValueConvertible {}
extension Int64: Query.ValueConvertible {}
extension UInt: Query.ValueConvertible {}
extension UInt8: Query.ValueConvertible {}
extension UInt16: Query.ValueConvertible {}
extension UInt32: Query.ValueConvertible {}
extension UInt64: Query.ValueConvertible {}
extension Float: Query.ValueConvertible {}
extension Double: Query.ValueConvertible {}
