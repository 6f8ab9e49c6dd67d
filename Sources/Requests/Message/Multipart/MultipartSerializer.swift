// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Writes a multipart message, step by step: says what comes next, and is told what was read (RFC 2046, 5.1).
///
/// It does no input or output itself. Whoever does asks for ``next()``, does it, and asks again.
struct MultipartSerializer: Sendable {
    /// A part, as far as it matters here.
    struct Part: Sendable {
        /// Where the content comes from.
        enum Content: Sendable {
            /// It is here.
            case bytes(Data)
            /// It is read from somewhere; nil where its length isn't known before.
            case source(length: Int64?)
        }

        /// The header, with the empty line behind it.
        let header: String
        let content: Content
    }

    /// What to do next.
    enum Action: Sendable, Hashable {
        /// Write these bytes; at least one.
        case write(Data)
        /// Open the source of a part.
        case open(Int)
        /// Read from the source of a part, at most so many bytes, and tell of it: ``didRead(_:)``.
        case read(Int, atMost: Int64)
        /// Let go of the source of a part, which was read to its end.
        case close(Int)
        /// Nothing: everything is written.
        case finish
    }

    /// Why a message can't be written to its end.
    enum Failure: Error, Sendable, Hashable {
        /// The source of a part ended before its announced length.
        case tooShort(Int)
        /// The source of a part has more than its announced length.
        case tooLong(Int)
    }

    private enum State: Sendable {
        case preamble
        case header(Int)
        case bytes(Int, Data)
        case opening(Int, left: Int64?)
        case reading(Int, left: Int64?)
        case closing(Int)
        case finished
    }

    private let parts: [Part]
    private let boundary: String
    private let preamble: String
    private var state = State.preamble

    init(parts: [Part], boundary: String, preamble: String?) {
        self.parts = parts
        self.boundary = boundary
        self.preamble = preamble.map { $0 + "\r\n" } ?? ""
    }

    /// What comes next.
    ///
    /// Until it is told what was read, it says the same again.
    mutating func next() -> Action {
        switch state {
        case .preamble:
            state = .header(0)
            return preamble.isEmpty ? next() : .write(Data(preamble.utf8))
        case .header(let index) where index == parts.count:
            state = .finished
            return .write(Data(end.utf8))
        case .header(let index):
            switch parts[index].content {
            case .bytes(let data) where data.isEmpty: state = .header(index + 1)
            case .bytes(let data): state = .bytes(index, data)
            case .source(let length): state = .opening(index, left: length)
            }
            return .write(Data(beginning(of: index).utf8))
        case .bytes(let index, let data):
            state = .header(index + 1)
            return .write(data)
        case .opening(let index, let left):
            state = .reading(index, left: left)
            return .open(index)
        case .reading(let index, let left):
            // Where nothing is left, one byte more is asked for: there mustn't be one.
            return .read(index, atMost: left.map { max(1, $0) } ?? .max)
        case .closing(let index):
            state = .header(index + 1)
            return .close(index)
        case .finished:
            return .finish
        }
    }

    /// Takes notice of so many bytes that were read and written, 0 at the end of the source.
    ///
    /// - Throws: ``Failure`` where the part turns out to have another length than was announced.
    mutating func didRead(_ count: Int) throws(Failure) {
        guard case .reading(let index, let left) = state else { return }
        if count == 0 {
            guard left ?? 0 == 0 else { throw .tooShort(index) }
            state = .closing(index)
        } else if let left {
            guard count <= left else { throw .tooLong(index) }
            state = .reading(index, left: left - Int64(count))
        }
    }

    /// How long the whole message is; nil where that of a part isn't known.
    ///
    /// - Throws: ``InvalidRequest`` where that is more than a number can say.
    func length() throws(InvalidRequest) -> Int64? {
        var total = Int64(preamble.utf8.count + end.utf8.count)
        for index in parts.indices {
            let content: Int64
            switch parts[index].content {
            case .bytes(let data): content = Int64(data.count)
            case .source(let length?): content = length
            case .source(nil): return nil
            }
            let (sum, overflow) = total.addingReportingOverflow(Int64(beginning(of: index).utf8.count))
            let (next, overflows) = sum.addingReportingOverflow(content)
            guard !overflow, !overflows else { throw InvalidRequest(.body, "is longer than can be said") }
            total = next
        }
        return total
    }

    /// The whole message, where all of it is in memory; else nil.
    func data() -> Data? {
        var serializer = self
        var message = Data()
        while true {
            switch serializer.next() {
            case .write(let data): message.append(data)
            case .finish: return message
            case .open, .read, .close: return nil
            }
        }
    }

    // The line break before a boundary belongs to the boundary, and what comes first needs none.
    private func beginning(of index: Int) -> String {
        "\(index == 0 ? "" : "\r\n")--\(boundary)\r\n\(parts[index].header)"
    }

    private var end: String {
        "\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n"
    }
}

// MARK: - Pieces

extension MultipartForm {
    /// A stretch of the form as it is sent.
    enum Piece: Sendable, Hashable {
        /// It is in memory.
        case data(Data)
        /// It is in a file, the whole of which it is.
        case file(URL)
    }

    /// The form as it is sent, stretch by stretch, without reading any of it.
    ///
    /// - Throws: ``InvalidRequest`` where a piece of it can't be sent, or where a part is a stream; what the encoding
    ///   of a part throws.
    func pieces() throws -> [Piece] {
        let message = try message()
        var serializer = message.serializer
        var pieces: [Piece] = []
        while true {
            switch serializer.next() {
            case .write(let data):
                pieces.append(.data(data))
            case .open(let part):
                guard case .file(let url) = message.contents[part] else {
                    throw InvalidRequest(.body, "has a part that is a stream")
                }
                pieces.append(.file(url))
            case .read(_, let left):
                if left > 0 { try serializer.didRead(Int(left)) }
                try serializer.didRead(0)
            case .close:
                break
            case .finish:
                return pieces
            }
        }
    }
}

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

/// A multipart message that is ready to be written, any number of times.
struct MultipartMessage: Sendable {
    /// Says what to write; each writing begins with a copy.
    let serializer: MultipartSerializer
    /// What the parts contain, of which those are read that aren't in memory.
    let contents: [HTTPBody.Content]
    /// The boundary, where it may stand in what is read by chance or intent, and has to be looked for.
    let guardedBoundary: String?
}
