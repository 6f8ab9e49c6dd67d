// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A record in the journal of an outbox, which describes a change of its entries.
enum OutboxRecord: Codable, Sendable {
    /// An entry was added.
    ///
    /// The content is the request as JSON. The position is the place of the entry in the order of all entries. The
    /// position and the version of the journal are `nil` in the first version.
    case added(Outbox.Entry, content: String, position: Int? = nil, version: Int? = nil)
    /// An attempt or the application changed an entry.
    case changed(Outbox.Entry)
    /// An entry was sent, and no entry of its account and category remains before this position.
    case sent(UUID, categoryKey: [String?], before: Int)
    /// The application removed these entries: all of them, or none if the record is lost.
    case discarded([UUID])
    /// An entry was sent, or the application removed it; only in the first version of the journal.
    case removed(UUID)

    /// The current version of the journal.
    ///
    /// In the first version, a type could be registered without a name, and was then named by its Swift type name.
    static let version = 2

    /// The identifiers of the entries.
    var ids: [UUID] {
        switch self {
        case .added(let entry, _, _, _), .changed(let entry): [entry.id]
        case .sent(let id, _, _), .removed(let id): [id]
        case .discarded(let ids): ids
        }
    }

    /// Whether the record adds an entry.
    var isAddition: Bool { if case .added = self { true } else { false } }

    /// Whether the record adds an entry without a position, as in the first version of the journal.
    var lacksPosition: Bool { if case .added(_, _, nil, _) = self { true } else { false } }

    // These names are stored in journals, so they must not change.

    enum AddedCodingKeys: String, CodingKey {
        // swift-format-ignore: NoLeadingUnderscores
        case _0
        case content, version
        case position = "number"
    }

    enum SentCodingKeys: String, CodingKey {
        // swift-format-ignore: NoLeadingUnderscores
        case _0
        case before
        case categoryKey = "line"
    }
}

/// A record is a line: the length and the checksum of the rest, each as eight hexadecimal digits, and JSON without a
/// line break.
extension OutboxRecord {
    /// A part of a journal.
    enum Part: Sendable {
        case record(OutboxRecord)
        /// Bytes that aren't a record, and what was lost with them.
        case damage(Range<Int>, Loss)
    }

    /// What was lost because a part of the journal is damaged.
    enum Loss: Sendable, Hashable {
        /// The addition of an entry; the entry itself is lost.
        case addition
        /// A change of one of these entries, if the bytes can be trusted.
        ///
        /// The change may have let the category continue without the entry.
        case change(of: Set<UUID>)
        /// The end of one of these entries, if the bytes can be trusted: it was sent, or the application removed it.
        case end(of: Set<UUID>)
        /// Any number of records of any kind.
        case anything
    }

    /// Returns the line of the record.
    ///
    /// - Throws: `EncodingError` for a date that isn't a number.
    fileprivate func line(_ encoder: JSONEncoder) throws -> Data {
        let payload = try encoder.encode(self)
        let numbers = [UInt32(truncatingIfNeeded: payload.count), CRC32.checksum(of: payload)]
        let prefix = numbers.map { withUnsafeBytes(of: $0.bigEndian) { $0.hexadecimal } + " " }.joined()
        return Data(prefix.utf8) + payload + [Self.newline]
    }

    /// Parses the content of a journal.
    ///
    /// A damaged part ends where the next record begins, even inside a line, so one wrong byte destroys at most one
    /// record.
    ///
    /// - Parameter bytes: The content; its indices begin at 0.
    /// - Returns: The records and the damaged parts, in order, and the end of the last line. An interrupted write may
    ///   have left the beginning of a record after that.
    /// - Throws: ``Outbox/Error`` for an undamaged record of an unknown kind.
    /// - Complexity: O(n) in the number of bytes.
    static func read(_ bytes: Data) throws(Outbox.Error) -> (parts: [Part], end: Int) {
        let decoder = JSONDecoder()
        var (parts, offset, start) = ([Part](), 0, 0)
        while offset < bytes.count {
            guard let payload = payload(at: offset, of: bytes) else {
                offset += 1
                continue
            }
            if let record = try? decoder.decode(OutboxRecord.self, from: bytes[payload]) {
                if start < offset { parts.append(.damage(start..<offset, loss(of: bytes[start..<offset]))) }
                parts.append(.record(record))
                (offset, start) = (payload.upperBound + 1, payload.upperBound + 1)
            } else {
                // Ignore a match inside a line, where the content of a request may look like a record.
                let isLine = offset == start || bytes[offset - 1] == newline
                guard !isLine || bytes[payload].first != UInt8(ascii: "{") else { throw .newerJournal }
                offset += 1
            }
        }
        let end = bytes[start...].lastIndex(of: newline).map { $0 + 1 } ?? start
        if start < end { parts.append(.damage(start..<end, loss(of: bytes[start..<end]))) }
        return (parts, end)
    }

    /// Returns the range of the payload if a complete line begins at an offset; `nil` otherwise.
    private static func payload(at offset: Int, of bytes: Data) -> Range<Int>? {
        // The payload must be followed by one more byte, the line break, which may be damaged.
        guard let (length, checksum) = prefix(at: offset, of: bytes), length < bytes.count - offset - prefixLength
        else { return nil }
        let payload = offset + prefixLength..<offset + prefixLength + Int(length)
        return CRC32.checksum(of: bytes[payload]) == checksum ? payload : nil
    }

    private static func prefix(at offset: Int, of bytes: Data) -> (length: UInt32, checksum: UInt32)? {
        let start = offset + prefixLength
        // Check this first, because it rules out most offsets of a damaged part.
        guard start < bytes.endIndex, bytes[start - 1] == UInt8(ascii: " ") else { return nil }
        let numbers = String(decoding: bytes[offset..<start], as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false).map { UInt32($0, radix: 16) }
        guard numbers.count == 3, let length = numbers[0], let checksum = numbers[1] else { return nil }
        return (length, checksum)
    }

    /// Returns what was lost because a part of the journal is damaged.
    ///
    /// If the length of the part matches its prefix, the part is a single record with some wrong bytes. The kind and
    /// the entry of that record can be read unless those bytes are wrong.
    private static func loss(of part: Data) -> Loss {
        guard let length = prefix(at: part.startIndex, of: part)?.length, part.count == prefixLength + Int(length) + 1
        else { return .anything }
        let payload = part.dropFirst(prefixLength)
        if payload.starts(with: Data(#"{"added":{"#.utf8)) { return .addition }
        let text = Array(payload)
        let ids = text.indices.dropLast(35).compactMap { start in
            UUID(uuidString: String(decoding: text[start..<start + 36], as: UTF8.self))
        }
        let isEnd = ["sent", "discarded", "removed"].contains { payload.starts(with: Data(#"{"\#($0)":{"#.utf8)) }
        return isEnd ? .end(of: Set(ids)) : .change(of: Set(ids))
    }

    private static let newline = UInt8(ascii: "\n")
    private static let prefixLength = 18
}

extension Sequence<OutboxRecord> {
    /// Returns the lines of the records.
    ///
    /// - Throws: `EncodingError` for a date that isn't a number.
    func lines() throws -> Data {
        let encoder = JSONEncoder()
        return try reduce(into: Data()) { $0 += try $1.line(encoder) }
    }
}
