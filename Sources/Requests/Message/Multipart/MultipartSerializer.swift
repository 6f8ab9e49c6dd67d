// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Writes a multipart message step by step: it returns the next action, and is told how much was read (RFC 2046, 5.1).
///
/// It does no input or output itself. The caller calls ``next()``, performs the action, and calls it again.
struct MultipartSerializer: Sendable {
    /// A part, as far as the serializer needs it.
    struct Part: Sendable {
        /// The source of the content.
        enum Content: Sendable {
            /// It is in memory.
            case bytes(Data)
            /// It is read from a source; `nil` if its length isn't known.
            case source(length: Int64?)
        }

        /// The header, with the empty line behind it.
        let header: String
        let content: Content
    }

    /// The next step.
    enum Action: Sendable, Hashable {
        /// Write these bytes; at least one.
        case write(Data)
        /// Open the source of a part.
        case open(Int)
        /// Read at most this number of bytes from the source of a part, and report them with ``didRead(_:)``.
        case read(Int, atMost: Int64)
        /// Close the source of a part, which was read to its end.
        case close(Int)
        /// Stop: the message is complete.
        case finish
    }

    /// The reason why a message can't be completed.
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

    /// Returns the next step.
    ///
    /// Until ``didRead(_:)`` is called, a read is returned again.
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
            // At the announced end, one more byte is requested: there mustn't be one.
            return .read(index, atMost: left.map { max(1, $0) } ?? .max)
        case .closing(let index):
            state = .header(index + 1)
            return .close(index)
        case .finished:
            return .finish
        }
    }

    /// Records that `count` bytes were read and written; 0 at the end of the source.
    ///
    /// - Throws: ``Failure`` if the length of the part differs from the announced one.
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

    /// The length of the whole message; `nil` if that of a part isn't known.
    ///
    /// - Throws: ``InvalidRequest`` if the length overflows.
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

    /// The whole message, if all of it is in memory; otherwise `nil`.
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

    // The line break before a boundary belongs to the boundary; the first boundary needs none.
    private func beginning(of index: Int) -> String {
        "\(index == 0 ? "" : "\r\n")--\(boundary)\r\n\(parts[index].header)"
    }

    private var end: String {
        "\(parts.isEmpty ? "" : "\r\n")--\(boundary)--\r\n"
    }
}

// MARK: - Pieces

extension MultipartForm {
    /// A section of the form as it is sent.
    enum Piece: Sendable, Hashable {
        /// It is in memory.
        case data(Data)
        /// It is the whole content of a file.
        case file(URL)
    }

    /// The form as it is sent, section by section, without reading any of it.
    ///
    /// - Throws: ``InvalidRequest`` if a piece of it can't be sent, or if a part is a stream; any error that the
    ///   encoding of a part throws.
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

/// A multipart message that is ready to be written, any number of times.
struct MultipartMessage: Sendable {
    /// Returns the steps of writing; each writing begins with a copy.
    let serializer: MultipartSerializer
    /// The contents of the parts; those that aren't in memory are read.
    let contents: [HTTPBody.Content]
    /// The boundary to search for, if content that is read may contain it by chance or intent.
    let guardedBoundary: String?
}
