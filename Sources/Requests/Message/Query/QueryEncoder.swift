// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Writes values as a query, or as the fields of a form.
///
/// HTTP doesn't define how lists, nested values, dates or `nil` are written there, so servers differ; every choice is a
/// property:
///
/// ```swift
/// struct Search: Encodable { var text: String; var tags: [String]; var page: Page }
///
/// var encoder = QueryEncoder()
/// encoder.arrays = .noBrackets
/// try encoder.encode(search).percentEncoded  // text=a%20b&tags=x&tags=y&page%5Bnumber%5D=2
/// ```
///
/// The order is always the same: that of the declaration, and the alphabetical one in dictionaries and sets. The
/// encoder escapes nothing; the query does when it is printed.
public struct QueryEncoder: Sendable {
    /// The names of the members of a list; `tags[]` by default.
    public var arrays = Arrays.brackets
    /// The form of a bool; `true` or `false` by default.
    public var bools = Bools.literal
    /// The form of a date; by default ISO 8601, in UTC, to the millisecond.
    public var dates = Dates.iso8601
    /// The form of data; Base64 by default.
    public var data = DataValues.base64
    /// The spelling of names; unchanged by default.
    public var keys = Keys.useDefaultKeys
    /// The name of a nested value; `page[number]` by default.
    public var keyPaths = KeyPaths.brackets
    /// The form of `nil`; by default it is left out.
    public var nils = Nils.dropKey
    /// The form of printed spaces; `%20` by default.
    ///
    /// The fields of a form always have `+` (WHATWG URL, 5.2).
    public var spaces = Query.Spaces.percent
    /// The maximum nesting of values: more than any query needs, and small enough for the stack of any thread.
    static let maximalDepth = 128

    /// Makes an encoder with the choices that most servers understand.
    public init() {}

    /// Writes a value whose properties, or keys, are the names of the query.
    ///
    /// - Throws: ``InvalidValue`` for a value that has no names at its top level, such as a number or a list; for one
    ///   that is nested more than 128 deep; for a number or a date that can't be written. Also any error that the value
    ///   itself throws. An empty value isn't an error, nor is an empty list, which writes nothing.
    /// - Complexity: O(n) in the size of the query.
    @_disfavoredOverload
    public func encode(_ value: some Encodable) throws -> Query {
        let session = Session(options: self)
        let root = Node()
        try NodeEncoder(session: session, node: root).encode(value)
        guard root.content == .object else { throw InvalidValue(.query, "has no names at its top level") }
        var items: [Query.Item] = []
        appendChildren(of: root, to: &items) { $0 }
        return Query(items, spaces: spaces)
    }

    /// Writes a dictionary of values known at run time.
    ///
    /// They may be texts, numbers, bools, dates, data, lists, sets and dictionaries of them, any `Encodable` value,
    /// `nil` and `NSNull`. The values are written at once; the dictionary isn't kept. An `NSArray` or `NSDictionary`
    /// that contains itself must not be in it: off Apple platforms Foundation follows such a cycle without end before
    /// the depth can be checked.
    ///
    /// - Throws: ``InvalidValue`` for a value of another kind, and in the cases of the other method.
    /// - Complexity: O(n log n) in the size of the query.
    @_disfavoredOverload
    public func encode(_ dictionary: [String: Any?]) throws -> Query {
        try encode(Untyped(value: dictionary))
    }

    /// Writes names and values known at run time, as a dictionary of them would be written.
    ///
    /// They keep their order, and a name may be repeated: this method takes literals. A dictionary within one is a
    /// `Dictionary`, whose keys have to differ.
    ///
    /// - Throws: ``InvalidValue`` as for a dictionary.
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
            append(node, named: keys.spell(name), to: &items)
        }
        return Query(items, spaces: spaces)
    }

    /// Appends the items of a value below the top level.
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
            append(child, named: naming(keys.spell(name)), to: &items)
        }
    }
}

// MARK: - Options

extension QueryEncoder {
    /// The names of the members of a list.
    public enum Arrays: Sendable {
        /// As `tags[]`, each.
        case brackets
        /// As `tags`, each.
        case noBrackets
        /// As `tags[0]`, `tags[1]`, …
        case indexed
        /// The result of the closure, for the name of the list and the index of the member.
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

    /// The form of a bool.
    public enum Bools: Sendable, Hashable {
        /// As `true` or `false`.
        case literal
        /// As `1` or `0`.
        case numeric

        func text(of value: Bool) -> String {
            switch self {
            case .literal: value ? "true" : "false"
            case .numeric: value ? "1" : "0"
            }
        }
    }

    /// The form of a date.
    public enum Dates: Sendable {
        /// As `2026-07-11T08:30:00Z`, in UTC; with milliseconds, `…:00.250Z`, if the date has a fraction of a second.
        /// A date outside the years 0 to 9999 is an error.
        case iso8601
        /// As seconds since 1970, with a fraction if it isn't whole.
        case secondsSince1970
        /// As milliseconds since 1970, without a fraction.
        case millisecondsSince1970
        /// As the date encodes itself: in seconds since 2001.
        case deferred
        /// The result of the closure.
        case custom(@Sendable (Date) throws -> String)
    }

    /// The form of data.
    public enum DataValues: Sendable {
        /// As Base64, in the alphabet with `+` and `/`, padded.
        case base64
        /// The result of the closure.
        case custom(@Sendable (Data) throws -> String)
    }

    /// The name of a nested value.
    public enum KeyPaths: Sendable {
        /// As `page[number]`.
        case brackets
        /// As `page.number`.
        case dots
        /// The result of the closure, for the name of the outer value and that of the inner.
        case custom(@Sendable (_ parent: String, _ name: String) -> String)

        func name(of name: String, in parent: String) -> String {
            switch self {
            case .brackets: "\(parent)[\(name)]"
            case .dots: "\(parent).\(name)"
            case .custom(let closure): closure(parent, name)
            }
        }
    }

    /// The form of `nil`.
    public enum Nils: Sendable, Hashable {
        /// It is left out.
        case dropKey
        /// The name stands alone: `name`.
        case dropValue
        /// The value is empty: `name=`.
        case empty
        /// The value is the word: `name=null`.
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
    /// The spelling of names, also of those in nested values and in dictionaries.
    public enum Keys: Sendable {
        /// As they are.
        case useDefaultKeys
        /// As `page_number`.
        case snakeCase
        /// As `page-number`.
        case kebabCase
        /// The result of the closure.
        case custom(@Sendable (String) -> String)

        func spell(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .snakeCase: Self.words(of: key, separatedBy: "_")
            case .kebabCase: Self.words(of: key, separatedBy: "-")
            case .custom(let closure): closure(key)
            }
        }

        /// The words of a name in lower case.
        ///
        /// A word begins with an upper-case letter behind another character, or with the last one of several if a
        /// lower-case letter follows: `myURLProperty` is `my`, `url`, `property`.
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
    /// The text of a value whose type is known only at run time, and which may be an `NSNumber`; `nil` if it has to be
    /// encoded.
    func text(ofUntyped value: Any, at path: [any CodingKey]) throws -> String? {
        if let optional = value as? any AnyOptional {
            return try optional.wrapped.flatMap { try text(ofUntyped: $0, at: path) }
        }
        // Before the Swift types, because an `NSNumber` of 0 or 1 can be cast to Bool.
        guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else {
            return try text(of: value, at: path)
        }
        if number.isBool { return bools.text(of: number.boolValue) }
        return number.doubleValue.isFinite ? number.stringValue : try text(ofNumber: number.doubleValue, at: path)
    }

    /// The value as a text, if it has a text form in a query; `nil` if it has to be encoded.
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
        case .secondsSince1970: return try wholeNumber(seconds) ?? text(ofNumber: seconds, at: path)
        case .millisecondsSince1970:
            let milliseconds = (seconds * 1000).rounded()
            return try wholeNumber(milliseconds) ?? text(ofNumber: milliseconds, at: path)
        case .iso8601:
            // From 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
            guard (-62_167_219_200..<253_402_300_800).contains(seconds) else {
                throw Self.failure("is a date outside the years 0 to 9999", at: path)
            }
            let milliseconds = min(Int64((seconds * 1000).rounded()), 253_402_300_799_999)
            let (whole, fraction) = milliseconds.floored(by: 1000)
            let time = CivilTime(secondsSinceEpoch: whole).iso8601
            return time + (fraction == 0 ? "" : "." + String(fraction + 1000).dropFirst()) + "Z"
        }
    }

    /// The number without a fraction; `nil` if it has one.
    private func wholeNumber(_ value: Double) -> String? {
        Int64(exactly: value).map(String.init)
    }
}

extension NSNumber {
    fileprivate var isBool: Bool {
        #if canImport(Darwin)
        CFGetTypeID(self) == CFBooleanGetTypeID()
        #else
        // A small number can have the same `objCType` as a bool, but there are only two objects for bools.
        self === NSNumber(value: true) || self === NSNumber(value: false)
        #endif
    }
}
