// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Encodes values as a query, or as the fields of a form.
///
/// No standard defines how a query represents lists, nested values, dates or `nil`, so servers differ. Each choice is a
/// property of the encoder:
///
/// ```swift
/// struct Search: Encodable { var text: String; var tags: [String]; var page: Page }
///
/// var encoder = QueryEncoder()
/// encoder.arrays = .noBrackets
/// try encoder.encode(search).percentEncoded  // text=a%20b&tags=x&tags=y&page%5Bnumber%5D=2
/// ```
///
/// The output is deterministic: properties are encoded in the order of their declaration, and the contents of
/// dictionaries and sets are sorted. The encoder escapes nothing, because the query does so when it is serialized.
public struct QueryEncoder: Sendable {
    /// How the elements of a list are named; as `tags[]` by default.
    public var arrays = Arrays.brackets
    /// How a Boolean value is encoded; as `true` or `false` by default.
    public var bools = Bools.literal
    /// How a date is encoded; by default in ISO 8601, in UTC, with milliseconds if it has a fraction of a second.
    public var dates = Dates.iso8601
    /// How data is encoded; in Base64 by default.
    public var data = DataValues.base64
    /// How names are converted; unchanged by default.
    public var keys = Keys.useDefaultKeys
    /// How nested values are named; as `page[number]` by default.
    public var keyPaths = KeyPaths.brackets
    /// How `nil` is encoded; by default, the item is omitted.
    public var nils = Nils.dropKey
    /// How a space is encoded; as `%20` by default.
    ///
    /// A form always encodes a space as `+` (WHATWG URL, 5.2).
    public var spaces = Query.Spaces.percent
    /// The maximum nesting depth, which is more than a query needs, but small enough for the stack of any thread.
    static let maximumDepth = 128

    /// Creates an encoder with options that most servers understand.
    public init() {}

    /// Encodes a value, whose properties or keys become the names of the query.
    ///
    /// An empty value, or a property that is an empty list, adds no items and isn't an error.
    ///
    /// - Throws: ``InvalidValue`` for a value without names at its top level, such as a number or a list, for values
    ///   nested more than 128 levels deep, and for a number or date that can't be represented. Also any error that the
    ///   value itself throws.
    /// - Complexity: O(n) in the size of the query.
    @_disfavoredOverload
    public func encode(_ value: some Encodable) throws -> Query {
        let session = Session(options: self)
        let root = Node()
        try NodeEncoder(session: session, node: root).encode(value)
        guard root.content == .object else { throw InvalidValue(.query, "has no keys at its top level") }
        var items: [Query.Item] = []
        appendChildren(of: root, to: &items) { $0 }
        return Query(items, spaces: spaces)
    }

    /// Encodes a dictionary whose value types are known only at run time.
    ///
    /// The values may be strings, numbers, Boolean values, dates, data, any `Encodable` values, `nil`, `NSNull`, and
    /// lists, sets and dictionaries of them. They are encoded immediately, and the dictionary isn't retained. No
    /// `NSArray` or `NSDictionary` may contain itself: on platforms other than Apple's, Foundation would follow the
    /// cycle forever, before the encoder could check the depth.
    ///
    /// - Throws: ``InvalidValue`` for a value of another type, and for the same reasons as for an `Encodable` value.
    /// - Complexity: O(n log n) in the size of the query.
    @_disfavoredOverload
    public func encode(_ dictionary: [String: Any?]) throws -> Query {
        try encode(Untyped(value: dictionary))
    }

    /// Encodes name–value pairs in the same way as a dictionary whose value types are known only at run time.
    ///
    /// The pairs keep their order and may repeat a name, because the parameter is a `KeyValuePairs` literal. A nested
    /// dictionary literal is a `Dictionary`, so its keys must be unique.
    ///
    /// - Throws: ``InvalidValue`` for the same reasons as for a dictionary.
    /// - Complexity: O(n log n) in the size of the query.
    public func encode(_ fields: KeyValuePairs<String, Any?>) throws -> Query {
        try encode(pairs: fields.lazy.map { ($0.key, $0.value) })
    }

    func encode(pairs: some Sequence<(String, Any?)>) throws -> Query {
        let session = Session(options: self)
        var items: [Query.Item] = []
        for (name, value) in pairs {
            let node = Node()
            let encoder = NodeEncoder(session: session, node: node, codingPath: [name.codingKey])
            try encoder.encode(Untyped(value: value as Any))
            append(node, named: keys.convert(name), to: &items)
        }
        return Query(items, spaces: spaces)
    }

    /// Appends the items of a nested value.
    func append(_ node: Node, named name: String, to items: inout [Query.Item]) {
        switch node.content {
        case .nothing: break
        case .null: if let item = nils.item(named: name) { items.append(item) }
        case .text(let text): items.append(Query.Item(name, value: text))
        case .list:
            for (index, member) in node.members.enumerated() {
                append(member, named: arrays.name(ofMember: index, in: name), to: &items)
            }
        case .object: appendChildren(of: node, to: &items) { keyPaths.name(of: $0, in: name) }
        }
    }

    private func appendChildren(of node: Node, to items: inout [Query.Item], naming: (String) -> String) {
        for name in node.names {
            guard let child = node.children[name] else { continue }
            append(child, named: naming(keys.convert(name)), to: &items)
        }
    }
}

// MARK: - Options

extension QueryEncoder {
    /// How the elements of a list are named.
    public enum Arrays: Sendable {
        /// Names every element `tags[]`.
        case brackets
        /// Names every element `tags`.
        case noBrackets
        /// Names the elements `tags[0]`, `tags[1]`, and so on.
        case indexed
        /// Uses the result of the closure, which receives the name of the list and the index of the element.
        case custom(@Sendable (_ name: String, _ index: Int) -> String)

        func name(ofMember index: Int, in name: String) -> String {
            switch self {
            case .brackets: "\(name)[]"
            case .noBrackets: name
            case .indexed: "\(name)[\(index)]"
            case .custom(let closure): closure(name, index)
            }
        }
    }

    /// How a Boolean value is encoded.
    public enum Bools: Sendable, Hashable {
        /// Encodes `true` or `false`.
        case literal
        /// Encodes `1` or `0`.
        case numeric

        func text(of value: Bool) -> String {
            switch self {
            case .literal: value ? "true" : "false"
            case .numeric: value ? "1" : "0"
            }
        }
    }

    /// How a date is encoded.
    public enum Dates: Sendable {
        /// Encodes ISO 8601 in UTC, such as `2026-07-11T08:30:00Z`.
        ///
        /// Milliseconds are added only if the date has a fraction of a second, as in `2026-07-11T08:30:00.250Z`. A date
        /// outside the years 0 to 9999 is an error.
        case iso8601
        /// Encodes the seconds since 1970, with a fraction if necessary.
        case secondsSince1970
        /// Encodes the milliseconds since 1970, rounded to an integer.
        case millisecondsSince1970
        /// Lets the date encode itself, as seconds since 2001.
        case deferred
        /// Uses the result of the closure.
        case custom(@Sendable (Date) throws -> String)
    }

    /// How data is encoded.
    public enum DataValues: Sendable {
        /// Encodes padded Base64, with the standard alphabet that contains `+` and `/`.
        case base64
        /// Uses the result of the closure.
        case custom(@Sendable (Data) throws -> String)
    }

    /// How a nested value is named.
    public enum KeyPaths: Sendable {
        /// Names the value `page[number]`.
        case brackets
        /// Names the value `page.number`.
        case dots
        /// Uses the result of the closure, which receives the names of the outer and the inner value.
        case custom(@Sendable (_ parent: String, _ name: String) -> String)

        func name(of name: String, in parent: String) -> String {
            switch self {
            case .brackets: "\(parent)[\(name)]"
            case .dots: "\(parent).\(name)"
            case .custom(let closure): closure(parent, name)
            }
        }
    }

    /// How `nil` is encoded.
    public enum Nils: Sendable, Hashable {
        /// Omits the item.
        case dropKey
        /// Encodes only the name, as `name`.
        case dropValue
        /// Encodes an empty value, as `name=`.
        case empty
        /// Encodes the word `null`, as `name=null`.
        case null

        func item(named name: String) -> Query.Item? {
            switch self {
            case .dropKey: nil
            case .dropValue: Query.Item(name)
            case .empty: Query.Item(name, value: "")
            case .null: Query.Item(name, value: "null")
            }
        }
    }
}

// MARK: - Keys

extension QueryEncoder {
    /// How names are converted, including the names in nested values and the keys of dictionaries.
    public enum Keys: Sendable {
        /// Keeps names unchanged.
        case useDefaultKeys
        /// Converts `pageNumber` to `page_number`.
        case snakeCase
        /// Converts `pageNumber` to `page-number`.
        case kebabCase
        /// Uses the result of the closure.
        case custom(@Sendable (String) -> String)

        func convert(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .snakeCase: Self.words(of: key, separatedBy: "_")
            case .kebabCase: Self.words(of: key, separatedBy: "-")
            case .custom(let closure): closure(key)
            }
        }

        /// Returns the words of a camel-case name, lowercased and joined by the separator.
        ///
        /// A word begins at an uppercase letter that follows a lowercase letter or a digit. In a run of uppercase
        /// letters, the last letter begins a word if a lowercase letter follows, so `myURLProperty` has the words `my`,
        /// `url` and `property`.
        private static func words(of key: String, separatedBy separator: Character) -> String {
            let characters = Array(key)
            var output = ""
            for (index, character) in characters.enumerated() {
                if index > 0, character.isUppercase, characters[index - 1].isLetter || characters[index - 1].isNumber {
                    let endsAcronym = index + 1 < characters.count && characters[index + 1].isLowercase
                    if !characters[index - 1].isUppercase || endsAcronym { output.append(separator) }
                }
                output += character.lowercased()
            }
            return output
        }
    }
}

// MARK: - Text

extension QueryEncoder {
    /// Returns the string form of a value whose type is known only at run time, and which may be an `NSNumber`.
    ///
    /// - Returns: The string, or `nil` if the value has no string form and must be encoded.
    func text(ofUntyped value: Any, at path: [any CodingKey]) throws -> String? {
        if let optional = value as? any AnyOptional {
            return try optional.wrapped.flatMap { try text(ofUntyped: $0, at: path) }
        }
        // Check for `NSNumber` before the Swift types, because an `NSNumber` of 0 or 1 can be cast to `Bool`.
        guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else {
            return try text(of: value, at: path)
        }
        if number.isBool { return bools.text(of: number.boolValue) }
        return number.doubleValue.isFinite ? number.stringValue : try text(ofNumber: number.doubleValue, at: path)
    }

    /// Returns the string form of a value, or `nil` if it has none and must be encoded.
    func text(of value: Any, at path: [any CodingKey]) throws -> String? {
        switch value {
        case let value as String: value
        case let value as Bool: bools.text(of: value)
        case let value as Int: String(value)
        case let value as Double: try text(ofNumber: value, at: path)
        case let value as Float: try text(ofNumber: value, at: path)
        case let value as any BinaryInteger: "\(value)"
        case let value as Date: try text(ofDate: value, at: path)
        case let value as Data:
            if case .custom(let closure) = data { try closure(value) } else { value.base64EncodedString() }
        case let value as URL: value.absoluteString
        case let value as Decimal where value.isFinite: value.description
        case let value as UUID: value.uuidString
        default: nil
        }
    }

    private func text(
        ofNumber value: some BinaryFloatingPoint & CustomStringConvertible,
        at path: [any CodingKey]
    ) throws -> String {
        guard value.isFinite else { throw Self.failure("isn't a finite number", at: path) }
        return value.description
    }

    private func text(ofDate date: Date, at path: [any CodingKey]) throws -> String? {
        let seconds = date.timeIntervalSince1970
        switch dates {
        case .deferred: return nil
        case .custom(let closure): return try closure(date)
        case .secondsSince1970: return try integerText(seconds) ?? text(ofNumber: seconds, at: path)
        case .millisecondsSince1970:
            let milliseconds = (seconds * 1000).rounded()
            return try integerText(milliseconds) ?? text(ofNumber: milliseconds, at: path)
        case .iso8601:
            // The range is from 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
            guard (-62_167_219_200..<253_402_300_800).contains(seconds) else {
                throw Self.failure("is a date outside the years 0 to 9999", at: path)
            }
            let milliseconds = min(Int64((seconds * 1000).rounded()), 253_402_300_799_999)
            let (whole, fraction) = milliseconds.floored(by: 1000)
            let time = CivilTime(secondsSinceEpoch: whole).iso8601
            return time + (fraction == 0 ? "" : "." + String(fraction + 1000).dropFirst()) + "Z"
        }
    }

    /// Returns the number as an integer string, or `nil` if it has a fraction.
    private func integerText(_ value: Double) -> String? {
        Int64(exactly: value).map(String.init)
    }
}

extension NSNumber {
    fileprivate var isBool: Bool {
        #if canImport(Darwin)
        CFGetTypeID(self) == CFBooleanGetTypeID()
        #else
        // The `objCType` can't be used, because a small number may have the same type as a Boolean value. However, only
        // two objects represent Boolean values, so compare the object with them.
        self === NSNumber(value: true) || self === NSNumber(value: false)
        #endif
    }
}
