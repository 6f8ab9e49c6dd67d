// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension ContentDisposition {
    /// Reads the value of a field; nil where nothing in it makes sense.
    ///
    /// Of the two names that a file may have, the one that says its character set comes first (RFC 6266, 4.3), unless
    /// it can't be read. It forgives what servers get wrong: no type, blanks in a name without quotes, a missing quote,
    /// a parameter twice, of which the first counts.
    ///
    /// - Complexity: O(n) in the length of the text, and in the number of parameters squared, of which 64 are read.
    public init?(parsing text: String) {
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        var rest = scanner
        let type = scanner.token()
        scanner.skipBlanks()
        // Without a type, what comes first is a parameter. It is read as one, of content that is to be kept.
        let hasType = scanner.isAtEnd || scanner.next == UInt8(ascii: ";")
        self.init(hasType && !type.isEmpty ? type.lowercasedASCII : "attachment")
        if hasType { rest = scanner }
        var extendedName: String?
        var isKnown = hasType && !type.isEmpty

        while !rest.isAtEnd, parameters.count < Self.maximumParameters {
            while rest.skip(";") || rest.skip(" ") || rest.skip("\t") {}
            let name = rest.text(upTo: ";", "=")
            guard rest.skip("=") else { continue }
            rest.skipBlanks()
            let value = rest.parameterValue(upTo: ";")
            guard name.isToken else { continue }
            isKnown = true
            if name.equalsIgnoringASCIICase("filename*") {
                extendedName = extendedName ?? value.decodedExtendedValue
            } else if name.equalsIgnoringASCIICase("filename") {
                fileName = fileName ?? value
            } else if self[parameter: name] == nil {
                parameters.append(HTTPField.Parameter(name, value))
            }
        }
        guard isKnown else { return nil }
        fileName = extendedName ?? fileName
    }

    private static var maximumParameters: Int { 64 }
}
