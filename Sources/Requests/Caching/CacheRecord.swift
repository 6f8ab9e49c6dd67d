// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The value stored under one key.
enum CacheRecord: Sendable, Hashable {
    /// A response.
    case response(CachedResponse)
    /// A reference: the response depends on these fields, and is stored under a key that includes them.
    case varies([HTTPField.Name])

    /// The response, if it is one.
    var response: CachedResponse? {
        if case .response(let response) = self { response } else { nil }
    }

    /// The approximate memory use, in bytes.
    var cost: Int {
        switch self {
        case .response(let response):
            response.headers.reduce(512 + response.body.count) {
                $0 + 64 + $1.name.rawValue.utf8.count + $1.value.utf8.count
            }
        case .varies(let names):
            names.reduce(512) { $0 + 64 + $1.rawValue.utf8.count }
        }
    }
}

/// The record as a file: a mark with the version of the format, a checksum, and the pieces, each behind its length.
///
/// Numbers are big-endian. The checksum covers the key too, so that a file with the wrong name is recognised.
extension CacheRecord {
    private static let mark: [UInt8] = Array("ReqCach".utf8) + [1]

    /// The bytes of the record.
    ///
    /// - Complexity: O(n) in their number.
    func bytes(for key: CacheKey) -> Data {
        var content = Writer()
        switch self {
        case .varies(let names):
            content.add(UInt8(0))
            content.add(UInt32(clamping: names.count))
            for name in names { content.add(name.rawValue) }
        case .response(let response):
            content.add(UInt8(1))
            content.add(response.requestedAt.timeIntervalSinceReferenceDate.bitPattern)
            content.add(response.receivedAt.timeIntervalSinceReferenceDate.bitPattern)
            content.add(UInt16(clamping: response.status.code))
            content.add(UInt32(clamping: response.headers.count))
            for field in response.headers {
                content.add(field.name.rawValue)
                content.add(field.value)
            }
            content.data.append(response.body)
        }
        var file = Writer()
        file.data.reserveCapacity(Self.mark.count + 4 + content.data.count)
        file.data.append(contentsOf: Self.mark)
        file.add(Self.checksum(of: content.data, for: key))
        file.data.append(content.data)
        return file.data
    }

    /// Reads the bytes of a record; `nil` if they aren't exactly those that were written for the key.
    ///
    /// - Complexity: O(n) in their number.
    init?(bytes: Data, for key: CacheKey) {
        var reader = Reader(bytes)
        guard reader.bytes(Self.mark.count).map(Array.init) == Self.mark,
            let checksum: UInt32 = reader.number(), checksum == Self.checksum(of: reader.rest, for: key),
            let kind: UInt8 = reader.number()
        else { return nil }
        switch kind {
        case 0: self.init(names: &reader)
        case 1: self.init(response: &reader)
        default: return nil
        }
    }

    private init?(names reader: inout Reader) {
        guard let count: UInt32 = reader.number() else { return nil }
        var names: [HTTPField.Name] = []
        for _ in 0..<count {
            guard let name = reader.text() else { return nil }
            names.append(HTTPField.Name(name))
        }
        guard reader.rest.isEmpty else { return nil }
        self = .varies(names)
    }

    private init?(response reader: inout Reader) {
        guard let requestedAt = reader.date(), let receivedAt = reader.date(), let code: UInt16 = reader.number(),
            200...999 ~= code, let count: UInt32 = reader.number()
        else { return nil }
        var headers: HTTPHeaders = []
        for _ in 0..<count {
            guard let name = reader.text(), let value = reader.text() else { return nil }
            headers.add(HTTPField(HTTPField.Name(name), value))
        }
        self = .response(
            CachedResponse(
                status: HTTPStatus(Int(code)),
                headers: headers,
                // Copied, so that its indices begin at 0, as callers expect.
                body: Data(reader.rest),
                requestedAt: requestedAt,
                receivedAt: receivedAt
            )
        )
    }

    private static func checksum(of content: Data, for key: CacheKey) -> UInt32 {
        var checksum = CRC32()
        checksum.update(Data(key.name.utf8))
        checksum.update(content)
        return checksum.value
    }
}

private struct Writer {
    var data = Data()

    mutating func add(_ number: some FixedWidthInteger & UnsignedInteger) {
        withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) }
    }

    mutating func add(_ text: String) {
        add(UInt32(clamping: text.utf8.count))
        data.append(contentsOf: text.utf8)
    }
}

private struct Reader {
    private(set) var rest: Data

    init(_ data: Data) {
        rest = data
    }

    mutating func bytes(_ count: Int) -> Data? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func number<Number: FixedWidthInteger & UnsignedInteger>() -> Number? {
        bytes(Number.bitWidth / 8)?.reduce(0) { $0 << 8 | Number($1) }
    }

    mutating func text() -> String? {
        guard let count: UInt32 = number(), let bytes = bytes(Int(count)) else { return nil }
        return String(utf8: bytes)
    }

    mutating func date() -> Date? {
        guard let pattern: UInt64 = number() else { return nil }
        let seconds = TimeInterval(bitPattern: pattern)
        return seconds.isFinite ? Date(timeIntervalSinceReferenceDate: seconds) : nil
    }
}
