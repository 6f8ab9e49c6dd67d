// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CacheRecordTests {
    static let key = CacheKey(CacheSample.get())
    static let records: [CacheRecord] = [
        .response(
            CacheSample.cached(
                [HTTPField(.eTag, "\"1\""), HTTPField(.link, "<a>"), HTTPField(.link, "<b>"), HTTPField("X", "ü")],
                status: 404,
                body: "content\r\n\u{0}",
                requestedAt: CacheSample.start - 0.25
            )
        ),
        .response(CacheSample.cached([], body: "")),
        .varies([]),
        .varies(["accept", "accept-language"]),
    ]

    private static func bytes(_ record: CacheRecord, for key: CacheKey = key) throws -> Data {
        try #require(record.bytes(for: key))
    }

    @Test(arguments: records) func recordRoundTrips(_ record: CacheRecord) throws {
        #expect(try CacheRecord(bytes: Self.bytes(record), for: Self.key) == record)
    }

    /// No server sends them: a status has three digits.
    @Test(arguments: [0, 1, 99, 103, 1000, 65_535]) func recordWithInvalidStatusIsCorrupt(_ status: Int) throws {
        let record = CacheRecord.response(CacheSample.cached(status: HTTPStatus(status)))

        #expect(try CacheRecord(bytes: Self.bytes(record), for: Self.key) == nil)
    }

    @Test func decodedBodyStartsAtIndexZero() throws {
        let record = CacheRecord(bytes: try Self.bytes(Self.records[0]), for: Self.key)

        guard case .response(let response) = record else { throw CacheTestError.unexpected("\(record as Any)") }
        #expect(response.body.startIndex == 0)
    }

    @Test(arguments: records) func truncatedRecordIsCorrupt(_ record: CacheRecord) throws {
        let bytes = try Self.bytes(record)
        for count in 0..<bytes.count {
            #expect(CacheRecord(bytes: bytes.prefix(count), for: Self.key) == nil)
        }
        #expect(CacheRecord(bytes: bytes + [0], for: Self.key) == nil)
    }

    @Test(arguments: records) func recordWithFlippedBitIsCorrupt(_ record: CacheRecord) throws {
        let bytes = try Self.bytes(record)
        for index in bytes.indices {
            // One bit of each byte, or all.
            for bit in Scale.pick([index % 8], whole: Array(0..<8)) {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                #expect(CacheRecord(bytes: damaged, for: Self.key) == nil)
            }
        }
    }

    @Test(arguments: records) func recordOfAnotherKeyIsRejected(_ record: CacheRecord) throws {
        let other = CacheKey(CacheSample.get([.authorization: "Bearer a"]))

        #expect(try CacheRecord(bytes: Self.bytes(record, for: other), for: Self.key) == nil)
    }
}
