// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Transcripts: the actions of the machine for the bytes that were read.
@Suite(.bounded) struct MultipartSerializerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var preamble: String?
        let parts: [MultipartSerializer.Part.Content]
        var reads: [Int] = []
        let transcript: [String]
    }

    static let rows: [Row] = [
        Row(testDescription: "nothing", parts: [], transcript: ["--b--|", "finish", "finish"]),
        Row(testDescription: "a preamble", preamble: "p", parts: [], transcript: ["p|", "--b--|", "finish", "finish"]),
        Row(
            testDescription: "bytes",
            parts: [.bytes(Data("x".utf8)), .bytes(Data())],
            transcript: ["--b|H0|", "x", "|--b|H1|", "|--b--|", "finish", "finish"]
        ),
        Row(
            testDescription: "a source of known length",
            parts: [.source(length: 5)],
            reads: [3, 2, 0],
            transcript: [
                "--b|H0|", "open 0", "read 0 5", "read 0 2", "read 0 1", "close 0", "|--b--|", "finish", "finish",
            ]
        ),
        Row(
            testDescription: "an empty source",
            parts: [.source(length: 0), .bytes(Data("x".utf8))],
            reads: [0],
            transcript: ["--b|H0|", "open 0", "read 0 1", "close 0", "|--b|H1|", "x", "|--b--|", "finish", "finish"]
        ),
        Row(
            testDescription: "a source of unknown length",
            parts: [.source(length: nil)],
            reads: [4, 0],
            transcript: ["--b|H0|", "open 0", "read 0 *", "read 0 *", "close 0", "|--b--|", "finish", "finish"]
        ),
        Row(
            testDescription: "a source that ends early",
            parts: [.source(length: 5)],
            reads: [4, 0],
            transcript: ["--b|H0|", "open 0", "read 0 5", "read 0 1", "tooShort(0)"]
        ),
        Row(
            testDescription: "a source that goes on",
            parts: [.bytes(Data()), .source(length: 2)],
            reads: [2, 1],
            transcript: ["--b|H0|", "|--b|H1|", "open 1", "read 1 2", "read 1 1", "tooLong(1)"]
        ),
        Row(
            testDescription: "a reader that takes too much",
            parts: [.source(length: 2)],
            reads: [3],
            transcript: ["--b|H0|", "open 0", "read 0 2", "tooLong(0)"]
        ),
    ]

    private static func serializer(_ row: Row) -> MultipartSerializer {
        let parts = row.parts.enumerated().map { MultipartSerializer.Part(header: "H\($0)\r\n", content: $1) }
        return MultipartSerializer(parts: parts, boundary: "b", preamble: row.preamble)
    }

    @Test(arguments: rows) func everyStepIsTheOneAfterTheLast(_ row: Row) {
        var serializer = Self.serializer(row)
        var reads = row.reads[...]
        var transcript: [String] = []

        while transcript.suffix(2) != ["finish", "finish"], transcript.count < 100 {
            let action = serializer.next()
            transcript.append(Self.describe(action))
            guard case .read = action else { continue }
            #expect(serializer.next() == action)
            do throws(MultipartSerializer.Failure) {
                try serializer.didRead(reads.popFirst() ?? 0)
            } catch {
                transcript.append("\(error)")
                break
            }
        }

        #expect(transcript == row.transcript)
        #expect(reads.isEmpty)
    }

    @Test(arguments: rows) func theLengthIsThatOfWhatIsWritten(_ row: Row) throws {
        var serializer = Self.serializer(row)
        var written: Int64? = 0
        loop: while true {
            switch serializer.next() {
            case .write(let data): written = written.map { $0 + Int64(data.count) }
            case .read(_, let limit):
                written = limit == .max ? nil : written
                try? serializer.didRead(0)
                if case .read(_, let limit) = serializer.next() {
                    // A source with an announced length is read up to that length.
                    try serializer.didRead(Int(limit))
                    written = written.map { $0 + limit }
                }
            case .open, .close: break
            case .finish: break loop
            }
        }

        #expect(try Self.serializer(row).length() == written)
    }

    @Test func bytesOutOfTurnAreIgnored() throws {
        var serializer = Self.serializer(Row(testDescription: "", parts: [.source(length: 1)], transcript: []))

        try serializer.didRead(5)

        #expect(Self.describe(serializer.next()) == "--b|H0|")
    }

    private static func describe(_ action: MultipartSerializer.Action) -> String {
        switch action {
        case .write(let data): String(decoding: data, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "|")
        case .open(let part): "open \(part)"
        case .read(let part, let limit): "read \(part) \(limit == .max ? "*" : "\(limit)")"
        case .close(let part): "close \(part)"
        case .finish: "finish"
        }
    }
}
