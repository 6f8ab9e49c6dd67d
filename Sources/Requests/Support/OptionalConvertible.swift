// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A value, or an optional one: the type of a property that a protocol of this library declares with a default.
///
/// Swift takes a property as the witness of a requirement only if its type is the same to the letter. If a requirement
/// were `var strategy: Strategy?`, a conforming type that declares `let strategy = Strategy.iso8601` would compile, and
/// the default of the protocol would be used in its place, without a warning. With this protocol as the constraint,
/// both spellings are witnesses:
///
/// ```swift
/// struct Event: DecodableRequest {
///     let dateDecodingStrategy = JSONDecoder.DateDecodingStrategy.iso8601
///     …
/// }
/// ```
///
/// There is no reason to adopt it in types of your own.
public protocol OptionalConvertible<Wrapped> {
    /// The type of the value.
    associatedtype Wrapped = Self

    /// The value as an optional one.
    var asOptional: Wrapped? { get }
}

extension OptionalConvertible where Wrapped == Self {
    /// The value.
    public var asOptional: Self? { self }
}

extension Optional: OptionalConvertible {
    /// The optional itself.
    public var asOptional: Wrapped? { self }
}

extension DispatchQueue: OptionalConvertible {
    /// The type of a queue.
    public typealias Wrapped = DispatchQueue

    /// The queue.
    public var asOptional: DispatchQueue? { self }
}

extension String: OptionalConvertible {}
extension JSONDecoder.KeyDecodingStrategy: OptionalConvertible {}
extension JSONDecoder.DateDecodingStrategy: OptionalConvertible {}
extension JSONDecoder.DataDecodingStrategy: OptionalConvertible {}
extension JSONDecoder.NonConformingFloatDecodingStrategy: OptionalConvertible {}
