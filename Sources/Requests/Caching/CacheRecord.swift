// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The value that is stored under one key.
enum CacheRecord: Sendable, Hashable {
    case response(CachedResponse)
    /// A reference to a response that depends on these fields, and is stored under a key that includes them.
    case varies([HTTPField.Name])

    /// The response, unless the record is a reference.
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

/// The file format of a record: a line with a checksum and the head as JSON, followed by the content.
///
/// The checksum covers everything that follows it. It also covers the key, so that a file with the wrong name is
/// detected.
extension CacheRecord {
    private enum Head: Codable {
        case varies([String])
        case response(status: Int, fields: [[String]], requestedAt: Date, receivedAt: Date)
    }

    /// Returns the bytes of the file; `nil` if a time isn't a number.
    ///
    /// - Complexity: O(n) in the number of bytes.
    func bytes(for key: CacheKey) -> Data? {
        let head: Head =
            switch self {
            case .varies(let names): .varies(names.map(\.rawValue))
            case .response(let response):
                .response(
                    status: response.status.code,
                    fields: response.headers.map { [$0.name.rawValue, $0.value] },
                    requestedAt: response.requestedAt,
                    receivedAt: response.receivedAt
                )
            }
        guard var content = try? JSONEncoder().encode(head) else { return nil }
        content.append(Self.newline)
        if let response { content.append(response.body) }
        return Self.checksum(of: content, for: key) + content
    }

    /// Creates a record from the bytes of a file; `nil` unless exactly these bytes were written for the key.
    ///
    /// - Complexity: O(n) in the number of bytes.
    init?(bytes: Data, for key: CacheKey) {
        let content = bytes.dropFirst(8)
        guard bytes.prefix(8) == Self.checksum(of: content, for: key), let end = content.firstIndex(of: Self.newline),
            let head = try? JSONDecoder().decode(Head.self, from: content[..<end])
        else { return nil }
        switch head {
        case .varies(let names):
            self = .varies(names.map { HTTPField.Name($0) })
        case .response(let status, let fields, let requestedAt, let receivedAt):
            guard 200...999 ~= status, fields.allSatisfy({ $0.count == 2 }) else { return nil }
            self = .response(
                CachedResponse(
                    status: HTTPStatus(status),
                    headers: HTTPHeaders(fields.map { HTTPField(HTTPField.Name($0[0]), $0[1]) }),
                    // Copy the data, so that its indices start at 0, as callers expect.
                    body: Data(content[end...].dropFirst()),
                    requestedAt: requestedAt,
                    receivedAt: receivedAt
                )
            )
        }
    }

    private static let newline = UInt8(ascii: "\n")

    /// Returns the checksum as eight hexadecimal digits.
    private static func checksum(of content: Data, for key: CacheKey) -> Data {
        let checksum = CRC32.checksum(of: Data(key.name.utf8), content)
        return Data(withUnsafeBytes(of: checksum.bigEndian) { $0.hexadecimal }.utf8)
    }
}
