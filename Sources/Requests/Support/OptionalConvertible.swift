// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A value or an optional value, for requirements of this library that you can implement with either type.
///
/// In Swift, a property implements a requirement only if the types match exactly. Assume that a protocol requires
/// `var strategy: Strategy?` and provides a default. A type that declares `let strategy = Strategy.iso8601` would then
/// compile, but silently use the default. With this protocol as the constraint, both types are accepted:
///
/// ```swift
/// struct Event: DecodableRequest {
///     let dateDecodingStrategy = JSONDecoder.DateDecodingStrategy.iso8601
///     …
/// }
/// ```
///
/// Your own types don't need to conform to this protocol.
public protocol OptionalConvertible<Wrapped> {
    /// The type of the value, without the optional.
    associatedtype Wrapped = Self

    /// The value as an optional.
    var asOptional: Wrapped? { get }
}

extension OptionalConvertible where Wrapped == Self {
    /// The value itself.
    public var asOptional: Self? { self }
}

extension Optional: OptionalConvertible {
    /// The optional itself.
    public var asOptional: Wrapped? { self }
}

extension DispatchQueue: OptionalConvertible {
    /// The type of the value, which is never optional.
    public typealias Wrapped = DispatchQueue

    /// The queue itself.
    public var asOptional: DispatchQueue? { self }
}

extension String: OptionalConvertible {}
extension JSONDecoder.KeyDecodingStrategy: OptionalConvertible {}
extension JSONDecoder.DateDecodingStrategy: OptionalConvertible {}
extension JSONDecoder.DataDecodingStrategy: OptionalConvertible {}
extension JSONDecoder.NonConformingFloatDecodingStrategy: OptionalConvertible {}
