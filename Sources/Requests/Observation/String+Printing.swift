// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension String {
    /// At most `limit` characters of an untrusted text, as one line that doesn't move the cursor.
    ///
    /// Control characters are shown escaped, and so are characters that separate lines or change the direction of text:
    /// a log is read by people and by programs, and neither should see a forged line.
    ///
    /// - Complexity: O(min(n, limit)).
    func printable(upTo limit: Int = 4096) -> String {
        if utf8.count <= limit, utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
        var text = ""
        var count = 0
        for scalar in unicodeScalars {
            guard count < limit else { return text + "…" }
            count += 1
            if scalar.isPrintable {
                text.unicodeScalars.append(scalar)
            } else {
                text += scalar.escaped(asASCII: true)
            }
        }
        return text
    }

    /// The text in exactly `columns` columns of a terminal: truncated if it is longer, padded if it is shorter.
    ///
    /// Each scalar counts as one column, also one that a terminal draws wider.
    func fitted(to columns: Int, alignedRight: Bool = false) -> String {
        let count = unicodeScalars.count
        if count > columns { return String(unicodeScalars.prefix(max(0, columns - 1))) + (columns > 0 ? "…" : "") }
        let padding = String(repeating: " ", count: columns - count)
        return alignedRight ? padding + self : self + padding
    }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
