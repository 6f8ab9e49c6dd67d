// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A regular expression that a test gave, or what is wrong with it.
struct StubPattern: Sendable, CustomStringConvertible {
    private let text: String
    private let expression: NSRegularExpression?

    init(_ text: String) {
        self.text = text
        expression = try? NSRegularExpression(pattern: text)
    }

    var description: String { "/\(text.shortened())/" }

    /// Why none of the texts has a match; nil where one has.
    func mismatch(of texts: [String], what: @autoclosure () -> String) -> String? {
        guard let expression else { return "\(self) isn't a regular expression" }
        let isMet = texts.contains { text in
            expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
        }
        return isMet ? nil : "\(what()) doesn't match \(self)"
    }
}
