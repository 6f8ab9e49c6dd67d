// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// A piece of a template.
    enum Part: Sendable, Hashable {
        /// A text in every expansion, already escaped.
        case literal(String)
        /// A place for the values of variables.
        case expression(Expression)
    }

    /// The text between two braces.
    struct Expression: Sendable, Hashable {
        var kind: Operator
        var variables: [Specifier]
    }

    /// A variable in an expression.
    struct Specifier: Sendable, Hashable {
        var name: String
        var modifier: Modifier
    }

    /// The text behind the name of a variable (RFC 6570, 2.4).
    enum Modifier: Sendable, Hashable {
        case none
        /// At most this number of characters of the value.
        case prefix(Int)
        /// Each member separately.
        case explode
    }
}
