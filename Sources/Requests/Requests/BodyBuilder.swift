// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Builds the content of a request: one value, of which there may be a choice, or nothing.
///
/// Two values don't compile. A call that gives nothing, such as one that logs, is let be.
@resultBuilder
public enum BodyBuilder {
    /// What a builder gives.
    public struct Content: Sendable {
        let body: @Sendable ((@Sendable () -> JSONEncoder)?) -> HTTPBody

        static let none = Content { _ in .none }

        init(_ body: @escaping @Sendable ((@Sendable () -> JSONEncoder)?) -> HTTPBody) {
            self.body = body
        }
    }

    /// A value, to be sent as JSON.
    public static func buildExpression(_ value: some Encodable & Sendable) -> Content {
        Content { encoder in encoder.map { HTTPBody.json(value, encoder: $0()) } ?? .json(value) }
    }

    /// A value, to be sent as JSON, or nothing.
    public static func buildExpression(_ value: (some Encodable & Sendable)?) -> Content {
        value.map { buildExpression($0) } ?? .none
    }

    /// Data, to be sent as it is.
    public static func buildExpression(_ data: Data) -> Content { Content { _ in .data(data) } }
    /// Data, to be sent as it is, or nothing.
    public static func buildExpression(_ data: Data?) -> Content { data.map { buildExpression($0) } ?? .none }
    /// Content of any kind.
    public static func buildExpression(_ body: HTTPBody) -> Content { Content { _ in body } }
    /// A call that gives nothing.
    public static func buildExpression(_ nothing: Void) {}

    /// Nothing.
    public static func buildBlock() -> Content { .none }
    /// The first statement.
    public static func buildPartialBlock(first content: Content) -> Content { content }
    /// A first statement that gives nothing.
    public static func buildPartialBlock(first nothing: Void) {}
    /// A value behind statements that give nothing.
    public static func buildPartialBlock(accumulated nothing: Void, next content: Content) -> Content { content }
    /// A statement that gives nothing behind a value.
    public static func buildPartialBlock(accumulated content: Content, next nothing: Void) -> Content { content }
    /// A statement that gives nothing behind another.
    public static func buildPartialBlock(accumulated nothing: Void, next other: Void) {}

    /// A request has one content.
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
    /// The content, where there were only statements that give nothing.
    public static func buildFinalResult(_ nothing: Void) -> Content { .none }
    /// The content.
    public static func buildFinalResult(_ content: Content) -> Content { content }
}
