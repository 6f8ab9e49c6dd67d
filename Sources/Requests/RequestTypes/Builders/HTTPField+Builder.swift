// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Functions for the builders, capitalized so that a block of them reads like a list of headers or parameters. Each
// function returns a plain value. If one of your types has the same name, use the member form: `.accept(.json)`,
// `Query.Item`.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `Accept` field with the media types that the caller can read, best first.
public func Accept(_ types: MediaType...) -> HTTPField { .accept(types) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `Accept` field with media types that are only known at run time, best first.
///
/// The types are validated when the request is built.
@_disfavoredOverload
public func Accept(_ type: String, _ others: String...) -> HTTPField {
    .accept(([type] + others).map { MediaType(stringLiteral: $0) })
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `Content-Type` field.
public func ContentType(_ type: MediaType) -> HTTPField { .contentType(type) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `Content-Type` field with a type that is only known at run time.
///
/// The type is validated when the request is built.
@_disfavoredOverload
public func ContentType(_ type: String) -> HTTPField { .contentType(MediaType(stringLiteral: type)) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `User-Agent` field.
public func UserAgent(_ value: String) -> HTTPField { HTTPField(.userAgent, value) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the `X-API-Key` field.
public func XApiKey(_ value: String) -> HTTPField { HTTPField(.apiKey, value) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns a header field.
public func Header(_ name: HTTPField.Name, value: String) -> HTTPField { HTTPField(name, value) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns a header field with a name that is only known at run time.
///
/// The name is validated when the request is built.
@_disfavoredOverload
public func Header(_ name: String, value: String) -> HTTPField { HTTPField(HTTPField.Name(name), value) }

extension HTTPField {
    /// A type whose values can be used as header fields in a ``HTTPHeaders/Builder``.
    ///
    /// ```swift
    /// struct TraceID: HTTPField.Convertible {
    ///     let id: UUID
    ///     var field: HTTPField { HTTPField("X-Trace-ID", id.uuidString) }
    /// }
    /// ```
    public protocol Convertible: SendableMetatype {
        /// The header field.
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
