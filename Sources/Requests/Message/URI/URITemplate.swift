// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A URI template, that is, a URL with placeholders for variables (RFC 6570, levels 1 to 4).
///
/// Use a template if a server documents its URLs as templates, or if a path has more than a few variable parts:
///
/// ```swift
/// let posts: URITemplate = "/users/{user}/posts{?page,tags*}"
/// try posts.expand(["user": "jürgen", "page": 2, "tags": ["a", "b"]])
/// // /users/j%C3%BCrgen/posts?page=2&tags=a&tags=b
/// ```
///
/// | expression | expansion for `x` = `a/b`, `list` = `1`, `2` | meaning |
/// |---|---|---|
/// | `{x}` | `a%2Fb` | an escaped value |
/// | `{+x}` | `a/b` | a value whose reserved characters and `%XX` are kept |
/// | `{#x}` | `#a/b` | a fragment |
/// | `{.x}` | `.a%2Fb` | a label |
/// | `{/list*}` | `/1/2` | path segments |
/// | `{;list}` | `;list=1,2` | path parameters |
/// | `{?list*}` | `?list=1&list=2` | a query |
/// | `{&x:1}` | `&x=a` | the continuation of a query, with at most one character of `x` |
///
/// A malformed template is an error and never partially expanded. A literal can't throw, not even in
/// `URITemplate("…")`, so its error is thrown when the template is expanded.
public struct URITemplate: Sendable, Hashable {
    /// The string from which the template was created.
    public let description: String
    /// The parsed parts of the template, or its error.
    let parts: Result<[Part], InvalidValue>

    /// Parses a template.
    ///
    /// - Throws: ``InvalidValue`` with the position of the error. A template without variables isn't an error.
    /// - Complexity: O(n) in the length of the template.
    public init(_ template: String) throws(InvalidValue) {
        self.init(stringLiteral: template)
        _ = try parts.get()
    }

    /// The names of the variables without duplicates, in the order of their first use in the template.
    ///
    /// A malformed template has no variables.
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
    /// Creates a template from a literal; a malformed template throws when it is expanded.
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
        /// A string.
        case string(String)
        /// A list of strings, in their order; an empty list is the same as ``undefined``.
        case list([String])
        /// Name–value pairs, in their order.
        ///
        /// Names without a value are omitted. If no pairs remain, the value is the same as ``undefined``.
        case pairs(Query)
        /// No value, so the expansion omits the variable.
        case undefined

        /// Creates a value from any ``ValueConvertible`` value; `nil` becomes ``undefined``.
        public init(_ value: (any ValueConvertible)?) {
            self = value?.templateValue ?? .undefined
        }

        /// Whether the variable is part of the expansion; an empty string is, but an empty list isn't.
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
    /// Creates a string value.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a string value from an integer.
    public init(integerLiteral value: Int) { self = value.templateValue }
    /// Creates a list; elements that are `nil` are omitted.
    public init(arrayLiteral elements: (any Query.ValueConvertible)?...) {
        self = .list(elements.compactMap { $0?.queryValue })
    }
}

// MARK: - Value convertible

extension URITemplate {
    /// A type whose values can be assigned to the variables of a template.
    ///
    /// Strings, numbers and Boolean values conform, as well as arrays and dictionaries of them. If your own type can be
    /// represented as a string, conform it to ``Query/ValueConvertible``, so that it can be used in queries, too:
    ///
    /// ```swift
    /// enum Order: String, Query.ValueConvertible { case newest, oldest }
    /// ```
    public protocol ValueConvertible: Sendable {
        /// The value as a variable of a template.
        var templateValue: URITemplate.Value { get }
    }
}

extension URITemplate.ValueConvertible where Self == Query {
    /// Returns a value whose pairs expand in the given order, whereas a dictionary would be sorted by its keys.
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
    /// The elements as a list.
    public var templateValue: URITemplate.Value { .list(map(\.queryValue)) }
}

extension Dictionary: URITemplate.ValueConvertible where Key == String, Value: Query.ValueConvertible {
    /// The pairs, sorted by key so that the order is deterministic.
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
    /// Strings, numbers, Boolean values, arrays, dictionaries and all other ``ValueConvertible`` values can be used
    /// directly. If a name is repeated, its last value is used. A nested dictionary literal is a `Dictionary`, so its
    /// keys must be unique. To repeat a key, use `.pairs([…])`.
    public struct Variables: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        fileprivate var values: [String: URITemplate.Value]

        /// Creates variables from a dictionary, such as one extracted from another URL; empty by default.
        @_disfavoredOverload
        public init(_ values: [String: URITemplate.Value] = [:]) {
            self.values = values
        }

        /// Creates variables from names and values; a value of `nil` leaves the variable undefined.
        public init(dictionaryLiteral elements: (String, (any ValueConvertible)?)...) {
            values = Dictionary(elements.map { ($0, URITemplate.Value($1)) }, uniquingKeysWith: { $1 })
        }

        /// The value of a variable, or ``Value/undefined`` if there is none.
        public subscript(name: String) -> URITemplate.Value {
            get { values[name] ?? .undefined }
            set { values[name] = newValue }
        }
    }
}

extension URITemplate.Variables: DescribedMirror {
    /// The names of the variables, without their values, which may be secrets.
    public var description: String { values.keys.sorted().map { $0.shortened() }.joined(separator: ", ") }
}
