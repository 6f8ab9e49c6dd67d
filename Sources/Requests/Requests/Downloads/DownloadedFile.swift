// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A file that was downloaded, whole and at its destination.
public struct DownloadedFile: Sendable {
    /// Where it is.
    public let url: URL
    /// How many bytes it has.
    public let length: Int64
    /// The status and the headers of the response that completed it.
    public let response: HTTPResponseHead

    /// Describes a file.
    public init(url: URL, length: Int64, response: HTTPResponseHead) {
        self.url = url
        self.length = length
        self.response = response
    }
}
