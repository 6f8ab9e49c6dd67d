// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A record in the journal of an outbox: a change of an entry.
enum OutboxRecord: Codable, Sendable {
    /// It was added: the entry, the request as JSON, the entry's position in the order of all entries, and the version
    /// of the journal, both of which are `nil` in the first version.
    case added(Outbox.Entry, content: String, position: Int? = nil, version: Int? = nil)
    /// An attempt, or the application, has changed it.
    case changed(Outbox.Entry)
    /// The entry was sent, and no entry of its account and category before this position is left.
    case sent(UUID, categoryKey: [String?], before: Int)
    /// The application has removed these: all, or none.
    case discarded([UUID])
    /// It was sent, or the application has removed it: a record of the first version of the journal.
    case removed(UUID)

    /// The version of the journal: in the first one, a type could be registered without a name, and got that of the
    /// code.
    static let version = 2

    /// The entries.
    var ids: [UUID] {
        switch self {
        case .added(let entry, _, _, _), .changed(let entry): [entry.id]
        case .sent(let id, _, _), .removed(let id): [id]
        case .discarded(let ids): ids
        }
    }

    /// Whether it adds an entry.
    var isAddition: Bool { if case .added = self { true } else { false } }

    /// Whether it adds an entry without a position, as the first version of the library did.
    var lacksPosition: Bool { if case .added(_, _, nil, _) = self { true } else { false } }

    // The names in journals, which must not change.

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

/// A record is a line of text: the length and the checksum of the rest, both as eight hexadecimal digits, and JSON,
/// which contains no line break.
extension OutboxRecord {
    /// A part of a journal.
    enum Part: Sendable {
        case record(OutboxRecord)
        /// Bytes that aren't a record, and what is lost with them.
        case damage(Range<Int>, Loss)
    }

    /// What a damaged part has been.
    enum Loss: Sendable, Hashable {
        /// The addition of an entry, which is lost itself.
        case addition
        /// A change of one of these entries, if its bytes can be trusted. The change may have let the category continue
        /// without the entry.
        case change(of: Set<UUID>)
        /// The end of one of these entries, if its bytes can be trusted: it was sent, or the application removed it.
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

    /// Reads the content of a journal.
    ///
    /// A damaged part ends where the next record begins, wherever that is: so one wrong byte loses at most one record.
    ///
    /// - Parameter bytes: The content; its indices begin at 0.
    /// - Returns: The records and the damaged parts in their order; and the end of the last line, after which there may
    ///   be the beginning of a record whose write was interrupted.
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
                // Within a line, the content of a request may look like a record.
                let isLine = offset == start || bytes[offset - 1] == newline
                guard !isLine || bytes[payload].first != UInt8(ascii: "{") else { throw .newerJournal }
                offset += 1
            }
        }
        let end = bytes[start...].lastIndex(of: newline).map { $0 + 1 } ?? start
        if start < end { parts.append(.damage(start..<end, loss(of: bytes[start..<end]))) }
        return (parts, end)
    }

    /// The range of the payload of a complete line that begins at an offset; `nil` if none does.
    private static func payload(at offset: Int, of bytes: Data) -> Range<Int>? {
        // There must be a byte after the payload, which may be damaged.
        guard let (length, checksum) = prefix(at: offset, of: bytes), length < bytes.count - offset - prefixLength
        else { return nil }
        let payload = offset + prefixLength..<offset + prefixLength + Int(length)
        return CRC32.checksum(of: bytes[payload]) == checksum ? payload : nil
    }

    private static func prefix(at offset: Int, of bytes: Data) -> (length: UInt32, checksum: UInt32)? {
        let start = offset + prefixLength
        // A quick check, since no record begins at most offsets of a damaged part.
        guard start < bytes.endIndex, bytes[start - 1] == UInt8(ascii: " ") else { return nil }
        let numbers = String(decoding: bytes[offset..<start], as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false).map { UInt32($0, radix: 16) }
        guard numbers.count == 3, let length = numbers[0], let checksum = numbers[1] else { return nil }
        return (length, checksum)
    }

    /// Returns what is lost with a damaged part.
    ///
    /// A part that is as long as its own prefix says is a single record, some of whose bytes are wrong. Its kind and
    /// its entry are readable unless they are the wrong bytes.
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
