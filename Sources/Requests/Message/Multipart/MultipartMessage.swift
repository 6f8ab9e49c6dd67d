// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A multipart message (RFC 2046, 5.1), as a list of sections that can be serialized any number of times.
struct MultipartMessage: Sendable {
    /// A section of the message: either bytes in memory, or the file or stream of a part.
    struct Section: Sendable {
        let content: HTTPBody.Content
        /// The byte count that the content must have; `nil` if it is unknown.
        let length: Int64?

        /// The content as a stream.
        var stream: HTTPBody.Stream {
            guard case .file(let url) = content, let length else { return content.stream }
            return HTTPBody.Stream(length: length) { try HTTPBody.Content.file(url).open() }
        }
    }

    private(set) var sections: [Section] = []

    /// Creates a message from parts, whose headers must include the empty line at the end.
    ///
    /// - Throws: ``InvalidValue`` for a file that can't be read.
    init(
        _ parts: [(header: String, content: HTTPBody.Content)],
        boundary: String,
        preamble: String?
    ) throws(InvalidValue) {
        // The line break before a boundary belongs to the boundary, and the first boundary needs none.
        var text = preamble.map { "\($0)\r\n" } ?? ""
        for (index, part) in parts.enumerated() {
            text += "\(index == 0 ? "" : "\r\n")--\(boundary)\r\n\(part.header)"
            add(Data(text.utf8))
            text = ""
            switch part.content {
            case .none: break
            case .data(let data): add(data)
            case .file(let url): sections.append(Section(content: part.content, length: try url.fileSize()))
            case .stream(let stream): sections.append(Section(content: part.content, length: stream.length))
            }
        }
        add(Data("\(text)\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n".utf8))
    }

    private mutating func add(_ data: Data) {
        if !data.isEmpty { sections.append(Section(content: .data(data), length: Int64(data.count))) }
    }

    /// Returns the length of the entire message, or `nil` if the length of a part is unknown.
    ///
    /// - Throws: ``InvalidValue`` if the length overflows.
    func length() throws(InvalidValue) -> Int64? {
        var total: Int64 = 0
        for section in sections {
            guard let length = section.length else { return nil }
            let (sum, overflows) = total.addingReportingOverflow(length)
            guard !overflows else { throw InvalidValue(.body, "is longer than 2^63 bytes") }
            total = sum
        }
        return total
    }

    /// Whether any part is produced by asynchronous code.
    var isAsynchronous: Bool {
        sections.contains { $0.stream.isAsynchronous }
    }

    /// Returns a closure that reads the message chunk by chunk.
    ///
    /// The closure throws if a part doesn't have the declared length.
    @Sendable func chunks() -> HTTPBody.Stream.Read {
        let rest = Locked((sections: sections[...], read: HTTPBody.Stream.Read?.none))
        return {
            while true {
                if let chunk = try await rest.withLock({ $0.read })?() { return chunk }
                let next = rest.withLock { rest in
                    rest.read = nil
                    return rest.sections.popFirst()
                }
                guard let section = next else { return nil }
                if case .data(let data) = section.content { return data }
                let read = try await section.stream.makeReader()
                rest.withLock { $0.read = read }
            }
        }
    }

    /// The entire message, or `nil` if a part isn't in memory.
    var data: Data? {
        var message = Data()
        for section in sections {
            guard case .data(let data) = section.content else { return nil }
            message.append(data)
        }
        return message
    }
}
