// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// The words of the builders, in capitals so that a block of them reads as a list of headers or parameters. Each makes
// a plain value, and has a member form for where a type of yours has the same name: `.accept(.json)`, `Query.Item`.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The field for what the caller can read, best first.
public func Accept(_ types: MediaType...) -> HTTPField { .accept(types) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The field for what the content is.
public func ContentType(_ type: MediaType) -> HTTPField { .contentType(type) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The field for the program that makes the request.
public func UserAgent(_ value: String) -> HTTPField { HTTPField(.userAgent, value) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The field for the key of an API, `X-API-Key`.
public func XApiKey(_ value: String) -> HTTPField { HTTPField(.apiKey, value) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Any field.
public func Header(_ name: HTTPField.Name, value: String) -> HTTPField { HTTPField(name, value) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A query parameter; nil for one that has no value.
public func Item(_ name: String, value: (any Query.ValueConvertible)?) -> Query.Item { Query.Item(name, value: value) }
