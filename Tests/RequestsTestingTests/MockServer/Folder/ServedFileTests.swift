// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct ServedFileTests {
    private static let file = ServedFile(
        content: Data("0123456789".utf8),
        name: "/a/digits.txt",
        modified: Date(timeIntervalSince1970: 784_111_777.25)
    )
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let tag = file.tag.rawValue

    /// Returns the server's response to a request with the fields.
    private func answer(_ headers: HTTPHeaders, method: HTTPMethod = .get) -> String {
        let request = RecordedRequest.sample(method, headers: headers)
        return Self.file.answer(to: request).steps(for: request).reduce("") { text, step in
            guard case .send(let data) = step else { return text }
            return text + String(decoding: data, as: UTF8.self)
        }
    }

    @Test func aFileComesWithItsTypeAndValidators() {
        let text = answer([:])

        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n"))
        #expect(text.contains("\r\nLast-Modified: \(Self.date)\r\n"))
        #expect(text.contains("\r\nETag: \(Self.tag)\r\n"))
        #expect(text.contains("\r\nAccept-Ranges: bytes\r\n"))
        #expect(text.hasSuffix("\r\n\r\n0123456789"))
    }

    static let preconditions: [(HTTPHeaders, Int)] = [
        ([.ifNoneMatch: tag], 304), ([.ifNoneMatch: "W/\(tag)"], 304), ([.ifNoneMatch: "*"], 304),
        ([.ifNoneMatch: "\"other\", \(tag)"], 304), ([.ifNoneMatch: "\"other\""], 200),
        ([.ifModifiedSince: date], 304), ([.ifModifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
        ([.ifModifiedSince: "yesterday"], 200),
        ([.ifNoneMatch: "\"other\"", .ifModifiedSince: date], 200),
        ([.ifMatch: tag], 200), ([.ifMatch: "*"], 200), ([.ifMatch: "W/\(tag)"], 412), ([.ifMatch: "\"other\""], 412),
        ([.ifUnmodifiedSince: date], 200), ([.ifUnmodifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"], 412),
        ([.ifMatch: tag, .ifUnmodifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
        ([.range: "bytes=2-4"], 206), ([.range: "bytes=20-"], 416), ([.range: "lines=2-4"], 200),
        ([.range: "bytes=2-4", .ifRange: tag], 206), ([.range: "bytes=2-4", .ifRange: "W/\(tag)"], 200),
        ([.range: "bytes=2-4", .ifRange: "\"other\""], 200), ([.range: "bytes=2-4", .ifRange: date], 206),
        ([.range: "bytes=2-4", .ifRange: "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
        ([.range: "bytes=2-4", .ifRange: "Sun, 06 Nov 1994 08:49:38 GMT"], 200),
        ([.range: "bytes=2-4", .ifNoneMatch: tag], 304),
    ]

    @Test(arguments: preconditions)
    func preconditionsAreJudged(headers: HTTPHeaders, status: Int) {
        #expect(answer(headers).hasPrefix("HTTP/1.1 \(status) "), "\(headers)")
    }

    @Test func aPartSaysWhichItIs() {
        let part = answer([.range: "bytes=2-4"])
        #expect(part.contains("\r\nContent-Range: bytes 2-4/10\r\n"))
        #expect(part.hasSuffix("Content-Length: 3\r\n\r\n234"))

        #expect(answer([.range: "bytes=10-"]).contains("\r\nContent-Range: bytes */10\r\n"))
    }

    @Test func aHeadHasNoRange() {
        let text = answer([.range: "bytes=2-4"], method: .head)

        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.hasSuffix("Content-Length: 10\r\n\r\n"))
    }

    @Test func aChangeOfTheContentOrTheTimeChangesTheTag() {
        let date = Date(timeIntervalSince1970: 784_111_777.25)
        let files = [
            ServedFile(content: Data("a".utf8), name: "a", modified: date),
            ServedFile(content: Data("ab".utf8), name: "a", modified: date),
            ServedFile(content: Data("a".utf8), name: "a", modified: date.addingTimeInterval(0.001)),
        ]

        #expect(Set(files.map(\.tag)).count == 3)
        #expect(files[0].type == "application/octet-stream")
    }
}
