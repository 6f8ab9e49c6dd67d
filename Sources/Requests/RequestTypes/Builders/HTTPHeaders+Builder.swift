// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// Builds headers from fields, conditions and loops.
    ///
    /// Write each capitalized field, such as `Accept(.json)`, on its own line, and likewise your own
    /// ``HTTPField/Convertible`` values. Use a member, such as `.accept(.json)`, only as the first statement, because
    /// Swift treats a line that begins with a dot as a continuation of the previous line. Elsewhere, write
    /// `HTTPField.accept(.json)`, or separate the statements with a semicolon. A call without a value, such as logging,
    /// is allowed.
    @resultBuilder
    public enum Builder {
        /// Adds a header field.
        public static func buildExpression(_ field: HTTPField) -> [HTTPField] { [field] }
        /// Adds the header field of a value.
        public static func buildExpression(_ field: some HTTPField.Convertible) -> [HTTPField] { [field.field] }
        /// Adds other headers.
        public static func buildExpression(_ headers: HTTPHeaders) -> [HTTPField] { Array(headers) }
        /// Accepts a call without a value.
        public static func buildExpression(_ nothing: Void) -> [HTTPField] { [] }
        /// Joins the statements of a block.
        public static func buildBlock(_ fields: [HTTPField]...) -> [HTTPField] { fields.flatMap { $0 } }
        /// Supports an `if` without an `else`.
        public static func buildOptional(_ fields: [HTTPField]?) -> [HTTPField] { fields ?? [] }
        /// Supports an `if`, or a case of a `switch`.
        public static func buildEither(first fields: [HTTPField]) -> [HTTPField] { fields }
        /// Supports an `else`, or another case of a `switch`.
        public static func buildEither(second fields: [HTTPField]) -> [HTTPField] { fields }
        /// Supports a `for` loop.
        public static func buildArray(_ fields: [[HTTPField]]) -> [HTTPField] { fields.flatMap { $0 } }
        /// Supports `if #available`.
        public static func buildLimitedAvailability(_ fields: [HTTPField]) -> [HTTPField] { fields }
        /// Creates the headers from all fields.
        public static func buildFinalResult(_ fields: [HTTPField]) -> HTTPHeaders { HTTPHeaders(fields) }
    }
}
