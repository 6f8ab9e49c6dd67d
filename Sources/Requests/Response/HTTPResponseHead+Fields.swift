// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Header fields with their types.
extension HTTPResponseHead {
    /// The links in the header, in their order (RFC 8288).
    ///
    /// - Complexity: O(n) in the size of the head.
    public var links: [HTTPField.Link] { HTTPField.Link.parse(self[values: .link], of: url) }

    /// The address of the first link of a kind; `nil` without one, or if it isn't one of `http` or `https`.
    ///
    /// Links of other resources, with an `anchor`, don't count.
    ///
    /// - Parameter relation: The kind, such as `next`, in any case.
    /// - Returns: The address, without its user and password.
    /// - Complexity: O(n) in the size of the head.
    public func link(_ relation: String) -> URL? {
        links.first { $0.isOfResponse && $0.relations.contains(relation.lowercasedASCII) }?.url
    }

    /// A safe name for storing the content in a folder.
    ///
    /// It is that of `Content-Disposition`, or else the last component of the address, or else `download`. It is one
    /// component that isn't hidden, without separators, control characters and reserved names of systems, of 255 bytes
    /// at most. There may already be a file of that name.
    ///
    /// - Complexity: O(n) in the size of the head.
    public var suggestedFileName: String {
        let disposition = self[.contentDisposition].flatMap { HTTPField.ContentDisposition(parsing: $0) }
        return FileName.safe(disposition?.fileName, url: url)
    }
}
