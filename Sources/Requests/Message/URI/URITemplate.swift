// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An address with places for variables (RFC 6570, all four levels).
///
/// Use it where a server documents its addresses that way, or where a path has more than a few variable parts:
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
/// A malformed template is an error and never expanded in part. A literal, also in `URITemplate("…")`, can't throw
/// where it stands; it does when it is expanded.
public struct URITemplate: Sendable, Hashable {
    /// The template as it was written.
    public let description: String
    /// What it is made of, or what is wrong with it.
    let parts: Result<[Part], URITemplate.TemplateError>

    /// Parses a template.
    ///
    /// - Throws: ``URITemplate/TemplateError``, with the position of the fault. A template without variables isn't one.
    /// - Complexity: O(n) in the length of the template.
    public init(_ template: String) throws(URITemplate.TemplateError) {
        var parser = Parser(template)
        description = template
        parts = .success(try parser.parse())
    }

    /// The names of the variables, each once, in the order in which they first stand in the template.
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
        var parser = Parser(value)
        description = value
        do throws(URITemplate.TemplateError) {
            parts = .success(try parser.parse())
        } catch {
            parts = .failure(error)
        }
    }
}

extension URITemplate: Codable {
    /// Reads a template from a string.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for a malformed template, with the ``URITemplate/TemplateError`` in it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(URITemplate.TemplateError) {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: error.description,
                    underlyingError: error
                )
            )
        }
    }

    /// Writes the template as a string.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

// MARK: - Value

extension URITemplate {
    /// The value of a variable (RFC 6570, 2.3).
    public enum Value: Sendable, Hashable {
        /// A text.
        case string(String)
        /// Several texts, in their order; none is the same as ``undefined``.
        case list([String])
        /// Names with a value each, in their order; none is the same as ``undefined``.
        case pairs(Pairs)
        /// No value: what the expansion leaves out.
        case undefined

        /// Makes a value of whatever can be one; nil is ``undefined``.
        public init(_ value: (any ValueConvertible)?) {
            self = value?.templateValue ?? .undefined
        }

        /// Whether the expansion shows the value: an empty text is one, an empty list isn't.
        var isDefined: Bool {
            switch self {
            case .string: true
            case .list(let members): !members.isEmpty
            case .pairs(let pairs): !pairs.isEmpty
            case .undefined: false
            }
        }
    }
}

extension URITemplate.Value: URITemplate.ValueConvertible {
    /// The value itself.
    public var templateValue: URITemplate.Value { self }
}

extension URITemplate.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// Makes a text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Makes a text of a number.
    public init(integerLiteral value: Int) {
        self = value.templateValue
    }

    /// Makes a text of a number.
    public init(floatLiteral value: Double) {
        self = value.templateValue
    }

    /// Makes a text: `true` or `false`.
    public init(booleanLiteral value: Bool) {
        self = value.templateValue
    }

    /// Makes no value.
    public init(nilLiteral: ()) {
        self = .undefined
    }
}

extension URITemplate.Value: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Makes a list; members that are nil are left out.
    public init(arrayLiteral elements: (any Query.ValueConvertible)?...) {
        self = .list(elements.compactMap { $0?.queryValue })
    }

    /// Makes pairs, in their order; those whose value is nil are left out.
    public init(dictionaryLiteral elements: (String, (any Query.ValueConvertible)?)...) {
        self = .pairs(URITemplate.Pairs(elements))
    }
}

// MARK: - Value convertible

extension URITemplate {
    /// What a variable of a template can be set to.
    ///
    /// Texts, numbers and bools are, as well as arrays and dictionaries of them. To make a type of your own one, let it
    /// conform to ``Query/ValueConvertible`` if it is a text in the end, which makes it fit for queries too:
    ///
    /// ```swift
    /// enum Order: String, Query.ValueConvertible { case newest, oldest }
    /// ```
    public protocol ValueConvertible: Sendable {
        /// The value as the template takes it.
        var templateValue: URITemplate.Value { get }
    }
}

extension URITemplate.ValueConvertible where Self == URITemplate.Pairs {
    /// Pairs in the order in which they are written, where a dictionary would be sorted by its keys.
    public static func pairs(_ pairs: URITemplate.Pairs) -> URITemplate.Pairs { pairs }
}

extension URITemplate.Pairs: URITemplate.ValueConvertible {
    /// The pairs as a value.
    public var templateValue: URITemplate.Value { .pairs(self) }
}

extension Array: URITemplate.ValueConvertible where Element: Query.ValueConvertible {
    /// The list of the elements.
    public var templateValue: URITemplate.Value { .list(map(\.queryValue)) }
}

extension Dictionary: URITemplate.ValueConvertible where Key == String, Value: Query.ValueConvertible {
    /// The pairs, in the alphabetical order of the keys, so that the order is always the same.
    public var templateValue: URITemplate.Value { .pairs(URITemplate.Pairs(self)) }
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
    /// Texts, numbers, bools, arrays and dictionaries can stand there as they are, and whatever else is
    /// ``ValueConvertible``. A name that stands there twice has its last value. A dictionary among the values is a
    /// `Dictionary`, whose names have to differ; `.pairs([…])` keeps all of them.
    public struct Variables: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        fileprivate var values: [String: URITemplate.Value]

        /// Makes variables without values.
        public init() {
            values = [:]
        }

        /// Makes variables of a dictionary, such as the one that was extracted from another address.
        @_disfavoredOverload
        public init(_ values: [String: URITemplate.Value]) {
            self.values = values
        }

        /// Makes variables as they are written here; the same as the literal alone.
        public init(_ variables: Variables) {
            self = variables
        }

        /// Makes variables of names and values; nil is the same as no value.
        public init(dictionaryLiteral elements: (String, (any ValueConvertible)?)...) {
            values = Dictionary(elements.map { ($0, URITemplate.Value($1)) }, uniquingKeysWith: { $1 })
        }

        /// The value of a variable; ``Value/undefined`` where there is none.
        public subscript(name: String) -> URITemplate.Value {
            get { values[name] ?? .undefined }
            set { values[name] = newValue }
        }
    }
}

extension URITemplate.Variables: CustomStringConvertible, CustomReflectable {
    /// The names of the variables; their values may be secrets.
    public var description: String { values.keys.sorted().map { $0.shortened() }.joined(separator: ", ") }

    /// A mirror of the names.
    public var customMirror: Mirror { Mirror(self, children: ["names": description]) }
}

extension URITemplate {
    /// Why a text is no URI template, or a template can't be expanded.
    ///
    /// It names the piece that is at fault, where that is, and what is wrong with it. A template in a literal can't throw
    /// where it stands; it throws this when it is expanded.
    public struct TemplateError: ExplainedError, Sendable, Hashable, CustomStringConvertible, LocalizedError {
        /// What is wrong.
        public let reason: String
        /// The beginning of the piece that is at fault, with control characters escaped.
        public let excerpt: String
        /// Where the fault is, in bytes of UTF-8 from the beginning of the template.
        public let offset: Int

        /// Makes the error; the excerpt is shortened here.
        init(_ reason: String, excerpt: String, offset: Int) {
            self.reason = reason
            self.excerpt = excerpt.shortened()
            self.offset = offset
        }

        /// The error, in a sentence.
        public var description: String {
            "the URI template \(reason) at byte \(offset): “\(excerpt)”"
        }

        /// The error, for people.
        public var errorDescription: String? { description }
    }
}
