// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How content is to be presented, and under which name it may be kept (RFC 6266).
///
/// ```swift
/// let disposition = ContentDisposition(parsing: "attachment; filename=\"EURO.txt\"; filename*=UTF-8''%e2%82%ac.txt")
/// disposition?.fileName                                                                 // €.txt
/// ContentDisposition.attachment(fileName: "€.txt").rawValue
/// // attachment; filename="_.txt"; filename*=UTF-8''%E2%82%AC.txt
/// ```
///
/// - Warning: A name from a server is what the server says: it may hold `../`, a drive, a line break. It is data, and
///   no path.
public struct ContentDisposition: Sendable, Hashable, CustomStringConvertible {
    /// What is done with the content, in lower case: `attachment`, `inline`, `form-data`.
    public var type: String
    /// The parameters in their order, but for the name of the file.
    public var parameters: [HTTPField.Parameter]
    /// The name of the file, or nil where there is none.
    public var fileName: String?

    /// Makes a disposition.
    public init(_ type: String, parameters: [HTTPField.Parameter] = [], fileName: String? = nil) {
        self.type = type
        self.parameters = parameters
        self.fileName = fileName
    }

    /// Content that is to be kept in a file.
    public static func attachment(fileName: String? = nil) -> ContentDisposition {
        ContentDisposition("attachment", fileName: fileName)
    }

    /// Content that is to be shown.
    public static func inline(fileName: String? = nil) -> ContentDisposition {
        ContentDisposition("inline", fileName: fileName)
    }

    /// The value of the first parameter of a name, or nil where there is none.
    public subscript(parameter name: String) -> String? {
        get { parameters[named: name] }
        set { parameters[named: name] = newValue }
    }

    /// Whether the content is to be kept in a file: so is everything that isn't known to be shown (RFC 6266, 4.2).
    public var isAttachment: Bool {
        !type.equalsIgnoringASCIICase("inline") && !type.equalsIgnoringASCIICase("form-data")
    }

    /// The disposition as it stands in the field.
    ///
    /// A name that isn't plain ASCII is sent twice: for old readers with `_` in the place of what they can't read, and
    /// in UTF-8 (RFC 8187).
    public var rawValue: String {
        var text = type
        for parameter in parameters { text += "; \(parameter)" }
        guard let fileName else { return text }
        guard !fileName.utf8.allSatisfy(\.isPlain) else { return "\(text); filename=\(fileName.quoted)" }
        let plain = String(
            fileName.map { character in
                character.utf8.count == 1 && character.utf8.allSatisfy(\.isPlain) ? character : "_"
            }
        )
        return "\(text); filename=\(plain.quoted); filename*=UTF-8''\(fileName.asExtendedValue)"
    }

    /// The disposition as it stands in the field.
    public var description: String { rawValue }
}

extension ContentDisposition: HTTPFieldValue {
    /// The disposition itself, where it can be sent.
    ///
    /// - Throws: ``InvalidRequest`` where the type or the name of a parameter isn't a token, or the name of the file or
    ///   a value has a control character.
    public func validated() throws(InvalidRequest) -> ContentDisposition {
        guard type.isToken else {
            throw InvalidRequest(.headerValue, "of Content-Disposition has a type that isn't a token", excerpt: type)
        }
        if let flaw = parameters.flaw(.headerValue, "of Content-Disposition ") { throw flaw }
        guard fileName?.isFieldValue != false else {
            throw InvalidRequest(
                .headerValue,
                "of Content-Disposition has a control character in the name of the file",
                excerpt: fileName ?? ""
            )
        }
        return self
    }
}

extension UInt8 {
    /// Whether every reader takes the byte in a quoted name for what it is: no escapes, and no `%` that some decode.
    fileprivate var isPlain: Bool {
        0x20 <= self && self < 0x7F && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
            && self != UInt8(ascii: "%")
    }
}
