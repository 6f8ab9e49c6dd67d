// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension MediaType: HTTPFieldValue {
    /// Reads a media type from the text of a field or of a configuration.
    ///
    /// It forgives what servers get wrong in the parameters, in the way that browsers do: blanks anywhere, a parameter
    /// without a value, a missing quote at the end. Of a parameter that stands there twice, the first counts.
    ///
    /// - Throws: ``InvalidRequest`` where type or subtype isn't a token, or a control character stands anywhere.
    /// - Complexity: O(n) in the length of the text, and in the number of parameters squared, of which 64 are read.
    public init(parsing text: String) throws(InvalidRequest) {
        guard text.isFieldValue else {
            throw InvalidRequest(.mediaType, "has a control character", excerpt: text)
        }
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        let type = scanner.token()
        let hasSlash = scanner.skip("/")
        let subtype = scanner.token()
        scanner.skipBlanks()
        guard !type.isEmpty, hasSlash, !subtype.isEmpty, scanner.isAtEnd || scanner.next == UInt8(ascii: ";") else {
            throw InvalidRequest(.mediaType, "isn't a type and a subtype", excerpt: text)
        }
        self.init(type, subtype)
        while scanner.skip(";"), parameters.count < Self.maximumParameters {
            scanner.skipBlanks()
            let name = scanner.text(upTo: ";", "=")
            guard scanner.skip("=") else { continue }
            scanner.skipBlanks()
            let value = scanner.parameterValue(upTo: ";")
            guard name.isToken, self[parameter: name] == nil else { continue }
            parameters.append(Parameter(name, value))
        }
    }

    private static var maximumParameters: Int { 64 }

    /// Whether the type can be sent: type, subtype and the names of parameters are tokens, and no value has a control
    /// character.
    public var isValid: Bool { flaw == nil }

    /// The type itself, where it can be sent.
    ///
    /// A request checks its `Content-Type` and `Accept` fields that were made from types in this way. Code that puts
    /// ``rawValue`` somewhere by itself calls this before.
    ///
    /// - Throws: ``InvalidRequest`` that names the piece at fault.
    public func validated() throws(InvalidRequest) -> MediaType {
        if let flaw { throw flaw }
        return self
    }

    private var flaw: InvalidRequest? {
        guard type.isToken, subtype.isToken else {
            return InvalidRequest(
                .mediaType,
                "isn't a type and a subtype that are tokens",
                excerpt: "\(type)/\(subtype)"
            )
        }
        return parameters.flaw(.mediaType)
    }
}

extension MediaType: Codable {
    /// Reads a type from a string.
    ///
    /// - Throws: `DecodingError` where it isn't one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(InvalidRequest) {
            try self.init(parsing: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Writes the type as a string.
    ///
    /// - Throws: ``InvalidRequest`` where it isn't one that could be read again, and what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(validated().rawValue)
    }
}
