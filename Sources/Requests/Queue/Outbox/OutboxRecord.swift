// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A record in the journal of an outbox: a change of an entry.
enum OutboxRecord: Codable, Sendable {
    /// It was added, with the request as JSON.
    case added(Outbox.Entry, content: String)
    /// An attempt, or the application, has changed it.
    case changed(Outbox.Entry)
    /// It was sent, or the application has removed it.
    case removed(UUID)
}

/// A record is a line of text: the length and the checksum of the rest, both as eight hexadecimal digits, and JSON,
/// which contains no line break.
extension OutboxRecord {
    /// Returns the line of the record.
    ///
    /// - Throws: `EncodingError` for a date that isn't a number.
    func line() throws -> Data {
        let payload = try JSONEncoder().encode(self)
        let numbers = [UInt32(truncatingIfNeeded: payload.count), CRC32.checksum(of: payload)]
        let prefix = numbers.map { withUnsafeBytes(of: $0.bigEndian) { $0.hexadecimal } + " " }.joined()
        return Data(prefix.utf8) + payload + [Self.newline]
    }

    /// Reads the content of a journal.
    ///
    /// A damaged part ends where the next record begins, wherever that is: so one wrong byte loses at most one record.
    ///
    /// - Parameter bytes: The content; its indices begin at 0.
    /// - Returns: The records; the parts that aren't records; and the end of the last line, after which there may be
    ///   the beginning of a record whose write was interrupted.
    /// - Complexity: O(n) in the number of bytes.
    static func read(_ bytes: Data) -> (records: [OutboxRecord], damage: [Range<Int>], end: Int) {
        var (records, damage, offset, start) = ([OutboxRecord](), [Range<Int>](), 0, 0)
        while offset < bytes.count {
            if let payload = payload(at: offset, of: bytes),
                let record = try? JSONDecoder().decode(OutboxRecord.self, from: bytes[payload])
            {
                if start < offset { damage.append(start..<offset) }
                records.append(record)
                (offset, start) = (payload.upperBound + 1, payload.upperBound + 1)
            } else {
                offset += 1
            }
        }
        let end = bytes[start...].lastIndex(of: newline).map { $0 + 1 } ?? start
        if start < end { damage.append(start..<end) }
        return (records, damage, end)
    }

    /// The range of the payload of a complete line that begins at an offset; `nil` if none does.
    private static func payload(at offset: Int, of bytes: Data) -> Range<Int>? {
        let start = offset + 18
        // A quick check, since no record begins at most offsets of a damaged part. The byte behind the payload has to
        // exist, and may be damaged.
        guard start < bytes.count, bytes[start - 1] == UInt8(ascii: " ") else { return nil }
        let numbers = String(decoding: bytes[offset..<start], as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false).map { UInt32($0, radix: 16) }
        guard numbers.count == 3, let length = numbers[0], length < bytes.count - start else { return nil }
        let payload = start..<start + Int(length)
        return CRC32.checksum(of: bytes[payload]) == numbers[1] ? payload : nil
    }

    private static let newline = UInt8(ascii: "\n")
}
