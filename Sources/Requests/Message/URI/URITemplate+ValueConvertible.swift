// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// What a variable of a template can be set to.
    ///
    /// Texts, numbers and bools are, as well as arrays and dictionaries of them. To make a type of your own one, let it
    /// conform to ``Query/ValueConvertible`` if it is a text in the end, which makes it fit for queries too:
    ///
    /// ```swift
    /// enum Order: String, Query.ValueConvertible { case newest, oldest }
    /// ```
    public protocol ValueConvertible: Sendable {
        /// The value as the template takes it.
        var templateValue: URITemplate.Value { get }
    }
}

extension URITemplate.ValueConvertible where Self == URITemplate.Pairs {
    /// Pairs in the order in which they are written, where a dictionary would be sorted by its keys.
    public static func pairs(_ pairs: URITemplate.Pairs) -> URITemplate.Pairs { pairs }
}

extension URITemplate.Pairs: URITemplate.ValueConvertible {
    /// The pairs as a value.
    public var templateValue: URITemplate.Value { .pairs(self) }
}

extension Array: URITemplate.ValueConvertible where Element: Query.ValueConvertible {
    /// The list of the elements.
    public var templateValue: URITemplate.Value { .list(map(\.queryValue)) }
}

extension Dictionary: URITemplate.ValueConvertible where Key == String, Value: Query.ValueConvertible {
    /// The pairs, in the alphabetical order of the keys, so that the order is always the same.
    public var templateValue: URITemplate.Value { .pairs(URITemplate.Pairs(self)) }
}
