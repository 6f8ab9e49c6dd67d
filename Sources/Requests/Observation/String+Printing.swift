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
    func fitted(to columns: Int, alignedRight: Bool = false) -> String {
        let width = unicodeScalars.reduce(0) { $0 + $1.columns }
        guard width > columns else {
            let padding = String(repeating: " ", count: columns - width)
            return alignedRight ? padding + self : self + padding
        }
        guard columns > 0 else { return "" }
        var text = ""
        var used = 0
        for scalar in unicodeScalars {
            guard used + scalar.columns < columns else { break }
            used += scalar.columns
            text.unicodeScalars.append(scalar)
        }
        return text + "…" + String(repeating: " ", count: columns - 1 - used)
    }
}

extension Unicode.Scalar {
    fileprivate var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }

    /// The number of columns of the character in a terminal (UAX 11, abridged to characters that are always wide).
    fileprivate var columns: Int {
        guard value >= 0x300 else { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x20000...0x3FFFD:
            return 2
        default:
            return 1
        }
    }
}
