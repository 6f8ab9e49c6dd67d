// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Typed values of header fields.
extension HTTPResponseHead {
    /// The links in the header, in their order (RFC 8288).
    ///
    /// - Complexity: O(n) in the size of the head.
    public var links: [HTTPField.Link] { HTTPField.Link.parse(self[values: .link], of: url) }

    /// Returns the URL of the first link with a relation type; `nil` if there is none, or if its scheme isn't `http` or
    /// `https`.
    ///
    /// Links that belong to other resources, because they have an `anchor`, are ignored.
    ///
    /// - Parameter relation: The relation type, such as `next`, in any case.
    /// - Returns: The URL, without its user and password.
    /// - Complexity: O(n) in the size of the head.
    public func link(_ relation: String) -> URL? {
        links.first { $0.isOfResponse && $0.relations.contains(relation.lowercasedASCII) }?.url
    }

    /// A safe file name for storing the content in a folder.
    ///
    /// The name comes from `Content-Disposition`, or from the last component of the URL, or is `download` if there is
    /// neither. It is a single path component of at most 255 bytes that isn't hidden, and contains no separators,
    /// control characters or reserved system names. A file with this name may already exist.
    ///
    /// - Complexity: O(n) in the size of the head.
    public var suggestedFileName: String {
        let disposition = self[.contentDisposition].flatMap { HTTPField.ContentDisposition(parsing: $0) }
        return FileName.safe(disposition?.fileName, url: url)
    }
}
