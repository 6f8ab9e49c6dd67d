// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension JSONValue {
    /// A value that can stand in an object of JSON as it is written in the source: a text, a number, a bool.
    ///
    /// A type of your own that is one of these in the end conforms in a line:
    ///
    /// ```swift
    /// enum Order: String, JSONValue.Convertible { case newest, oldest }
    /// request.body = .json(["order": Order.newest, "page": page, "after": nil])
    /// ```
    ///
    /// A `Dictionary` isn't one: a literal of a dictionary ends the process if two of its keys are equal.
    public protocol Convertible: Sendable {
        /// The value as JSON.
        var jsonValue: JSONValue { get }
    }

    /// The members of an object of JSON as they are written in the source, with values of any mixture.
    ///
    /// ```swift
    /// request.body = .json(["name": name, "eggs": 2, "tags": tags, "note": nil])
    /// ```
    ///
    /// A name may be known only at run time. If two members have the same name, the last one counts.
    public struct Members: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        /// The object.
        public let jsonValue: JSONValue

        /// Makes an object; `nil` becomes null, and of members of the same name the last one counts.
        public init(dictionaryLiteral elements: (String, (any Convertible)?)...) {
            jsonValue = .object(Dictionary(elements.map { ($0, $1?.jsonValue ?? .null) }) { $1 })
        }
    }
}

extension RawRepresentable where Self: JSONValue.Convertible, RawValue: JSONValue.Convertible {
    /// The raw value as JSON.
    public var jsonValue: JSONValue { rawValue.jsonValue }
}

extension JSONValue: JSONValue.Convertible {
    /// The value itself.
    public var jsonValue: JSONValue { self }
}

extension JSONValue.Members: JSONValue.Convertible {}

extension Optional: JSONValue.Convertible where Wrapped: JSONValue.Convertible {
    /// The value, or null.
    public var jsonValue: JSONValue { self?.jsonValue ?? .null }
}

extension Array: JSONValue.Convertible where Element: JSONValue.Convertible {
    /// The elements as an array.
    public var jsonValue: JSONValue { .array(map(\.jsonValue)) }
}

extension JSONValue.Convertible where Self: StringProtocol {
    /// The text.
    public var jsonValue: JSONValue { .string(String(self)) }
}

extension JSONValue.Convertible where Self: BinaryInteger {
    /// The number; beyond 64 bits with a sign, the nearest double.
    public var jsonValue: JSONValue { Int64(exactly: self).map(JSONValue.integer) ?? .double(Double(self)) }
}

extension JSONValue.Convertible where Self: BinaryFloatingPoint {
    /// The number.
    public var jsonValue: JSONValue { .double(Double(self)) }
}

extension Bool: JSONValue.Convertible {
    /// True or false.
    public var jsonValue: JSONValue { .bool(self) }
}

extension UUID: JSONValue.Convertible {
    /// The identifier in its usual form, in upper case.
    public var jsonValue: JSONValue { .string(uuidString) }
}

extension URL: JSONValue.Convertible {
    /// The address as a text.
    public var jsonValue: JSONValue { .string(absoluteString) }
}

extension String: JSONValue.Convertible {}
extension Substring: JSONValue.Convertible {}
extension Int: JSONValue.Convertible {}
extension Int8: JSONValue.Convertible {}
extension Int16: JSONValue.Convertible {}
extension Int32: JSONValue.Convertible {}
extension Int64: JSONValue.Convertible {}
extension UInt: JSONValue.Convertible {}
extension UInt8: JSONValue.Convertible {}
extension UInt16: JSONValue.Convertible {}
extension UInt32: JSONValue.Convertible {}
extension UInt64: JSONValue.Convertible {}
extension Float: JSONValue.Convertible {}
extension Double: JSONValue.Convertible {}
