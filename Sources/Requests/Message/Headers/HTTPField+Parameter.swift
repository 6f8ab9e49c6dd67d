// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPField {
    /// A parameter in the value of a field, such as `charset=utf-8` (RFC 9110, 5.6.6).
    public struct Parameter: Sendable, CustomStringConvertible {
        /// The name, compared without regard to case.
        public var name: String
        /// The value, without quotes and escapes.
        public var value: String

        /// Makes a parameter.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// The parameter as it stands in a field: the value is quoted where it isn't a token.
        public var description: String { "\(name)=\(value.asParameterValue)" }
    }
}

extension HTTPField.Parameter: Hashable {
    /// Compares names without regard to case, and values with regard to it, except those of `charset`.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        guard lhs.name.equalsIgnoringASCIICase(rhs.name) else { return false }
        return lhs.isCharset ? lhs.value.equalsIgnoringASCIICase(rhs.value) : lhs.value == rhs.value
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name.lowercasedASCII)
        hasher.combine(isCharset ? value.lowercasedASCII : value)
    }

    private var isCharset: Bool { name.equalsIgnoringASCIICase("charset") }
}

extension [HTTPField.Parameter] {
    /// The value of the first parameter of a name; setting it replaces that parameter in its place, nil removes it.
    subscript(named name: String) -> String? {
        get { first { $0.name.equalsIgnoringASCIICase(name) }?.value }
        set {
            let index = firstIndex { $0.name.equalsIgnoringASCIICase(name) }
            switch (index, newValue) {
            case (let index?, let value?): self[index].value = value
            case (nil, let value?): append(HTTPField.Parameter(name, value))
            case (let index?, nil): remove(at: index)
            case (nil, nil): break
            }
        }
    }

    /// What is wrong with the parameters: a name that isn't a token, or a control character in a value.
    ///
    /// - Parameters:
    ///   - piece: What the parameters are a part of.
    ///   - prefix: What the reason begins with, such as `of Authorization `.
    ///   - areSecret: Whether values are left out of the error.
    /// - Returns: The error, or nil where nothing is wrong.
    func flaw(_ piece: InvalidRequest.Piece, _ prefix: String = "", areSecret: Bool = false) -> InvalidRequest? {
        for parameter in self {
            guard parameter.name.isToken else {
                return InvalidRequest(
                    piece,
                    prefix + "has a parameter whose name isn't a token",
                    excerpt: areSecret ? "" : parameter.name
                )
            }
            guard parameter.value.isFieldValue else {
                return InvalidRequest(
                    piece,
                    prefix + "has a control character in \(parameter.name.shortened())",
                    excerpt: areSecret ? "" : parameter.value
                )
            }
        }
        return nil
    }
}
