// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPResponseHead {
    /// The name under which the content may be kept in a folder.
    ///
    /// It is that of `Content-Disposition`, or else the last component of the address, or else `download`. It is safe:
    /// one component that isn't hidden, without separators, control characters and names that a system keeps for
    /// itself, of 255 bytes at most. Whether there is a file of that name already is another question.
    ///
    /// - Complexity: O(n) in the size of the head.
    public var suggestedFileName: String {
        let disposition = self[.contentDisposition].flatMap { ContentDisposition(parsing: $0) }
        return FileName.safe(disposition?.fileName, url: url)
    }
}
