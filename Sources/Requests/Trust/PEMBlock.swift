// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A block of PEM text (RFC 7468): what it says it is, and the bytes in it.
struct PEMBlock: Sendable, Hashable {
    let label: String
    let bytes: Data
    /// The block as it stood in the text, without what stood around it.
    let text: String

    /// The blocks of a text, in their order; whatever stands between them is ignored, as everywhere.
    ///
    /// - Throws: ``InvalidTrust`` where a block has no end, or no base64 in it. A text without blocks is no error.
    static func all(in text: String, of piece: InvalidTrust.Piece) throws(InvalidTrust) -> [PEMBlock] {
        var blocks: [PEMBlock] = []
        var open: (label: String, lines: [Substring])?
        // A carriage return and a line feed are one character, so that lines end as they may.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            if let label = line.boundary("BEGIN") {
                guard open == nil else { throw InvalidTrust(piece, "has a PEM block within another") }
                open = (label, [])
            } else if let label = line.boundary("END") {
                guard let (begun, lines) = open, begun == label else {
                    throw InvalidTrust(piece, "has the end of a PEM block that hasn't begun")
                }
                blocks.append(try PEMBlock(label: label, lines: lines, of: piece))
                open = nil
            } else {
                open?.lines.append(line)
            }
        }
        guard open == nil else { throw InvalidTrust(piece, "has a PEM block without an end") }
        return blocks
    }

    private init(label: String, lines: [Substring], of piece: InvalidTrust.Piece) throws(InvalidTrust) {
        // Old encrypted keys have fields before the content, and an empty line between (RFC 1421, 4.4).
        let isHeaded = lines.first?.contains(":") == true
        let content = isHeaded ? lines.drop { !$0.isEmpty } : lines[...]
        let base64 = content.joined().filter { !$0.isWhitespace }
        guard let bytes = Data(base64Encoded: base64), !bytes.isEmpty else {
            throw InvalidTrust(piece, "has a PEM block that isn't base64")
        }
        self.label = label
        self.bytes = bytes
        text = (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }

    /// Makes the text of a block.
    init(label: String, bytes: Data) {
        self.label = label
        self.bytes = bytes
        let base64 = bytes.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        text = "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----\n"
    }
}

extension Substring {
    /// The label of a line that begins or ends a block.
    fileprivate func boundary(_ word: String) -> String? {
        let line = trimmingCharacters(in: .whitespaces)
        let (prefix, suffix) = ("-----\(word) ", "-----")
        guard line.hasPrefix(prefix), line.hasSuffix(suffix) else { return nil }
        let label = line.dropFirst(prefix.count).dropLast(suffix.count)
        return label.isEmpty ? nil : String(label)
    }
}
