// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The query of an address, or the content of a form: names with a value each, in their order.
///
/// ```swift
/// var query: Query = ["q": text, "page": 2, "flag": nil]
/// query.append("tag", value: "a&b")
/// query.percentEncoded  // q=…&page=2&flag&tag=a%26b
/// ```
///
/// A name may be repeated; nothing is lost or reordered. Texts are stored unescaped and escaped exactly once, when the
/// query is printed, so they must not be escaped before.
///
/// - Complexity: A look-up is O(n) in the number of items, which is small: a linear scan is faster than hashing there.
public struct Query: Sendable, Hashable {
    private var items: [Item]
    /// The form of a printed space; `%20` by default, which every server understands.
    public var spaces: Spaces

    /// Makes a query without items.
    public init() {
        self.init([Item]())
    }

    /// Makes a query of items, in their order.
    public init(_ items: [Item], spaces: Spaces = .percent) {
        self.items = items
        self.spaces = spaces
    }

    /// Makes a query of a dictionary, in the alphabetical order of the names, so that the order is always the same.
    @_disfavoredOverload
    public init(_ dictionary: [String: some ValueConvertible]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { Item($0.key, value: $0.value) })
    }

    /// The value of the first item of the name, or `nil` if the query doesn't have the name or the item has no value.
    ///
    /// Setting it replaces every item of the name by one, `nil` removes them.
    public subscript(name: String) -> String? {
        get { items.first { $0.name == name }?.value }
        set {
            guard let newValue else { return remove(named: name) }
            set(newValue, for: name)
        }
    }

    /// The values of all items of the name that have one, in their order.
    public subscript(values name: String) -> [String] {
        items.lazy.filter { $0.name == name }.compactMap(\.value)
    }

    /// Whether there is an item of the name, with a value or without.
    public func contains(_ name: String) -> Bool {
        items.contains { $0.name == name }
    }

    /// Adds an item behind the others, also if there is one of the same name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value; `nil` for a name that stands alone, as `flag` does in `?flag`.
    public mutating func append(_ name: String, value: (any ValueConvertible)? = nil) {
        items.append(Item(name, value: value))
    }

    /// Adds an item behind the others, also if there is one of the same name.
    public mutating func append(_ item: some ItemConvertible) {
        items.append(item.queryItem)
    }

    /// Adds items behind the others, in their order.
    public mutating func append(contentsOf items: some Sequence<Item>) {
        self.items.append(contentsOf: items)
    }

    /// Adds the items of another query behind the others, in their order.
    ///
    /// Spaces are printed as before, unless the query was empty.
    public mutating func append(contentsOf query: Query) {
        if isEmpty, !query.isEmpty { spaces = query.spaces }
        items.append(contentsOf: query.items)
    }

    /// Replaces every item of the name by one, which takes the place of the first.
    ///
    /// - Parameters:
    ///   - value: The value; `nil` for a name that stands alone.
    ///   - name: The name.
    public mutating func set(_ value: (any ValueConvertible)?, for name: String) {
        guard let first = items.firstIndex(where: { $0.name == name }) else { return append(name, value: value) }
        items[first] = Item(name, value: value)
        items[(first + 1)...].removeAll { $0.name == name }
    }

    /// Removes every item of the name.
    public mutating func remove(named name: String) {
        items.removeAll { $0.name == name }
    }

    /// Removes every item that fulfils the condition.
    ///
    /// - Throws: Any error that the condition throws.
    public mutating func removeAll(where condition: (Item) throws -> Bool) rethrows {
        try items.removeAll(where: condition)
    }
}

extension Query: RandomAccessCollection {
    /// The position of the first item.
    public var startIndex: Int { items.startIndex }
    /// The position behind the last item.
    public var endIndex: Int { items.endIndex }
    /// The item at a position.
    public subscript(position: Int) -> Item { items[position] }
}

extension Query: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Makes a query of items, in their order.
    public init(arrayLiteral elements: Item...) {
        self.init(elements)
    }

    /// Makes a query of names and values, in their order; a name may be repeated, and stands alone if its value is
    /// `nil`.
    public init(dictionaryLiteral elements: (String, (any ValueConvertible)?)...) {
        self.init(elements.map { Item($0, value: $1) })
    }
}

extension Query: CustomStringConvertible {
    /// The names of the items; their values may be secrets.
    public var description: String {
        items.map(\.description).joined(separator: "&")
    }
}

// MARK: - Item

extension Query {
    /// A name and its value, or a name alone.
    public struct Item: Sendable, Hashable {
        /// The name, unescaped.
        public var name: String
        /// The value, unescaped; `nil` for a name that stands alone, as `flag` does in `?flag`.
        public var value: String?

        /// Makes an item of a name, and of a text, a number or a bool.
        public init(_ name: String, value: (any ValueConvertible)? = nil) {
            self.name = name
            self.value = value?.queryValue
        }
    }

    /// A type that makes an item of a query, with its own name and value.
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

extension Query.Item: DescribedMirror {
    /// The name; the value may be a secret.
    public var description: String { "\(name.shortened())\(value == nil ? "" : "=…")" }
}

extension Query: CustomReflectable {
    /// A mirror of the items, without their values.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: items, displayStyle: .collection) }
}

// MARK: - Percent encoding

extension Query {
    /// The form of a space, and the meaning of a `+`.
    ///
    /// In an address a `+` is a plus sign (RFC 3986), in a form it is a space (WHATWG URL, 5). Many servers read both
    /// like forms. Printed text therefore always has a plus sign as `%2B`, and only the form of the space varies.
    public enum Spaces: Sendable, Hashable {
        /// As `%20`, which every server understands; a `+` that is read is a plus sign.
        case percent
        /// As `+`; a `+` that is read is a space.
        case plus
    }

    /// Reads a query as it stands in an address, without its `?`.
    ///
    /// It never fails: a `%` that begins no `%XX` stands for itself, bytes that aren't UTF-8 become U+FFFD, and an
    /// empty piece between two `&` is skipped. Reading the output of ``percentEncoded`` gives the same items.
    ///
    /// - Parameters:
    ///   - text: The query.
    ///   - spaces: The meaning of a `+`: by default a plus sign. The query keeps it, and will be printed in the same
    ///     way.
    /// - Complexity: O(n).
    public init(percentEncoded text: String, spaces: Spaces = .percent) {
        let items = Array(text.utf8).split(separator: UInt8(ascii: "&")).map { piece in
            let name = piece.prefix { $0 != UInt8(ascii: "=") }
            let value = name.endIndex < piece.endIndex ? piece[(name.endIndex + 1)...] : nil
            return Item(Self.text(of: name, spaces), value: value.map { Self.text(of: $0, spaces) })
        }
        self.init(items, spaces: spaces)
    }

    private static func text(of piece: ArraySlice<UInt8>, _ spaces: Spaces) -> String {
        // Most pieces have nothing to decode, and needn't be copied.
        let isPlain = !piece.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        return String(decoding: isPlain ? piece : piece.percentDecoded(spaces: spaces)[...], as: UTF8.self)
    }

    /// The query as it stands in an address, without its `?`; empty if there are no items.
    ///
    /// Unreserved characters, `/` and `?` stay unescaped (RFC 3986, 3.4); all others are escaped, also the plus sign
    /// and brackets. An item without name and value isn't printed.
    ///
    /// - Complexity: O(n) in the length of the query.
    public var percentEncoded: String { percentEncoded(spaces: spaces) }

    /// The query as it stands in an address, with the given form of spaces.
    ///
    /// - Complexity: O(n) in the length of the query.
    public func percentEncoded(spaces: Spaces) -> String {
        String(decoding: encoded(keeping: .queryItem, spaces: spaces, isForm: false), as: UTF8.self)
    }

    /// The query as the content of a form: `application/x-www-form-urlencoded` (WHATWG URL, 5.2).
    ///
    /// Letters, digits and `*-._` stay unescaped, a space becomes `+`, and a name without a value gets an empty one,
    /// since a form has no names without values.
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
    /// Makes a query of Foundation's items, in their order.
    public init(_ items: [URLQueryItem]) {
        self.init(items.map { Item($0.name, value: $0.value) })
    }
}

// MARK: - Value convertible

extension Query {
    /// A value in a query: a text, a number, a bool.
    ///
    /// A type of your own that has a text form conforms in a line, and can then be used in templates too:
    ///
    /// ```swift
    /// enum Order: String, Query.ValueConvertible { case newest, oldest }
    /// let query: Query = ["order": Order.newest]
    /// ```
    public protocol ValueConvertible: URITemplate.ValueConvertible {
        /// The value as a text, not escaped.
        var queryValue: String { get }
    }
}

extension Query.ValueConvertible {
    /// The value as a template takes it: a text.
    public var templateValue: URITemplate.Value { .string(queryValue) }
}

extension RawRepresentable where Self: Query.ValueConvertible, RawValue: Query.ValueConvertible {
    /// The raw value as a text.
    public var queryValue: String { rawValue.queryValue }
}

extension Query.ValueConvertible where Self: BinaryInteger {
    /// The number in decimal digits.
    public var queryValue: String { description }
}

extension Query.ValueConvertible where Self: BinaryFloatingPoint & CustomStringConvertible {
    /// The number with as many digits as it takes to read the same one back.
    public var queryValue: String { description }
}

extension String: Query.ValueConvertible {
    /// The text itself.
    public var queryValue: String { self }
}

extension Substring: Query.ValueConvertible {
    /// The text itself.
    public var queryValue: String { String(self) }
}

extension Bool: Query.ValueConvertible {
    /// The text `true` or `false`.
    public var queryValue: String { self ? "true" : "false" }
}

extension UUID: Query.ValueConvertible {
    /// The identifier in its usual form, in upper case.
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
