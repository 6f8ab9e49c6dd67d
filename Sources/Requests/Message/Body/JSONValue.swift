// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Any JSON, as a value that can be handed from one thread to another.
///
/// Written as literals, and read with subscripts:
///
/// ```swift
/// let value: JSONValue = ["name": "Pancakes", "eggs": 2, "tags": ["sweet", nil]]
/// value["tags"]?[0]       // .string("sweet")
/// ```
///
/// Integers of 64 bits stay exact, also where they are too large for a double; larger ones become the nearest double.
/// The members of an object have no order (RFC 8259, 4), and the encoder decides in which they are written.
public enum JSONValue: Sendable, Hashable {
    /// Nothing.
    case null
    /// True or false.
    case bool(Bool)
    /// A number without a fraction.
    case integer(Int64)
    /// A number of any other kind; one that isn't finite can't be encoded.
    case double(Double)
    /// A text.
    case string(String)
    /// A list of values.
    case array([JSONValue])
    /// Values by name.
    case object([String: JSONValue])

    /// How deep arrays and objects may be nested, to be encoded and decoded.
    ///
    /// Not for the stack's sake alone. A decoder is asked what a value is by trying, and each try that fails tells the
    /// path to the value, which costs Foundation's decoder the square of its length: at the 512 levels that it would
    /// allow, a few kilobytes of input took it a minute.
    static let maximumDepth = 64

    /// The member of an object; nil where there is none of that name, or the value is no object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The element of an array; nil where it ends before, or the value is no array.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes null.
    public init(nilLiteral: ()) { self = .null }
    /// Makes a Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Makes a number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Makes an object; of members of the same name the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
