// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Looks for a boundary in content that comes piece by piece, where a reader would take it for the end of the part.
///
/// It begins a line there, behind two hyphens. That the line before it ends with CR and LF is the rule, but there are
/// readers that are content with one of them (werkzeug with either, Python's `email`), so that each counts here. They
/// can only stand at the beginning of what is searched for, so a byte that doesn't fit never leads back further than to
/// itself, and no table is needed to search in linear time.
struct BoundarySearch: Sendable {
    private let pattern: [UInt8]
    // The first line begins where the part does: its line break is that of the header.
    private var matched = 1

    init(_ boundary: String) {
        pattern = Array("\n--\(boundary)".utf8)
    }

    /// Whether the boundary ends in this piece of the content.
    mutating func finds(in bytes: UnsafeRawBufferPointer) -> Bool {
        for byte in bytes {
            if byte == pattern[matched] {
                matched += 1
                if matched == pattern.count { return true }
            } else {
                matched = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") ? 1 : 0
            }
        }
        return false
    }
}
