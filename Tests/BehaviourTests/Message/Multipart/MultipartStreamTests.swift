// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct MultipartStreamTests {
    /// Records the sizes of reads, and returns zeros.
    private final class Zeros: InputStream {
        private var left: Int
        private let sizes: Recorder<Int>

        init(_ count: Int, _ sizes: Recorder<Int>) {
            left = count
            self.sizes = sizes
            super.init(data: Data())
        }

        override func open() {}
        override func close() { sizes.record(-1) }
        override var hasBytesAvailable: Bool { left > 0 }
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            let count = min(maxLength, left)
            buffer.update(repeating: 0, count: count)
            left -= count
            sizes.record(maxLength)
            return count
        }
    }

    private func stream(_ body: HTTPBody) throws -> InputStream {
        guard case .stream(let stream) = try body.resolved().content else { throw CocoaError(.featureUnsupported) }
        return try stream.open()
    }

    private static let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    @Test(arguments: [1, 2, 7, 64, 4096, 100_000, 10_000_000]) func bufferSizeDoesNotAffectContent(size: Int) throws {
        let content = size < 64 ? Self.content.prefix(3000) : Self.content
        let file = try TemporaryFile(content)
        let body = HTTPBody.multipart(boundary: "b") { form in
            form.preamble = "p"
            form.add("a", for: "a")
            form.add(.file(file.url), for: "f")
            form.add(.data(content, type: nil), for: "d")
            form.add(.stream(HTTPBody.Stream { InputStream(data: content) }), for: "s")
        }

        let data = try stream(body).readAll(inPiecesOf: size)

        func part(_ header: String, _ content: Data) -> Data {
            Data("\r\n--b\r\nContent-Disposition: form-data; \(header)\r\n\r\n".utf8) + content
        }
        let expected =
            Data("p".utf8) + part("name=\"a\"", Data("a".utf8))
            + part("name=\"f\"; filename=\"file.txt\"\r\nContent-Type: text/plain", content)
            + part("name=\"d\"", content) + part("name=\"s\"\r\nContent-Type: application/octet-stream", content)
            + Data("\r\n--b--\r\n".utf8)
        #expect(data == expected)
    }

    @Test func largePartIsReadInBoundedChunks() throws {
        let sizes = Recorder<Int>()
        let count = Scale.pick(2 << 20, whole: 64 << 20)
        let body = HTTPBody.multipart { form in
            form.add(.stream(HTTPBody.Stream(length: Int64(count)) { Zeros(count, sizes) }), for: "a")
        }
        let stream = try stream(body)
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 1, count: 1 << 20)
        var total = 0

        while case let read = stream.read(&buffer, maxLength: buffer.count), read > 0 { total += read }

        #expect(try Int64(total) == body.resolved().length)
        #expect(sizes.elements.max() == 64 << 10)
        // The stream of the part is closed as soon as it ends.
        #expect(sizes.elements.last == -1)
        #expect(stream.streamStatus == .atEnd && !stream.hasBytesAvailable)
    }

    @Test func largeSparseFileIsStreamedCompletely() throws {
        let file = try TemporaryFile(Data())
        let handle = try FileHandle(forWritingTo: file.url)
        try handle.truncate(atOffset: Scale.pick(2 << 20, whole: 64 << 20))
        try handle.close()
        let body = HTTPBody.multipart { $0.add(.file(file.url, type: .octetStream), for: "a") }
        let stream = try stream(body)
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        var total: Int64 = 0

        while case let read = stream.read(&buffer, maxLength: buffer.count), read > 0 { total += Int64(read) }

        #expect(try total == body.resolved().length)
    }

    @Test(arguments: ["short", "a longer content than before"]) func changedFileFails(_ content: String) throws {
        let file = try TemporaryFile(Data("as announced".utf8), name: "changes.txt")
        let body = HTTPBody.multipart { $0.add(.file(file.url), for: "a") }
        let stream = try stream(body)
        try Data(content.utf8).write(to: file.url)

        let error = #expect(throws: InvalidValue.self) { try stream.readAll() }

        #expect(error?.kind == .body && error?.excerpt == "changes.txt")
        #expect(stream.streamStatus == .closed)
    }

    @Test(
        arguments: [
            (0, "", true), (5, "hello", true), (nil, "", true), (nil, "hello", true), (5, "hell", false),
            (4, "hello", false), (0, "h", false), (1, "", false),
        ] as [(Int64?, String, Bool)]
    )
    func streamedPartMustMatchDeclaredLength(length: Int64?, content: String, isSent: Bool) throws {
        let body = HTTPBody.multipart(boundary: "b") { form in
            form.add(.stream(HTTPBody.Stream(length: length) { InputStream(data: Data(content.utf8)) }), for: "s")
            form.add("after", for: "a")
        }

        let text = try? body.text()

        #expect((text?.contains("\r\n\r\n\(content)\r\n--b\r\n") == true) == isSent)
        #expect((text?.hasSuffix("after\r\n--b--\r\n") == true) == isSent)
    }

    @Test func missingFileFails() throws {
        let file = try TemporaryFile(Data("as announced".utf8))
        let stream = try stream(.multipart { $0.add(.file(file.url), for: "a") })
        try FileManager.default.removeItem(at: file.url)

        #expect(throws: (any Error).self) { try stream.readAll() }
    }

    @Test func unopenablePartFailsStream() throws {
        let body = HTTPBody.multipart {
            $0.add(.stream(HTTPBody.Stream { throw CocoaError(.fileNoSuchFile) }), for: "a")
        }
        let stream = try stream(body)
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 1000)

        #expect(stream.read(&buffer, maxLength: 1000) == -1)
        #expect((stream.streamError as? CocoaError)?.code == .fileNoSuchFile)
        #expect(stream.streamStatus == .error && !stream.hasBytesAvailable)
        #expect(stream.read(&buffer, maxLength: 1000) == -1)
    }

    @Test func streamIsReadableOnlyWhileOpen() throws {
        let stream = try stream(
            .multipart { $0.add(.stream(HTTPBody.Stream { InputStream(data: Data("x".utf8)) }), for: "a") }
        )
        var buffer = [UInt8](repeating: 0, count: 10)
        #expect(stream.streamStatus == .notOpen && stream.read(&buffer, maxLength: 10) == -1)

        stream.open()

        #expect(stream.hasBytesAvailable && stream.read(&buffer, maxLength: 10) == 10)
        #expect(stream.read(&buffer, maxLength: 0) == 0 && stream.read(&buffer, maxLength: -1) == -1)
        stream.close()
        #expect(stream.streamStatus == .closed && stream.read(&buffer, maxLength: 10) == -1)
    }

    @Test func availableBytesAreReturnedImmediately() throws {
        let sizes = Recorder<Int>()
        let stream = try stream(
            .multipart(boundary: "b") { $0.add(.stream(HTTPBody.Stream { Zeros(5, sizes) }, type: nil), for: "a") }
        )
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 1000)

        let first = stream.read(&buffer, maxLength: 1000)

        #expect(first == "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n".utf8.count)
        #expect(sizes.count == 0)
    }

    @Test func manyPartsKeepTheirOrder() throws {
        let file = try TemporaryFile(Data("f".utf8))
        let body = HTTPBody.multipart(boundary: "b") { form in
            for index in 0..<1000 {
                if index % 10 == 0 { form.add(.file(file.url), for: "\(index)") } else { form.add("", for: "\(index)") }
            }
        }

        let names = try body.text().components(separatedBy: " name=\"").dropFirst().compactMap {
            Int($0.prefix { $0 != "\"" })
        }

        #expect(names == Array(0..<1000))
    }
}
