// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
