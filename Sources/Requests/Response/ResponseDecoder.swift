// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Makes a value of a response: the decoding of a request as a value of its own.
///
/// The built-in ones are found by their dot: `.json`, `.text`, `.data`, `.none`, `.jsonObject`, `.json(_:atKeyPath:)`.
/// One of your own is a closure, which sees the status and the headers as well, and reads as well as a built-in one
/// when it is a static member:
///
/// ```swift
/// extension ResponseDecoder<Image> {
///     static let image = ResponseDecoder(accepting: [.png]) { try Image(png: $0.body) }
/// }
/// ```
///
/// Only called with responses that are acceptable: a status that isn't has failed the request before.
public struct ResponseDecoder<Value: Sendable>: Sendable {
    /// What the decoder can read, which a request asks for with `Accept` unless it says otherwise; nothing for
    /// whatever comes.
    public var accepted: [MediaType]
    private let make: @Sendable (HTTPResponse<Data>) throws -> Value

    /// Makes a decoder of a closure.
    ///
    /// - Parameters:
    ///   - accepted: What it can read; by default whatever comes.
    ///   - decode: Makes the value. Called on a thread where it may take its time; what it throws is the failure of the
    ///     request.
    public init(
        accepting accepted: [MediaType] = [],
        _ decode: @escaping @Sendable (HTTPResponse<Data>) throws -> Value
    ) {
        self.accepted = accepted
        make = decode
    }

    /// Makes the value of a response.
    ///
    /// - Throws: What the decoder throws.
    public func decode(_ response: HTTPResponse<Data>) throws -> Value {
        try make(response)
    }

    /// A decoder that makes another value of this one's.
    ///
    /// - Throws: What `transform` throws, as the failure of the request.
    public func map<NewValue>(
        _ transform: @escaping @Sendable (Value) throws -> NewValue
    ) -> ResponseDecoder<NewValue> {
        ResponseDecoder<NewValue>(accepting: accepted) { try transform(decode($0)) }
    }
}
