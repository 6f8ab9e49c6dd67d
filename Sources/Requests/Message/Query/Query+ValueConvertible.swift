// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Query {
    /// What can stand behind a name in a query: a text, a number, a bool.
    ///
    /// A type of your own that is one of these in the end conforms in a line, and then fits into templates too:
    ///
    /// ```swift
    /// enum Order: String, Query.ValueConvertible { case newest, oldest }
    /// let query: Query = ["order": Order.newest]
    /// ```
    public protocol ValueConvertible: URITemplate.ValueConvertible {
        /// The value as a text, not escaped.
        var queryValue: String { get }
    }
}

extension Query.ValueConvertible {
    /// The value as a template takes it: a text.
    public var templateValue: URITemplate.Value { .string(queryValue) }
}

extension RawRepresentable where Self: Query.ValueConvertible, RawValue: Query.ValueConvertible {
    /// The raw value as a text.
    public var queryValue: String { rawValue.queryValue }
}

extension Query.ValueConvertible where Self: BinaryInteger {
    /// The number in decimal digits.
    public var queryValue: String { description }
}

extension Query.ValueConvertible where Self: BinaryFloatingPoint & CustomStringConvertible {
    /// The number with as many digits as it takes to read the same one back.
    public var queryValue: String { description }
}

extension String: Query.ValueConvertible {
    /// The text itself.
    public var queryValue: String { self }
}

extension Substring: Query.ValueConvertible {
    /// The text itself.
    public var queryValue: String { String(self) }
}

extension Bool: Query.ValueConvertible {
    /// The text `true` or `false`.
    public var queryValue: String { self ? "true" : "false" }
}

extension UUID: Query.ValueConvertible {
    /// The identifier in its usual form, in upper case.
    public var queryValue: String { uuidString }
}

extension Int: Query.ValueConvertible {}
extension Int8: Query.ValueConvertible {}
extension Int16: Query.ValueConvertible {}
extension Int32: Query.ValueConvertible {}
extension Int64: Query.ValueConvertible {}
extension UInt: Query.ValueConvertible {}
extension UInt8: Query.ValueConvertible {}
extension UInt16: Query.ValueConvertible {}
extension UInt32: Query.ValueConvertible {}
extension UInt64: Query.ValueConvertible {}
extension Float: Query.ValueConvertible {}
extension Double: Query.ValueConvertible {}
