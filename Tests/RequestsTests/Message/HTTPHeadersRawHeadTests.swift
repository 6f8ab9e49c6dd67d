// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HTTPHeadersRawHeadTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lines: String
        let fields: [String]

        init(_ name: String, _ lines: String, _ fields: String...) {
            (testDescription, self.lines, self.fields) = (name, lines, fields)
        }
    }

    static let rows: [Row] = [
        Row("nothing", ""),
        Row("a field", "A: b\r\n", "A=b"),
        Row("no space behind the colon", "A:b\r\n", "A=b"),
        Row("many spaces and tabs", "A: \t b c \t\r\n", "A=b c"),
        Row("a space before the colon", "A : b\r\n", "A=b"),
        Row("an empty value", "A:\r\nB: \r\n", "A=", "B="),
        Row("colons in the value", "A: b:c: d\r\n", "A=b:c: d"),
        Row("line feeds only", "A: b\nC: d\n", "A=b", "C=d"),
        Row("the same name again", "A: 1\r\nB: 2\r\na: 3\r\n", "A=1", "B=2", "a=3"),
        Row("a folded line", "A: b\r\n c\r\nD: e\r\n", "A=b c", "D=e"),
        Row("a line folded with a tab, twice", "A: b\r\n\tc\r\n \t d \r\n", "A=b c d"),
        Row("a folded line behind an empty value", "A:\r\n b\r\n", "A= b"),
        Row("a folded line behind nothing", " b: c\r\nD: e\r\n", "b=c", "D=e"),
        Row("a line without a colon", "nonsense\r\nA: b\r\n", "A=b"),
        Row("a folded line behind one without a colon", "A: b\r\nnonsense\r\n c\r\nD: e\r\n", "A=b", "D=e"),
        Row("a line without a name", ": b\r\nC: d\r\n", "C=d"),
        Row("a blank for a name", " : b\r\nC: d\r\n", "C=d"),
        Row("a carriage return within a line", "A: b\rSet-Cookie: c=d\r\n", "A=b Set-Cookie: c=d"),
        Row("several carriage returns at the end", "A: b\r\r\r\nB: c\0\r\n", "A=b", "B=c"),
        Row("a carriage return in a name", "A\rSet-Cookie: c=d\r\nE: f\r\n", "E=f"),
        Row("UTF-8", "A: ü€\r\n", "A=ü€"),
        Row("no end of the last line", "A: b", "A=b"),
    ]

    private static func parse(_ lines: [UInt8]) -> [String] {
        HTTPHeaders(rawHead: Array("HTTP/1.1 200 OK\r\n".utf8) + lines + Array("\r\n".utf8))
            .map { "\($0.name.rawValue)=\($0.value)" }
    }

    @Test(arguments: rows)
    func parsesHeaderLines(_ row: Row) {
        #expect(Self.parse(Array(row.lines.utf8)) == row.fields)
    }

    @Test(arguments: rows)
    func fieldsFilteredByNameMatchFullParse(_ row: Row) {
        let head = Array("HTTP/1.1 200 OK\r\n\(row.lines)\r\n".utf8)
        let all = HTTPHeaders(rawHead: head)

        for name in ["A", "a", "b", "D", "Absent", "A\rSet-Cookie"] as [HTTPField.Name] {
            #expect(Array(HTTPHeaders(rawHead: head, only: name)) == all[fields: name])
        }
    }

    @Test func invalidUTF8IsDecodedAsLatin1() {
        #expect(Self.parse(Array("A: ".utf8) + [0xFC, 0xE9] + Array("\r\n".utf8)) == ["A=üé"])
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func fieldNameMustBeToken(_ byte: UInt8) {
        let character = String(Unicode.Scalar(byte))

        let fields = Self.parse(Array("a".utf8) + [byte] + Array("b: c\r\n folded\r\nd: e\r\n".utf8))

        // A line feed ends the line, a colon the name.
        let expected: [String] =
            switch byte {
            case 0x0A: ["b=c folded"]
            case UInt8(ascii: ":"): ["a=b: c folded"]
            default: ASCIISet.token.contains(byte) ? ["a\(character)b=c folded"] : []
            }
        #expect(fields == expected + ["d=e"])
        #expect(Self.parse([byte]).isEmpty)
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func fieldValueAllowsBytesExceptLineEnds(_ byte: UInt8) {
        let text = byte == 0x0D || byte == 0 ? " " : String(Unicode.Scalar(byte))

        let fields = Self.parse(Array("A: c".utf8) + [byte] + Array("d\r\n e".utf8) + [byte] + Array("f\r\n".utf8))

        #expect(fields == (byte == 0x0A ? ["A=c"] : ["A=c\(text)d e\(text)f"]))
    }

    @Test func statusLineIsNotParsedAsField() {
        #expect(HTTPHeaders(rawHead: Array("HTTP/1.1 200 a: b\r\n\r\n".utf8)).isEmpty)
        #expect(HTTPHeaders(rawHead: []).isEmpty)
    }

    @Test func httpURLResponseIncludesParsedFields() throws {
        let raw = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nx-two: 1\r\nset-cookie: b=2\r\nX-Two: 2\r\n\r\n"
        let response = try #require(HTTPResponseHead(status: .ok, raw: Array(raw.utf8), url: home).urlResponse)

        #expect(response.value(forHTTPHeaderField: "Set-Cookie") == "a=1; Path=/, b=2")
        #expect(response.value(forHTTPHeaderField: "X-Two") == "1, 2" && response.allHeaderFields.count == 2)
        #expect(HTTPHeaders(response)[values: .setCookie] == ["a=1; Path=/", "b=2"])
    }

    /// A hundred times the lines take about a hundred times as long; a quadratic parser would take ten thousand times
    /// as long.
    @Test func parsingTakesLinearTime() {
        func time(_ count: Int, _ line: (Int) -> String) -> Duration {
            let bytes = Array((0..<count).map(line).joined().utf8)
            return ProcessorTime.shortest { _ = Self.parse(bytes) }
        }
        let count = Scale.pick(100, whole: 1000)
        for line in [{ "X-\($0): value\r\n" }, { $0 == 0 ? "A: b\r\n" : " folded\r\n" }] {
            #expect(time(100 * count, line) < time(count, line) * 1000)
        }
    }
}
