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

    @Test(arguments: records) func writtenRecordIsRead(_ record: CacheRecord) {
        #expect(CacheRecord(bytes: record.bytes(for: Self.key), for: Self.key) == record)
    }

    /// No server sends them: a status has three digits.
    @Test(arguments: [0, 1, 99, 103, 1000, 65_535]) func recordWithAForgedStatusIsDamaged(_ status: Int) {
        let record = CacheRecord.response(CacheSample.cached(status: HTTPStatus(status)))

        #expect(CacheRecord(bytes: record.bytes(for: Self.key), for: Self.key) == nil)
    }

    @Test func theContentBeginsAtZero() throws {
        let record = CacheRecord(bytes: Self.records[0].bytes(for: Self.key), for: Self.key)

        guard case .response(let response) = record else { throw CacheTestError.unexpected("\(record as Any)") }
        #expect(response.body.startIndex == 0)
    }

    @Test(arguments: records) func truncatedRecordIsDamaged(_ record: CacheRecord) {
        let bytes = record.bytes(for: Self.key)
        for count in 0..<bytes.count {
            #expect(CacheRecord(bytes: bytes.prefix(count), for: Self.key) == nil)
        }
        #expect(CacheRecord(bytes: bytes + [0], for: Self.key) == nil)
    }

    @Test(arguments: records) func recordWithAChangedBitIsDamaged(_ record: CacheRecord) {
        let bytes = record.bytes(for: Self.key)
        for index in bytes.indices {
            // One bit of each byte, or all.
            for bit in Scale.pick([index % 8], whole: Array(0..<8)) {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                #expect(CacheRecord(bytes: damaged, for: Self.key) == nil)
            }
        }
    }

    @Test(arguments: records) func recordOfAnotherKeyIsDamaged(_ record: CacheRecord) {
        let other = CacheKey(CacheSample.get([.authorization: "Bearer a"]))

        #expect(CacheRecord(bytes: record.bytes(for: other), for: Self.key) == nil)
    }
}

@Suite(.bounded) struct CacheRecordFuzzTests {
    /// The checksum is corrected, so that the bytes after it are read.
    @Test func nothingThatIsReadTraps() throws {
        var fuzz = Fuzz()
        let key = CacheRecordTests.key
        let originals = CacheRecordTests.records.map { Array($0.bytes(for: key)) }
        try #require(originals.allSatisfy { $0.count > 12 })
        for index in 0..<Scale.fuzz(weight: 10) {
            var bytes = originals[index % originals.count]
            for _ in 0..<Int.random(in: 1...4, using: &fuzz) {
                let position = Int.random(in: 12..<max(13, bytes.count), using: &fuzz)
                guard position < bytes.count else { continue }
                switch Int.random(in: 0..<3, using: &fuzz) {
                case 0: bytes[position] = UInt8.random(in: 0...255, using: &fuzz)
                case 1: bytes.remove(at: position)
                default: bytes.insert(255, at: position)
                }
            }
            var checksum = CRC32()
            checksum.update(Data(key.name.utf8))
            checksum.update(Data(bytes.dropFirst(12)))
            for (offset, shift) in [24, 16, 8, 0].enumerated() {
                bytes[8 + offset] = UInt8(truncatingIfNeeded: checksum.value >> UInt32(shift))
            }
            guard let record = CacheRecord(bytes: Data(bytes), for: key) else { continue }
            guard record.cost <= 512 + 65 * bytes.count,
                CacheRecord(bytes: record.bytes(for: key), for: key) == record
            else {
                Issue.record("case \(index) with seed \(Fuzz.seed)")
                return
            }
        }
    }
}
