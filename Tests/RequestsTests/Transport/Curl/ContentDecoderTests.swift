// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Content in each coding, in pieces of every size, whole and broken.
@Suite(.bounded) struct ContentDecoderTests {
    static let text = String(repeating: "hello, pancakes! ", count: 8)

    /// ``text`` in a coding, made by the tools of that coding.
    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let coding: ContentCoding
        let base64: String

        var bytes: [UInt8] { Array(Data(base64Encoded: base64) ?? Data()) }
    }

    static let samples: [Sample] = [
        Sample(
            testDescription: "gzip",
            coding: .gzip,
            base64: "H4sIAAAAAAACA8tIzcnJ11EoSMxLTsxOLVZUyBgYAQDNON23iAAAAA=="
        ),
        Sample(
            testDescription: "deflate",
            coding: .deflate,
            base64: "eJzLSM3JyddRKEjMS07MTi1WVMgYGAEAu8gvOQ=="
        ),
        Sample(
            testDescription: "deflate without its head",
            coding: .deflate,
            base64: "y0jNycnXUShIzEtOzE4tVlTIGBgBAA=="
        ),
        Sample(
            testDescription: "brotli",
            coding: .brotli,
            base64: "G4cAAMRtbF393iPiCiKoBgmwKM/pRuG88fQJBA=="
        ),
        Sample(
            testDescription: "zstd",
            coding: .zstd,
            base64: "KLUv/QRYxQAAiGhlbGxvLCBwYW5jYWtlcyEgAQAppXMJUmeMUg=="
        ),
    ]

    /// Decodes bytes in pieces of one size; returns the content, and whether they may end there.
    private static func decode(
        _ bytes: [UInt8],
        _ codings: [ContentCoding],
        by size: Int = .max
    ) throws -> (content: [UInt8], mayEnd: Bool) {
        let decoder = try ContentDecoder(codings)
        var content: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(size)
            rest = rest.dropFirst(part.count)
            try part.withUnsafeBytes { part in
                while let piece = try decoder.nextChunk(of: part) { content += piece }
            }
        }
        return (content, decoder.mayEnd)
    }

    @Test(arguments: samples, [1, 2, 7, .max])
    func contentDecodesRegardlessOfChunking(_ sample: Sample, by size: Int) throws {
        let decoded = try Self.decode(sample.bytes, [sample.coding], by: size)

        #expect(String(decoding: decoded.content, as: UTF8.self) == Self.text)
        #expect(decoded.mayEnd)
    }

    @Test(arguments: samples)
    func truncatedContentIsIncomplete(_ sample: Sample) throws {
        for count in 1..<sample.bytes.count {
            #expect(try !Self.decode(Array(sample.bytes[..<count]), [sample.coding]).mayEnd, "\(count)")
        }
        #expect(try Self.decode([], [sample.coding]).mayEnd)
    }

    @Test(arguments: samples.filter { $0.coding == .gzip || $0.coding == .zstd }, [1, .max])
    func concatenatedMembersFormOneContent(_ sample: Sample, by size: Int) throws {
        let decoded = try Self.decode(sample.bytes + sample.bytes + sample.bytes, [sample.coding], by: size)
        let cut = try Self.decode(sample.bytes + sample.bytes.dropLast(), [sample.coding], by: size)

        #expect(String(decoding: decoded.content, as: UTF8.self) == Self.text + Self.text + Self.text)
        #expect(decoded.mayEnd && !cut.mayEnd)
    }

    @Test(arguments: samples.filter { $0.coding == .gzip }, [1, .max])
    func trailingZerosAreSkipped(_ sample: Sample, by size: Int) throws {
        let zeros = [UInt8](repeating: 0, count: 600)
        let decoded = try Self.decode(sample.bytes + zeros + sample.bytes + zeros, [sample.coding], by: size)

        #expect(String(decoding: decoded.content, as: UTF8.self) == Self.text + Self.text && decoded.mayEnd)
        #expect(throws: ContentDecoder.Failure.malformed) {
            _ = try Self.decode(sample.bytes + zeros + Array("junk".utf8), [sample.coding], by: size)
        }
    }

    @Test(arguments: samples)
    func trailingBytesAreRejected(_ sample: Sample) {
        #expect(throws: ContentDecoder.Failure.malformed) {
            _ = try Self.decode(sample.bytes + Array("junk behind it".utf8), [sample.coding])
        }
    }

    @Test(arguments: samples, samples.filter { $0.coding == .gzip })
    func codingsAreRemovedInReverseOrder(_ inner: Sample, _ outer: Sample) throws {
        // A stored block of DEFLATE holds anything; brotli and zstd have no encoder here.
        let stored = Gzip.frame(Data(inner.bytes.stored), of: Data(inner.bytes))
        let decoded = try Self.decode(Array(stored), [inner.coding, outer.coding], by: 3)

        #expect(String(decoding: decoded.content, as: UTF8.self) == Self.text)
        #expect(decoded.mayEnd)
        #expect(try !Self.decode(stored.dropLast(), [inner.coding, outer.coding]).mayEnd)
    }

    /// A paused transfer takes a piece, and gets the same input again, or another part of it.
    @Test func repeatedInputIsDecodedOnce() throws {
        let count = 1 << 20
        let zeros = try #require(Gzip.compress(Data(count: count)))
        let decoder = try ContentDecoder([.gzip])
        var (decoded, largest) = (0, 0)
        var isUsedUp = false
        while !isUsedUp {
            try zeros.withUnsafeBytes { bytes in
                guard let piece = try decoder.nextChunk(of: bytes) else { return isUsedUp = true }
                decoded += piece.count
                largest = max(largest, piece.count)
            }
        }

        #expect(decoded == count && decoder.mayEnd)
        #expect(largest == ContentDecoder.chunkSize)
    }

    @Test func tooManyCodingsAreRejected() throws {
        _ = try ContentDecoder(Array(repeating: .gzip, count: 5))
        #expect(throws: ContentDecoder.Failure.tooManyCodings) {
            _ = try ContentDecoder(Array(repeating: .gzip, count: 6))
        }
    }

    @Test(arguments: samples)
    func corruptContentDoesNotCrash(_ sample: Sample) {
        var random = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 20) {
            var bytes = sample.bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let size = Int.random(in: 1...bytes.count, using: &random)
            let decoded = try? Self.decode(bytes, [sample.coding], by: size)
            // A checksum follows only gzip and zlib, and the output is bounded by the size of the input.
            #expect((decoded?.content.count ?? 0) < 1 << 24)
        }
    }

    @Test(arguments: [
        ("gzip", [ContentCoding.gzip]), ("X-GZip", [.gzip]), ("deflate, br", [.deflate, .brotli]), ("ZSTD", [.zstd]),
        ("identity", []), ("identity, gzip,", [.gzip]), ("", []), ("utf-8", []), ("aws-chunked", []),
        ("squash, gzip", []), ("gzip, squash", []), ("gzip, \"x", []), ("\"x, gzip", []), ("gzip, \"x\"y, br", []),
    ])
    func unknownCodingDisablesDecoding(_ value: String, _ codings: [ContentCoding]) {
        let head = HTTPResponseHead(status: .ok, headers: [.contentEncoding: value])
        #expect(ContentCoding.codings(of: head) == codings)
        #expect(ContentCoding.codings(of: HTTPResponseHead(status: .partialContent, headers: head.headers)) == [])
    }
}

extension [UInt8] {
    /// A block of DEFLATE that isn't compressed.
    fileprivate var stored: [UInt8] {
        let (low, high) = (UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8))
        return [1, low, high, ~low, ~high] + self
    }
}
#endif
