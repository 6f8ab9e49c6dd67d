// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An address with places for variables (RFC 6570, all four levels).
///
/// Use it if a server documents its addresses as templates, or if a path has more than a few variable parts:
///
/// ```swift
/// let posts: URITemplate = "/users/{user}/posts{?page,tags*}"
/// try posts.expand(["user": "jürgen", "page": 2, "tags": ["a", "b"]])
/// // /users/j%C3%BCrgen/posts?page=2&tags=a&tags=b
/// ```
///
/// | expression | of `x` = `a/b`, `list` = `1`, `2` | |
/// |---|---|---|
/// | `{x}` | `a%2Fb` | one escaped piece |
/// | `{+x}` | `a/b` | reserved characters and `%XX` stay |
/// | `{#x}` | `#a/b` | a fragment |
/// | `{.x}` | `.a%2Fb` | a label |
/// | `{/list*}` | `/1/2` | segments of a path |
/// | `{;list}` | `;list=1,2` | parameters of a path |
/// | `{?list*}` | `?list=1&list=2` | a query |
/// | `{&x:1}` | `&x=a` | more of a query; at most one character of `x` |
///
/// A malformed template is an error and never expanded in part. A literal, also in `URITemplate("…")`, can't throw; its
/// error is thrown when it is expanded.
public struct URITemplate: Sendable, Hashable {
    /// The template as it was written.
    public let description: String
    /// The pieces of the template, or its error.
    let parts: Result<[Part], InvalidValue>

    /// Parses a template.
    ///
    /// - Throws: ``InvalidValue``, with the position of the error. A template without variables isn't an error.
    /// - Complexity: O(n) in the length of the template.
    public init(_ template: String) throws(InvalidValue) {
        self.init(stringLiteral: template)
        _ = try parts.get()
    }

    /// The names of the variables, each once, in the order of their first use in the template.
    ///
    /// A malformed template has none.
    ///
    /// - Complexity: O(n) in the length of the template.
    public var variables: [String] {
        guard case .success(let parts) = parts else { return [] }
        var seen: Set<String> = []
        return parts.flatMap { part in
            guard case .expression(let expression) = part else { return [] as [String] }
            return expression.variables.map(\.name)
        }.filter { seen.insert($0).inserted }
    }
}

extension URITemplate: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Makes a template from a literal; a malformed one throws when it is expanded.
    public init(stringLiteral value: String) {
        description = value
        parts = Result { () throws(InvalidValue) in
            var parser = Parser(value)
            return try parser.parse()
        }
    }
}

// MARK: - Value

extension URITemplate {
    /// The value of a variable (RFC 6570, 2.3).
    public enum Value: Sendable, Hashable {
        /// A text.
        case string(String)
        /// Several texts, in their order; an empty list is the same as ``undefined``.
        case list([String])
        /// Names with a value each, in their order; names without a value are left out, and no pairs are the same as
        /// ``undefined``.
        case pairs(Query)
        /// No value: the expansion leaves the variable out.
        case undefined

        /// Makes a value of any convertible one; `nil` is ``undefined``.
        public init(_ value: (any ValueConvertible)?) {
            self = value?.templateValue ?? .undefined
        }

        /// Whether the expansion shows the value: an empty text is one, an empty list isn't.
        var isDefined: Bool {
            switch self {
            case .string: true
            case .list(let members): !members.isEmpty
            case .pairs(let pairs): pairs.contains { $0.value != nil }
            case .undefined: false
            }
        }
    }
}

extension URITemplate.Value: URITemplate.ValueConvertible {
    /// The value itself.
    public var templateValue: URITemplate.Value { self }
}

extension URITemplate.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral {
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes a text of a number.
    public init(integerLiteral value: Int) { self = value.templateValue }
    /// Makes a list; members that are `nil` are left out.
    public init(arrayLiteral elements: (any Query.ValueConvertible)?...) {
        self = .list(elements.compactMap { $0?.queryValue })
    }
}

// MARK: - Value convertible

extension URITemplate {
    /// A type whose values a variable of a template can have.
    ///
    /// Texts, numbers and bools conform, as well as arrays and dictionaries of them. If a type of your own has a text
    /// form, let it conform to ``Query/ValueConvertible``, with which it can be used in queries too:
    ///
    /// ```swift
    /// enum Order: String, Query.ValueConvertible { case newest, oldest }
    /// ```
    public protocol ValueConvertible: Sendable {
        /// The value for the template.
        var templateValue: URITemplate.Value { get }
    }
}

extension URITemplate.ValueConvertible where Self == Query {
    /// Pairs in the order in which they are written; a dictionary would be sorted by its keys.
    ///
    /// ```swift
    /// let template: URITemplate = "/map{?corner*}"
    /// try template.expand(["corner": .pairs(["lat": 48.1, "lon": 11.5])])  // /map?lat=48.1&lon=11.5
    /// ```
    public static func pairs(_ pairs: Query) -> Query { pairs }
}

extension Query: URITemplate.ValueConvertible {
    /// The items as pairs.
    public var templateValue: URITemplate.Value { .pairs(self) }
}

extension Array: URITemplate.ValueConvertible where Element: Query.ValueConvertible {
    /// The list of the elements.
    public var templateValue: URITemplate.Value { .list(map(\.queryValue)) }
}

extension Dictionary: URITemplate.ValueConvertible where Key == String, Value: Query.ValueConvertible {
    /// The pairs, in the alphabetical order of the keys, so that the order is always the same.
    public var templateValue: URITemplate.Value { .pairs(Query(self)) }
}

// MARK: - Variables

extension URITemplate {
    /// The values of variables, by name.
    ///
    /// ```swift
    /// var variables: URITemplate.Variables = ["user": name, "page": 2, "tags": ["a", "b"], "until": nil]
    /// variables["page"] = 3
    /// ```
    ///
    /// Texts, numbers, bools, arrays, dictionaries and all other ``ValueConvertible`` values can be written directly.
    /// Of a repeated name, the last value counts. A dictionary among the values is a `Dictionary`, whose keys have to
    /// differ; `.pairs([…])` keeps all of them.
    public struct Variables: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        fileprivate var values: [String: URITemplate.Value]

        /// Makes variables of a dictionary, such as the one that was extracted from another address; none by default.
        @_disfavoredOverload
        public init(_ values: [String: URITemplate.Value] = [:]) {
            self.values = values
        }

        /// Makes variables of names and values; `nil` is the same as no value.
        public init(dictionaryLiteral elements: (String, (any ValueConvertible)?)...) {
            values = Dictionary(elements.map { ($0, URITemplate.Value($1)) }, uniquingKeysWith: { $1 })
        }

        /// The value of a variable; ``Value/undefined`` if it has no value.
        public subscript(name: String) -> URITemplate.Value {
            get { values[name] ?? .undefined }
            set { values[name] = newValue }
        }
    }
}

extension URITemplate.Variables: DescribedMirror {
    /// The names of the variables; their values may be secrets.
    public var description: String { values.keys.sorted().map { $0.shortened() }.joined(separator: ", ") }
}
