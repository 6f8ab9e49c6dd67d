// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A multipart message that is ready to be written, any number of times: its sections, in their order (RFC 2046, 5.1).
struct MultipartMessage: Sendable {
    /// Bytes in memory, or the content of a part that is read: a file or a stream.
    struct Section: Sendable {
        let content: HTTPBody.Content
        /// The byte count, which the content must have; `nil` if it isn't known.
        let length: Int64?
    }

    private(set) var sections: [Section] = []
    /// The boundary to search for, if content that is read may contain it by chance or intent.
    let guardedBoundary: String?

    /// Makes a message of parts: the headers, each with the empty line behind it, and the contents.
    ///
    /// - Throws: ``InvalidRequest`` for a file that can't be read, and for a guarded boundary in the content of a part.
    init(
        _ parts: [(header: String, content: HTTPBody.Content)],
        boundary: String,
        preamble: String?,
        isGuarded: Bool
    ) throws(InvalidRequest) {
        guardedBoundary = isGuarded ? boundary : nil
        // The line break before a boundary belongs to the boundary; the first boundary needs none.
        var text = preamble.map { "\($0)\r\n" } ?? ""
        for (index, part) in parts.enumerated() {
            text += "\(index == 0 ? "" : "\r\n")--\(boundary)\r\n\(part.header)"
            add(Data(text.utf8))
            text = ""
            switch part.content {
            case .none: break
            case .data(let data):
                var search = BoundarySearch(boundary)
                guard !isGuarded || !data.withUnsafeBytes({ search.finds(in: $0) }) else {
                    throw InvalidRequest.boundary(boundary)
                }
                add(data)
            case .file(let url): sections.append(Section(content: part.content, length: try url.sizeOfFile()))
            case .stream(let stream): sections.append(Section(content: part.content, length: stream.length))
            }
        }
        add(Data("\(text)\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8))
    }

    private mutating func add(_ data: Data) {
        if !data.isEmpty { sections.append(Section(content: .data(data), length: Int64(data.count))) }
    }

    /// The length of the whole message; `nil` if that of a part isn't known.
    ///
    /// - Throws: ``InvalidRequest`` if the length overflows.
    func length() throws(InvalidRequest) -> Int64? {
        var total: Int64 = 0
        for section in sections {
            guard let length = section.length else { return nil }
            let (sum, overflows) = total.addingReportingOverflow(length)
            guard !overflows else { throw InvalidRequest(.body, "is longer than 2^63 bytes") }
            total = sum
        }
        return total
    }

    /// The whole message, if all of it is in memory; otherwise `nil`.
    var data: Data? {
        var message = Data()
        for section in sections {
            guard case .data(let data) = section.content else { return nil }
            message.append(data)
        }
        return message
    }
}

extension InvalidRequest {
    static func boundary(_ boundary: String) -> InvalidRequest {
        InvalidRequest(.boundary, "stands in the content of a part, too", excerpt: boundary)
    }
}

/// Searches for a boundary in content that comes piece by piece, where a reader would take it for the end of the part.
///
/// A boundary begins a line, behind two hyphens. The line before it ends with CR and LF by the rule, but some readers
/// accept one of them (werkzeug either, Python's `email` too), so each counts here. A line end occurs only at the
/// beginning of the pattern. A mismatch therefore restarts at most at the byte itself, and linear time needs no table.
struct BoundarySearch: Sendable {
    private let pattern: [UInt8]
    // The first line begins with the part: its line break is that of the header.
    private var matched = 1

    init(_ boundary: String) {
        pattern = Array("\n--\(boundary)".utf8)
    }

    /// Returns whether the boundary ends in this piece of the content.
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
