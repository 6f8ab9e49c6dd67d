// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// Names with a value each, in their order: what RFC 6570 calls an associative array.
    ///
    /// ```swift
    /// let template: URITemplate = "/map{?corner*}"
    /// try template.expand(["corner": .pairs(["lat": 48.1, "lon": 11.5])])  // /map?lat=48.1&lon=11.5
    /// ```
    public struct Pairs: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private struct Pair: Sendable, Hashable {
            let name: String
            let value: String
        }

        private let pairs: [Pair]

        /// Makes pairs of names and values, in their order; those whose value is nil are left out.
        public init(_ pairs: some Sequence<(String, (any Query.ValueConvertible)?)>) {
            self.pairs = pairs.compactMap { name, value in value.map { Pair(name: name, value: $0.queryValue) } }
        }

        /// Makes pairs of a dictionary, in the alphabetical order of the keys.
        public init(_ dictionary: [String: some Query.ValueConvertible]) {
            self.init(dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        }

        /// Makes pairs as they are written; those whose value is nil are left out.
        public init(dictionaryLiteral elements: (String, (any Query.ValueConvertible)?)...) {
            self.init(elements)
        }
    }
}

extension URITemplate.Pairs: RandomAccessCollection {
    /// The position of the first pair.
    public var startIndex: Int { pairs.startIndex }
    /// The position behind the last pair.
    public var endIndex: Int { pairs.endIndex }
    /// The pair at a position.
    public subscript(position: Int) -> (name: String, value: String) { (pairs[position].name, pairs[position].value) }
}
