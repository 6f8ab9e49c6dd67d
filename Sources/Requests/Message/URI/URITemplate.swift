// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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
    let parts: Result<[Part], InvalidURITemplate>

    /// Parses a template.
    ///
    /// - Throws: ``InvalidURITemplate``, with the position of the fault. A template without variables isn't one.
    /// - Complexity: O(n) in the length of the template.
    public init(_ template: String) throws(InvalidURITemplate) {
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
        do throws(InvalidURITemplate) {
            parts = .success(try parser.parse())
        } catch {
            parts = .failure(error)
        }
    }
}

extension URITemplate: Codable {
    /// Reads a template from a string.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for a malformed template, with the ``InvalidURITemplate`` in it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(InvalidURITemplate) {
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
