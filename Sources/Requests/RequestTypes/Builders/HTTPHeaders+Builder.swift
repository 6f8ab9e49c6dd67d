// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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
