// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Why a request can't be put on the wire: the piece that is at fault, and what is wrong with it.
///
/// It arrives as the underlying error of a ``RequestError`` whose code is `invalidRequest`.
public struct InvalidRequest: Error, Sendable, Hashable, CustomStringConvertible {
    /// A piece of a request.
    public enum Piece: String, Sendable, Hashable {
        /// The method.
        case method
        /// The address.
        case url = "URL"
        /// The name of a header field.
        case headerName = "header name"
        /// The value of a header field.
        case headerValue = "header value"
        /// The media type of the content, or one that is accepted.
        case mediaType = "media type"
        /// What was to become the query, or the fields of a form.
        case query
        /// The content.
        case body
        /// The boundary between the parts of a multipart body.
        case boundary
        /// The name of a part of a multipart body.
        case partName = "part name"
        /// The file name of a part of a multipart body.
        case fileName = "file name"
    }

    /// The piece that is at fault.
    public let piece: Piece
    /// What is wrong with it.
    public let reason: String
    /// The beginning of the piece, with control characters escaped; never a header's value, which may be a secret.
    public let excerpt: String

    /// Makes the error; the excerpt is shortened here.
    public init(_ piece: Piece, _ reason: String, excerpt: String = "") {
        self.piece = piece
        self.reason = reason
        self.excerpt = excerpt.shortened()
    }

    /// The error, in a sentence.
    public var description: String {
        "the \(piece.rawValue)\(excerpt.isEmpty ? "" : " “\(excerpt)”") \(reason)"
    }
}
