// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// Builds the content of a request: at most one value, which may depend on conditions.
    ///
    /// Two values don't compile. A call without a value, such as logging, is allowed.
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

        /// Uses a literal as JSON; `nil` means no content, whereas `HTTPBody.json(nil)` sends a null.
        public static func buildExpression(_ literal: JSONValue.Literal) -> Content {
            literal.isNull
                ? .none : Content { encoder in encoder.map { .json(literal, encoder: $0()) } ?? .json(literal) }
        }

        /// Encodes a JSON object, given as a dictionary literal that contains no nested literals.
        ///
        /// The values may be of any `Encodable` types.
        ///
        /// - Parameters:
        ///   - members: The members; their names must be unique.
        ///   - encoder: The encoder; `nil`, the default, uses the builder's encoder.
        /// - Returns: The content.
        public static func buildExpression(_ members: JSONValue.Members, encoder: JSONEncoder? = nil) -> Content {
            Content { .json(members, encoder: encoder ?? $0?()) }
        }

        /// Rejects a literal with values of different types.
        @available(
            *,
            unavailable,
            message: """
                use .value(x) for each value that isn't a literal: ["a": .value(x), "b": ["c": 1]]
                """
        )
        public static func buildExpression(_ object: [String: Any?]) -> Content { .none }

        /// Rejects a literal with values of different types.
        @available(
            *,
            unavailable,
            message: """
                use .value(x) for each value that isn't a literal: [["a": .value(x)], 1]
                """
        )
        public static func buildExpression(_ elements: [Any?]) -> Content { .none }

        /// Sends a value as JSON.
        @_disfavoredOverload
        public static func buildExpression(_ value: some Encodable & Sendable) -> Content {
            Content { encoder in .json(value, encoder: encoder?()) }
        }

        /// Sends a value as JSON, or nothing if it is `nil`.
        @_disfavoredOverload
        public static func buildExpression(_ value: (some Encodable & Sendable)?) -> Content {
            value.map { buildExpression($0) } ?? .none
        }

        /// Sends data unchanged.
        public static func buildExpression(_ data: Data) -> Content { Content { _ in .data(data) } }
        /// Sends data unchanged, or nothing if it is `nil`.
        @_disfavoredOverload
        public static func buildExpression(_ data: Data?) -> Content { data.map { buildExpression($0) } ?? .none }
        /// Sends a body of any kind.
        public static func buildExpression(_ body: HTTPBody) -> Content { Content { _ in body } }
        /// Accepts a call without a value.
        public static func buildExpression(_ nothing: Void) {}

        /// Returns no content, for an empty block.
        public static func buildBlock() -> Content { .none }
        /// Begins a block with a value.
        public static func buildPartialBlock(first content: Content) -> Content { content }
        /// Begins a block with a statement without a value.
        public static func buildPartialBlock(first nothing: Void) {}
        /// Adds a value after statements without values.
        public static func buildPartialBlock(accumulated nothing: Void, next content: Content) -> Content { content }
        /// Adds a statement without a value after a value.
        public static func buildPartialBlock(accumulated content: Content, next nothing: Void) -> Content { content }
        /// Adds a statement without a value after another such statement.
        public static func buildPartialBlock(accumulated nothing: Void, next other: Void) {}

        /// Rejects a second value.
        @available(*, unavailable, message: "a request has only one body; combine the values")
        public static func buildPartialBlock(accumulated content: Content, next other: Content) -> Content { content }

        /// Supports an `if` without an `else`.
        public static func buildOptional(_ content: Content?) -> Content { content ?? .none }
        /// Supports an `if`, or a case of a `switch`.
        public static func buildEither(first content: Content) -> Content { content }
        /// Supports an `else`, or another case of a `switch`.
        public static func buildEither(second content: Content) -> Content { content }
        /// Supports `if #available`.
        public static func buildLimitedAvailability(_ content: Content) -> Content { content }
        /// Returns no content, for a builder whose statements have no values.
        public static func buildFinalResult(_ nothing: Void) -> Content { .none }
        /// Returns the content.
        public static func buildFinalResult(_ content: Content) -> Content { content }
    }
}
