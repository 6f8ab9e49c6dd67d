// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What content is: a type, a subtype, and parameters in their order (RFC 9110, 8.3.1).
///
/// Those in everyday use are static members, and any other is a literal or made of its pieces:
///
/// ```swift
/// let type: MediaType = .json
/// let recipe = MediaType("application", "vnd.recipes+json", parameters: [("version", "2")])
/// recipe.rawValue         // application/vnd.recipes+json; version=2
/// recipe.suffix           // json
/// extension MediaType { static let recipe: Self = "application/vnd.recipes+json" }
/// ```
///
/// A type made of a literal or of pieces isn't checked at once. One that is none, say because a line break or a quote
/// stands in its subtype, is refused with an error when the request is built: ``validated()``. Text from outside is
/// read by ``init(parsing:)``.
///
/// Two are equal where type, subtype and parameters are, in the same order. Letters of either case count as the same,
/// except in the values of parameters other than `charset`.
public struct MediaType: Sendable, ExpressibleByStringLiteral {
    /// A parameter, such as `charset=utf-8`.
    public typealias Parameter = HTTPField.Parameter

    /// What is before the slash, such as `text`; `*` in a range.
    public var type: String
    /// What is behind the slash, such as `html`; `*` in a range.
    public var subtype: String
    /// The parameters, in the order in which they are sent.
    public var parameters: [Parameter]

    /// Makes a media type of its pieces; without parameters by default.
    public init(_ type: String, _ subtype: String, parameters: [(name: String, value: String)] = []) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters.map { Parameter($0.name, $0.value) }
    }

    /// Makes a media type from a literal.
    public init(stringLiteral value: String) {
        // What can't be read is kept whole, for the error that names it.
        self = (try? MediaType(parsing: value)) ?? MediaType(value, "")
    }

    /// The value of a parameter, or nil where there is none; setting it replaces the parameter in its place.
    public subscript(parameter name: String) -> String? {
        get { parameters[named: name] }
        set { parameters[named: name] = newValue }
    }

    /// The media type with a parameter more, or with another value of it.
    public func parameter(_ name: String, _ value: String) -> MediaType {
        var copy = self
        copy[parameter: name] = value
        return copy
    }

    /// Type and subtype in lower case, such as `text/html`.
    public var essence: String { "\(type)/\(subtype)".lowercasedASCII }

    /// The format that the subtype is a dialect of: `json` of `application/problem+json`; nil where it has none (RFC
    /// 6838, 4.2.8).
    public var suffix: String? {
        guard let plus = subtype.utf8.lastIndex(of: UInt8(ascii: "+")) else { return nil }
        let suffix = String(subtype[subtype.utf8.index(after: plus)...])
        return suffix.isEmpty ? nil : suffix.lowercasedASCII
    }

    /// Whether content of the type is JSON: `application/json`, or a dialect of it such as `application/problem+json`.
    public var isJSON: Bool {
        suffix == "json" || subtype.equalsIgnoringASCIICase("json")
    }

    /// Whether another type is of this one, which may be a range: `*/*` covers every type, `image/*` every image.
    ///
    /// A parameter of the range must stand in the other type too, except its weight `q`; further ones of the other
    /// don't matter (RFC 9110, 12.5.1).
    public func matches(_ other: MediaType) -> Bool {
        guard type == "*" || type.equalsIgnoringASCIICase(other.type) else { return false }
        guard subtype == "*" || subtype.equalsIgnoringASCIICase(other.subtype) else { return false }
        return parameters.allSatisfy { parameter in
            parameter.name.equalsIgnoringASCIICase("q") || other.parameters.contains(parameter)
        }
    }
}

extension MediaType: CustomStringConvertible {
    /// The type as it stands in a field: values that are no tokens are quoted, with their quotes and backslashes
    /// escaped.
    public var rawValue: String {
        var text = subtype.isEmpty ? type : "\(type)/\(subtype)"
        for parameter in parameters { text += "; \(parameter.name)=\(parameter.value.asParameterValue)" }
        return text
    }

    /// The type as it stands in a field.
    public var description: String { rawValue }
}

extension MediaType: Hashable {
    /// Compares types without regard to the case of type and subtype.
    public static func == (lhs: MediaType, rhs: MediaType) -> Bool {
        lhs.type.equalsIgnoringASCIICase(rhs.type) && lhs.subtype.equalsIgnoringASCIICase(rhs.subtype)
            && lhs.parameters == rhs.parameters
    }

    /// Hashes the type without regard to the case of type and subtype.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(essence)
        hasher.combine(parameters)
    }
}
