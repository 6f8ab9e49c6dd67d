// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The query of an address, or the content of a form: names with a value each, in their order.
///
/// ```swift
/// var query: Query = ["q": text, "page": 2, "flag": nil]
/// query.append("tag", value: "a&b")
/// query.percentEncoded  // q=…&page=2&flag&tag=a%26b
/// ```
///
/// A name may stand there several times; nothing is ever lost or put in another order. Texts are kept as they are meant
/// and escaped exactly once, when the query is printed, so that they must not be escaped before.
///
/// - Complexity: A look-up is O(n) in the number of items, which is small: a linear scan beats hashing there.
public struct Query: Sendable, Hashable {
    private var items: [Item]
    /// How a space is printed; `%20` by default, which every server understands.
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
    public init(_ dictionary: [String: some ValueConvertible]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { Item($0.key, value: $0.value) })
    }

    /// The value of the first item of the name, or nil where there is none, or none with a value.
    ///
    /// Setting it replaces every item of the name by one, nil removes them.
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

    /// Adds an item behind those that are there, also where one of the same name is.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value; nil for a name that stands alone, as `flag` does in `?flag`.
    public mutating func append(_ name: String, value: (any ValueConvertible)? = nil) {
        items.append(Item(name, value: value))
    }

    /// Adds an item behind those that are there, also where one of the same name is.
    public mutating func append(_ item: some ItemConvertible) {
        items.append(item.queryItem)
    }

    /// Adds items behind those that are there, in their order.
    public mutating func append(contentsOf items: some Sequence<Item>) {
        self.items.append(contentsOf: items)
    }

    /// Adds the items of another query behind those that are there, in their order.
    ///
    /// Spaces go on being printed as they are here, unless there were no items yet.
    public mutating func append(contentsOf query: Query) {
        if isEmpty, !query.isEmpty { spaces = query.spaces }
        items.append(contentsOf: query.items)
    }

    /// Replaces every item of the name by one, which takes the place of the first.
    ///
    /// - Parameters:
    ///   - value: The value; nil for a name that stands alone.
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
    /// - Throws: What the condition throws.
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

    /// Makes a query of names and values, in their order; a name may stand there several times, and alone where its
    /// value is nil.
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
