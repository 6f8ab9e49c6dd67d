// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension URITemplate {
    /// The values of variables, by name.
    ///
    /// ```swift
    /// var variables: URITemplate.Variables = ["user": name, "page": 2, "tags": ["a", "b"], "until": nil]
    /// variables["page"] = 3
    /// ```
    ///
    /// Texts, numbers, bools, arrays and dictionaries can stand there as they are, and whatever else is
    /// ``ValueConvertible``. A name that stands there twice has its last value.
    public struct Variables: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private var values: [String: URITemplate.Value]

        /// Makes variables without values.
        public init() {
            values = [:]
        }

        /// Makes variables of a dictionary, such as the one that was extracted from another address.
        public init(_ values: [String: URITemplate.Value]) {
            self.values = values
        }

        /// Makes variables of names and values; nil is the same as no value.
        public init(dictionaryLiteral elements: (String, (any ValueConvertible)?)...) {
            values = Dictionary(elements.map { ($0, URITemplate.Value($1)) }, uniquingKeysWith: { $1 })
        }

        /// The value of a variable; ``Value/undefined`` where there is none.
        public subscript(name: String) -> URITemplate.Value {
            get { values[name] ?? .undefined }
            set { values[name] = newValue }
        }
    }
}
