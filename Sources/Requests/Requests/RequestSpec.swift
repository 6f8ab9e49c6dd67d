// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request of your own that is defined by one of the ready-made ones.
///
/// ```swift
/// struct GetUser: RequestSpec {
///     let id: Int
///     var request: Get<User> { Get("users/\(id)").timeout(.seconds(10)) }
/// }
///
/// let user = try await queue.fetch(GetUser(id: 1))
/// ```
///
/// The type gives the request its name; its properties are the parameters.
public protocol RequestSpec: RequestConvertible where Success == RequestType.Success {
    /// The type of the request that defines this one.
    associatedtype RequestType: RequestConvertible
    /// The value of the request; another name of `Success`.
    typealias ResponseBody = RequestType.Success

    /// The request, made of the parameters.
    var request: RequestType { get }
}

extension RequestSpec {
    /// The value of `request`.
    public var http: HTTPRequest { request.http }
    /// The decoder of `request`.
    public var responseDecoder: ResponseDecoder<RequestType.Success> { request.responseDecoder }
    /// The options of the type, completed with those of `request`.
    public var resolvedOptions: RequestOptions { options.over(request.resolvedOptions) }
}

extension RequestSpec where ValidHTTPStatusCodes == [Int] {
    /// The accepted statuses of `request`.
    public var validHTTPStatusCodes: [Int] { request.validStatusCodes }
}

extension HTTPHeaders {
    /// Builds headers of fields, conditions and loops.
    ///
    /// Fields in capitals, `Accept(.json)`, have a line each, and so have values of your own that are
    /// ``HTTPField/Convertible``. Members, `.accept(.json)`, may stand only where nothing precedes them, since Swift
    /// takes a dot at the beginning of a line for a part of the line above. Elsewhere write `HTTPField.accept(.json)`,
    /// or a semicolon between two. A call without a value, such as one that logs, is allowed.
    @resultBuilder
    public enum Builder {
        /// A field.
        public static func buildExpression(_ field: HTTPField) -> [HTTPField] { [field] }
        /// A value that is a field.
        public static func buildExpression(_ field: some HTTPField.Convertible) -> [HTTPField] { [field.field] }
        /// Other headers.
        public static func buildExpression(_ headers: HTTPHeaders) -> [HTTPField] { Array(headers) }
        /// A call without a value.
        public static func buildExpression(_ nothing: Void) -> [HTTPField] { [] }
        /// One statement behind the other.
        public static func buildBlock(_ fields: [HTTPField]...) -> [HTTPField] { fields.flatMap { $0 } }
        /// An `if` without an `else`.
        public static func buildOptional(_ fields: [HTTPField]?) -> [HTTPField] { fields ?? [] }
        /// An `if`, or a case of a `switch`.
        public static func buildEither(first fields: [HTTPField]) -> [HTTPField] { fields }
        /// An `else`, or another case of a `switch`.
        public static func buildEither(second fields: [HTTPField]) -> [HTTPField] { fields }
        /// A `for` loop.
        public static func buildArray(_ fields: [[HTTPField]]) -> [HTTPField] { fields.flatMap { $0 } }
        /// An `if #available`.
        public static func buildLimitedAvailability(_ fields: [HTTPField]) -> [HTTPField] { fields }
        /// The headers.
        public static func buildFinalResult(_ fields: [HTTPField]) -> HTTPHeaders { HTTPHeaders(fields) }
    }
}

extension Query {
    /// Builds a query of parameters, conditions and loops.
    ///
    /// Parameters are written `Item("page", value: "2")`; values of your own that are ``Query/ItemConvertible`` may
    /// stand beside them. A call without a value, such as one that logs, is allowed.
    @resultBuilder
    public enum Builder {
        /// A parameter, or a value that is one.
        public static func buildExpression(_ item: some Query.ItemConvertible) -> [Query.Item] { [item.queryItem] }
        /// Another query.
        public static func buildExpression(_ query: Query) -> [Query.Item] { Array(query) }
        /// A call without a value.
        public static func buildExpression(_ nothing: Void) -> [Query.Item] { [] }
        /// One statement behind the other.
        public static func buildBlock(_ items: [Query.Item]...) -> [Query.Item] { items.flatMap { $0 } }
        /// An `if` without an `else`.
        public static func buildOptional(_ items: [Query.Item]?) -> [Query.Item] { items ?? [] }
        /// An `if`, or a case of a `switch`.
        public static func buildEither(first items: [Query.Item]) -> [Query.Item] { items }
        /// An `else`, or another case of a `switch`.
        public static func buildEither(second items: [Query.Item]) -> [Query.Item] { items }
        /// A `for` loop.
        public static func buildArray(_ items: [[Query.Item]]) -> [Query.Item] { items.flatMap { $0 } }
        /// An `if #available`.
        public static func buildLimitedAvailability(_ items: [Query.Item]) -> [Query.Item] { items }
        /// The query.
        public static func buildFinalResult(_ items: [Query.Item]) -> Query { Query(items) }
    }
}

extension HTTPBody {
    /// Builds the content of a request: one value, of which there may be a choice, or nothing.
    ///
    /// Two values don't compile. A call without a value, such as one that logs, is allowed.
    @resultBuilder
    public enum Builder {
        /// The result of a builder.
        public struct Content: Sendable {
            let body: @Sendable ((@Sendable () -> JSONEncoder)?) -> HTTPBody

            static let none = Content { _ in .none }

            init(_ body: @escaping @Sendable ((@Sendable () -> JSONEncoder)?) -> HTTPBody) {
                self.body = body
            }
        }

        /// JSON as a literal; `nil` is no content, and `HTTPBody.json(nil)` sends a null.
        public static func buildExpression(_ literal: JSONValue.Literal) -> Content {
            literal.isNull
                ? .none : Content { encoder in encoder.map { .json(literal, encoder: $0()) } ?? .json(literal) }
        }

        /// A JSON object as a literal without nested literals, with values of any `Encodable` types.
        ///
        /// - Parameters:
        ///   - members: The members; their names must differ.
        ///   - encoder: The encoder; without it, that of the builder.
        /// - Returns: The content.
        public static func buildExpression(_ members: JSONValue.Members, encoder: JSONEncoder? = nil) -> Content {
            Content { .json(members, encoder: encoder ?? $0?()) }
        }

        /// Refuses a literal of values of different types.
        @available(
            *,
            unavailable,
            message: """
                write .value(x) for each value that isn't a literal: ["a": .value(x), "b": ["c": 1]]
                """
        )
        public static func buildExpression(_ object: [String: Any?]) -> Content { .none }

        /// Refuses a literal of values of different types.
        @available(
            *,
            unavailable,
            message: """
                write .value(x) for each value that isn't a literal: [["a": .value(x)], 1]
                """
        )
        public static func buildExpression(_ elements: [Any?]) -> Content { .none }

        /// A value, to be sent as JSON.
        @_disfavoredOverload
        public static func buildExpression(_ value: some Encodable & Sendable) -> Content {
            Content { encoder in .json(value, encoder: encoder?()) }
        }

        /// A value, to be sent as JSON, or nothing.
        @_disfavoredOverload
        public static func buildExpression(_ value: (some Encodable & Sendable)?) -> Content {
            value.map { buildExpression($0) } ?? .none
        }

        /// Data, to be sent unchanged.
        public static func buildExpression(_ data: Data) -> Content { Content { _ in .data(data) } }
        /// Data, to be sent unchanged, or nothing.
        @_disfavoredOverload
        public static func buildExpression(_ data: Data?) -> Content { data.map { buildExpression($0) } ?? .none }
        /// Content of any kind.
        public static func buildExpression(_ body: HTTPBody) -> Content { Content { _ in body } }
        /// A call without a value.
        public static func buildExpression(_ nothing: Void) {}

        /// Nothing.
        public static func buildBlock() -> Content { .none }
        /// The first statement.
        public static func buildPartialBlock(first content: Content) -> Content { content }
        /// A first statement without a value.
        public static func buildPartialBlock(first nothing: Void) {}
        /// A value behind statements without values.
        public static func buildPartialBlock(accumulated nothing: Void, next content: Content) -> Content { content }
        /// A statement without a value behind a value.
        public static func buildPartialBlock(accumulated content: Content, next nothing: Void) -> Content { content }
        /// A statement without a value behind another.
        public static func buildPartialBlock(accumulated nothing: Void, next other: Void) {}

        /// Two contents, which is an error.
        @available(*, unavailable, message: "a request has one content; put the values into one")
        public static func buildPartialBlock(accumulated content: Content, next other: Content) -> Content { content }

        /// An `if` without an `else`.
        public static func buildOptional(_ content: Content?) -> Content { content ?? .none }
        /// An `if`, or a case of a `switch`.
        public static func buildEither(first content: Content) -> Content { content }
        /// An `else`, or another case of a `switch`.
        public static func buildEither(second content: Content) -> Content { content }
        /// An `if #available`.
        public static func buildLimitedAvailability(_ content: Content) -> Content { content }
        /// No content, for a builder whose statements have no values.
        public static func buildFinalResult(_ nothing: Void) -> Content { .none }
        /// The content.
        public static func buildFinalResult(_ content: Content) -> Content { content }
    }
}

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

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns a query parameter; `nil` for one that has no value.
public func Item(_ name: String, value: (any Query.ValueConvertible)?) -> Query.Item { Query.Item(name, value: value) }

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
