// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Random forms: the sent form is read back unchanged, or isn't sent.
@Suite(.bounded) struct MultipartFuzzTests {
    private static let pieces = [
        "a", "b", "--", "-", "\r\n", "\n", "\r", "\"", "%22", "\\", ";", "=", ": ", " ", "--b", "\r\n--b", "--b--",
        "name=",
        "filename=\"x\"", "Content-Type: text/html", "ü", "🥞", "\t",
    ]

    /// A part, as a lenient reader of the message finds it: any line that begins with the boundary ends a part.
    private struct Found: Equatable {
        var lines: [String]
        var content: String
    }

    private func parse(_ text: String, boundary: String) -> [Found]? {
        let bytes = Data("\r\n\(text)".utf8)
        var pieces = bytes.split(by: Data("\r\n--\(boundary)".utf8))
        guard pieces.removeFirst().isEmpty, pieces.popLast() == Data("--\r\n".utf8) else { return nil }
        return pieces.compactMap { piece in
            let halves = piece.split(by: Data("\r\n\r\n".utf8), atMost: 1)
            guard halves.count == 2 else { return nil }
            let lines = halves[0].split(by: Data("\r\n".utf8)).map { String(decoding: $0, as: UTF8.self) }
            return Found(lines: Array(lines.dropFirst()), content: String(decoding: halves[1], as: UTF8.self))
        }
    }

    private func escaped(_ name: String) -> String {
        name.unicodeScalars.map { ["\"": "%22", "\r": "%0D", "\n": "%0A"][$0] ?? String($0) }.joined()
    }

    @Test func contentCannotBreakOutOfPart() throws {
        var fuzz = Fuzz()
        var sent = 0
        for number in 0..<Scale.fuzz(weight: 4) {
            let parts = (0..<Int.random(in: 0...2, using: &fuzz)).map { _ in
                (
                    name: fuzz.text(of: Self.pieces, upTo: 4), fileName: fuzz.text(of: Self.pieces, upTo: 3),
                    content: fuzz.text(of: Self.pieces, upTo: 5)
                )
            }
            var form = MultipartForm()
            for part in parts { form.add(.text(part.content), for: part.name, fileName: part.fileName) }
            guard let data = try Self.unlessInvalid({ try HTTPBody.multipart(form).data() }) else { continue }
            sent += 1

            let found = parse(String(decoding: data, as: UTF8.self), boundary: form.boundary)

            let expected = parts.map {
                Found(
                    lines: [
                        "Content-Disposition: form-data; name=\"\(escaped($0.name))\"; filename=\"\(escaped($0.fileName))\"",
                        "Content-Type: text/plain; charset=utf-8",
                    ],
                    content: $0.content
                )
            }
            guard found == expected else {
                Issue.record("case \(number) of seed \(Fuzz.seed): \(parts) became \(String(describing: found))")
                return
            }
        }
        #expect(sent > Scale.fuzz(weight: 4) / 10)
    }

    @Test func headerAndBoundaryCannotInjectLines() throws {
        var fuzz = Fuzz()
        for number in 0..<Scale.fuzz(weight: 4) {
            let boundary = fuzz.text(of: Self.pieces, upTo: 3)
            let name = fuzz.text(of: ["X", "-", "A", ":", "\r\n", " "], upTo: 3)
            let value = fuzz.text(of: Self.pieces, upTo: 4)
            var form = MultipartForm(boundary: boundary)
            form.add("v", for: "n", headers: [HTTPField(HTTPField.Name(name), value)])
            guard let data = try Self.unlessInvalid({ try HTTPBody.multipart(form).data() }) else { continue }

            let lines = String(decoding: data, as: UTF8.self).components(separatedBy: "\r\n")

            // The disposition, which a field of the part may replace, the field, the empty line, the content.
            guard lines.count == 7 - (HTTPField.Name(name) == .contentDisposition ? 1 : 0),
                lines.contains("\(name): \(value)")
            else {
                Issue.record("case \(number) of seed \(Fuzz.seed): \(lines)")
                return
            }
        }
    }

    private static func unlessInvalid(_ body: () throws -> Data?) throws -> Data? {
        do { return try body() } catch is InvalidValue { return nil }
    }
}

extension Data {
    fileprivate func split(by separator: Data, atMost limit: Int = .max) -> [Data] {
        var pieces: [Data] = []
        var rest = self
        while pieces.count < limit, let range = rest.range(of: separator) {
            pieces.append(Data(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return pieces + [Data(rest)]
    }
}
