// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// The words of the builders, in capitals so that a block of them reads as a list of headers or parameters. Each makes a
// plain value. If a type of yours has the same name, use the member form: `.accept(.json)`, `Query.Item`.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `Accept` field: the types that the caller can read, best first.
public func Accept(_ types: MediaType...) -> HTTPField { .accept(types) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `Accept` field, best type first, with types that are known at run time.
///
/// They are checked when the request is built.
@_disfavoredOverload
public func Accept(_ type: String, _ others: String...) -> HTTPField {
    .accept(([type] + others).map { MediaType(stringLiteral: $0) })
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `Content-Type` field.
public func ContentType(_ type: MediaType) -> HTTPField { .contentType(type) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `Content-Type` field, with a type that is known at run time, and checked when the request is built.
@_disfavoredOverload
public func ContentType(_ type: String) -> HTTPField { .contentType(MediaType(stringLiteral: type)) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `User-Agent` field.
public func UserAgent(_ value: String) -> HTTPField { HTTPField(.userAgent, value) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the field for an API key, `X-API-Key`.
public func XApiKey(_ value: String) -> HTTPField { HTTPField(.apiKey, value) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns any field.
public func Header(_ name: HTTPField.Name, value: String) -> HTTPField { HTTPField(name, value) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns any field, with a name that is known at run time, and checked when the request is built.
@_disfavoredOverload
public func Header(_ name: String, value: String) -> HTTPField { HTTPField(HTTPField.Name(name), value) }

extension HTTPField {
    /// A value that makes a header field: a type of your own for a ``HTTPHeaders/Builder``.
    ///
    /// ```swift
    /// struct TraceID: HTTPField.Convertible {
    ///     let id: UUID
    ///     var field: HTTPField { HTTPField("X-Trace-ID", id.uuidString) }
    /// }
    /// ```
    public protocol Convertible: SendableMetatype {
        /// The field.
        var field: HTTPField { get }
    }
}

extension Authorization: HTTPField.Convertible {
    /// The `Authorization` field.
    public var field: HTTPField { .authorization(self) }
}

extension CacheControl: HTTPField.Convertible {
    /// The `Cache-Control` field.
    public var field: HTTPField { .cacheControl(self) }
}
