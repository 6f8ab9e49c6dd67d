// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPBody {
    /// Text.
    ///
    /// The type of a text names the encoding, unless it does so already: `text/plain; charset=utf-8`. Types that aren't
    /// text, such as JSON, have rules of their own and stay as they are.
    ///
    /// A character that the encoding doesn't have is an error when the request is sent: nothing is replaced.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - encoding: How it is written; UTF-8 by default.
    ///   - type: What kind of text it is; plain by default.
    /// - Returns: The body.
    public static func text(
        _ text: String,
        encoding: String.Encoding = .utf8,
        type: MediaType = .plainText
    ) -> HTTPBody {
        HTTPBody(headers: [.contentType: type.naming(encoding).rawValue], source: text) {
            _ = try type.validated()
            guard let data = text.data(using: encoding) else {
                throw InvalidRequest(.body, "can't be written in the encoding", excerpt: encoding.charset ?? "")
            }
            return .data(data)
        }
    }
}

extension MediaType {
    fileprivate func naming(_ encoding: String.Encoding) -> MediaType {
        guard charset == nil, MediaType.anyText.matches(self), let charset = encoding.charset else { return self }
        return self.charset(charset)
    }
}
