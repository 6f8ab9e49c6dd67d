// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// Determines where the content of a response ends, based on its head (RFC 9112, 6.3).
///
/// If two peers interpret a message differently, an attacker can smuggle a response. libcurl uses the last of several
/// lengths, reads a number up to its first letter, and ignores a length that is too large. So an ambiguous head is
/// rejected here.
struct ResponseFraming: Sendable, Hashable {
    /// The reason why a head is ambiguous.
    enum Flaw: Error, Hashable, CustomStringConvertible {
        /// The status isn't a three-digit number.
        case invalidStatus
        /// A length is invalid: it must be a non-negative number of up to 63 bits.
        case invalidLength
        /// The values of `Content-Length` differ.
        case severalLengths
        /// The response has both a length and a transfer coding, although a transfer coding itself determines where the
        /// content ends.
        case lengthAndCoding
        /// The response has a transfer coding that no request accepts.
        case unknownCoding
        /// A field is written in a way that parsers interpret differently.
        case ambiguousField
        /// The response switches protocols, although the request didn't ask for an upgrade.
        case unexpectedUpgrade

        /// The flaw as a sentence.
        var description: String {
            switch self {
            case .invalidStatus: "the status of the response isn't a number from 100 to 999"
            case .invalidLength: "the Content-Length of the response is invalid"
            case .severalLengths: "the response has several different Content-Length values"
            case .lengthAndCoding: "the response has both a Content-Length and a Transfer-Encoding"
            case .unknownCoding: "the response has a Transfer-Encoding other than chunked"
            case .ambiguousField:
                "the response has a malformed Content-Length or Transfer-Encoding: a space before the colon, or a line break"
            case .unexpectedUpgrade: "the response switches protocols, but the request didn't ask for an upgrade"
            }
        }
    }

    /// The declared byte count of the content; `nil` if its end is determined in another way.
    private(set) var length: Int64?
    /// Whether the content uses the chunked transfer coding.
    private(set) var isChunked = false
    /// Whether libcurl ignores the length, and waits for the end of the connection.
    private(set) var isLengthIgnoredByCurl = false
    /// Whether only the end of the connection marks the end of the content, as in some HTTP/1.x responses (RFC 9112,
    /// 6.3).
    private(set) var endsWithConnection = false

    /// Creates the framing of a response that has no content, or whose head hasn't arrived yet.
    init() {}

    /// Reads the framing of the final response to a request.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - lines: The detector that has received the lines of the head.
    ///   - isHeadRequest: Whether the request was HEAD, in which case no content follows, whatever the fields declare.
    /// - Throws: A ``Flaw`` if the head is ambiguous.
    init(
        _ head: HTTPResponseHead,
        _ lines: AmbiguousFieldDetector = AmbiguousFieldDetector(),
        isHeadRequest: Bool
    ) throws(Flaw) {
        let hasContent = head.status.category != .informational && head.status != .noContent
        guard hasContent, head.status != .notModified, !isHeadRequest else { return }
        guard !lines.isAmbiguous else { throw .ambiguousField }
        let lengths = head[values: .contentLength]
        let codings = head[values: .transferEncoding].flatMap { FieldScanner.elements(of: $0) }
        // Older servers use "identity" for content without a coding (RFC 9112, A).
        let applied = codings.filter { !$0.equalsIgnoringASCIICase("identity") }
        guard applied.allSatisfy({ $0.equalsIgnoringASCIICase("chunked") }), applied.count <= 1 else {
            throw .unknownCoding
        }
        guard applied.isEmpty || lengths.isEmpty else { throw .lengthAndCoding }
        length = try Self.length(of: lengths)
        isChunked = !applied.isEmpty
        isLengthIgnoredByCurl = length != nil && !codings.isEmpty
        endsWithConnection = length == nil && applied.isEmpty
    }

    /// Returns the length on which all values agree; `nil` if there is no value.
    ///
    /// A single field may contain several values (RFC 9110, 8.6).
    private static func length(of values: [String]) throws(Flaw) -> Int64? {
        guard let first = values.first else { return nil }
        // Almost every response has a single number, which doesn't need to be split.
        if values.count == 1, first.utf8.allSatisfy(ASCII.isDigit), let number = Int64(first) { return number }
        var length: Int64?
        for text in values.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            let digits = String(text).trimmedOfBlanks
            guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit), let number = Int64(digits) else {
                throw .invalidLength
            }
            guard length == nil || length == number else { throw .severalLengths }
            length = number
        }
        return length
    }
}

/// Detects a `Content-Length` or `Transfer-Encoding` that parsers interpret differently.
///
/// libcurl ignores a field with a space before its colon (RFC 9112, 5.1), and the part of a value that continues on the
/// next line (5.2). Other parsers read both, and would find the end of the content elsewhere.
struct AmbiguousFieldDetector: Sendable, Hashable {
    private(set) var isAmbiguous = false
    /// Whether a continuation of the last line would be ambiguous.
    ///
    /// That is the case after one of these two fields, and after the status line, which nothing may continue (RFC 9112,
    /// 2.2).
    private var isInField = false
    private var isFirst = true

    mutating func receive(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first, !ASCII.isBlank(first) else {
            isAmbiguous = isAmbiguous || isInField
            return
        }
        isInField = isFirst
        isFirst = false
        // Skip most lines, whose first letter rules out both fields.
        guard ASCII.lowercased(first) == UInt8(ascii: "c") || ASCII.lowercased(first) == UInt8(ascii: "t"),
            let colon = line.offset(of: UInt8(ascii: ":"))
        else { return }
        var end = colon
        while ASCII.isBlank(line[end - 1]) { end -= 1 }
        let name = UnsafeRawBufferPointer(rebasing: line[..<end])
        isInField = HTTPField.Name.contentLength.matches(name) || HTTPField.Name.transferEncoding.matches(name)
        isAmbiguous = isAmbiguous || isInField && end < colon
    }
}
#endif
