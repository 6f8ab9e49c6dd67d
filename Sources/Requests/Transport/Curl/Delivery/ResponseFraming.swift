// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The end of the content of a response, by its head (RFC 9112, 6.3).
///
/// Two peers that read a message differently are how answers are smuggled: libcurl takes the last of several lengths,
/// reads a number up to its first letter, and drops one that is too large. A head that leaves a doubt is refused here.
struct ResponseFraming: Sendable, Hashable {
    /// Why a head leaves a doubt.
    enum Flaw: Error, Hashable, CustomStringConvertible {
        /// The status isn't a number of three digits.
        case invalidStatus
        /// A length isn't a number of 63 bits.
        case invalidLength
        /// There are several lengths.
        case severalLengths
        /// There is a length, and a transfer coding that has its own.
        case lengthAndCoding
        /// There is a transfer coding that no request asks for.
        case unknownCoding
        /// A field is written in a way that readers understand differently.
        case ambiguousField
        /// The response changes the protocol, which the request hasn't asked for.
        case unaskedUpgrade

        /// The flaw, in a sentence.
        var description: String {
            switch self {
            case .invalidStatus: "the status of the response isn't a number from 100 to 999"
            case .invalidLength: "the Content-Length of the response isn't a length"
            case .severalLengths: "the response has several values of Content-Length"
            case .lengthAndCoding: "the response has both a Content-Length and a Transfer-Encoding"
            case .unknownCoding: "the response has a Transfer-Encoding other than chunked"
            case .ambiguousField:
                "the response has a space before the colon of a length or coding, or a line break in it"
            case .unaskedUpgrade: "the response changes the protocol, which the request didn't ask for"
            }
        }
    }

    /// The number of bytes; `nil` if the content ends otherwise.
    private(set) var length: Int64?
    /// Whether the content is sent in chunks.
    private(set) var isChunked = false
    /// Whether libcurl waits for the end of the connection nevertheless.
    private(set) var isLengthIgnoredByCurl = false
    /// Whether only the end of the connection is the end of the content, with HTTP/1.0 and 1.1 (RFC 9112, 6.3).
    private(set) var endsWithConnection = false

    /// The framing of a response without content, or of which nothing is known.
    init() {}

    /// Reads the framing of the final response to a request.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - lines: The lines of the head that frame the content.
    ///   - isHeadRequest: Whether the request was HEAD, so that the fields say nothing of what comes.
    /// - Throws: If the head leaves a doubt.
    init(_ head: HTTPResponseHead, _ lines: FramingLines = FramingLines(), isHeadRequest: Bool) throws(Flaw) {
        let hasContent = head.status.category != .informational && head.status != .noContent
        guard hasContent, head.status != .notModified, !isHeadRequest else { return }
        guard !lines.isAmbiguous else { throw .ambiguousField }
        let lengths = head[values: .contentLength]
        let codings = head[values: .transferEncoding].flatMap { FieldScanner.elements(of: $0) }
        // "identity" is no coding: older servers say so of content as it is (RFC 9112, A).
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

    /// The one length that all values name, several in one field included (RFC 9110, 8.6); `nil` if there is no value.
    private static func length(of values: [String]) throws(Flaw) -> Int64? {
        guard let first = values.first else { return nil }
        // Almost every response has one number, which needs no splitting.
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

/// Detects a `Content-Length` or `Transfer-Encoding` that parsers read differently.
///
/// libcurl ignores a field with a space before its colon (RFC 9112, 5.1), and the part of a value that is folded into
/// the next line (5.2). Others read both, and would look for the end of the content elsewhere.
struct FramingLines: Sendable, Hashable {
    private(set) var isAmbiguous = false
    /// Whether the last line was such a field, or the status, which nothing continues (RFC 9112, 2.2).
    private var isInField = false
    private var isFirst = true

    mutating func receive(_ line: UnsafeRawBufferPointer) {
        guard let first = line.first, !ASCII.isBlank(first) else {
            isAmbiguous = isAmbiguous || isInField
            return
        }
        isInField = isFirst
        isFirst = false
        // Most lines need no further look.
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
