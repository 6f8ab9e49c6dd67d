// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPHeaders {
    /// Whether the content is compressed or the like, so that the bytes of a file aren't those that were counted.
    package var isEncoded: Bool {
        self[values: .contentEncoding].contains {
            !$0.trimmedOfBlanks.isEmpty && !$0.equalsIgnoringASCIICase("identity")
        }
    }

    /// The length of the content, where there is one number that says it.
    var exactLength: Int64? {
        let text = self[.contentLength]?.trimmedOfBlanks ?? ""
        return !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit) ? Int64(text) : nil
    }
}
