// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// A part of a template: either a literal or an expression.
    enum Part: Sendable, Hashable {
        /// A string that is part of every expansion, already escaped.
        case literal(String)
        /// An expression, which is replaced by the values of its variables.
        case expression(Expression)
    }

    /// An expression, that is, the part of a template between two braces.
    struct Expression: Sendable, Hashable {
        var kind: Operator
        var variables: [Specifier]
    }

    /// A variable of an expression, with its modifier.
    struct Specifier: Sendable, Hashable {
        var name: String
        var modifier: Modifier
    }

    /// The modifier after the name of a variable (RFC 6570, 2.4).
    enum Modifier: Sendable, Hashable {
        case none
        /// The modifier `:n`, which limits the value to its first `n` characters.
        case prefix(Int)
        /// The modifier `*`, which expands each member of a list or of pairs separately.
        case explode
    }
}
