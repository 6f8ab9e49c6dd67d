// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct MultipartFormTests {
    private func failure(_ build: (inout MultipartForm) -> Void) -> InvalidValue? {
        failure(HTTPBody.multipart(boundary: "b", build))
    }

    private func failure(_ body: HTTPBody) -> InvalidValue? {
        do {
            _ = try body.resolved()
            return nil
        } catch {
            return error as? InvalidValue
        }
    }

    @Test func formEncodesAllKindsOfParts() throws {
        let file = try TemporaryFile(Data("file".utf8), name: "a b.txt")
        let body = HTTPBody.multipart(boundary: "b") { form in
            form.add("text", for: "t")
            form.add(.data(Data([0, 255])), for: "d")
            form.add(.data(Data("png".utf8), type: .png), for: "p", fileName: "p.png")
            form.add(.file(file.url), for: "f")
            form.add(
                .stream(HTTPBody.Stream(length: 6) { InputStream(data: Data("stream".utf8)) }, type: .csv),
                for: "s"
            )
            form.add(.json(["a": 1]), for: "j", headers: ["X-Own": "1"])
            form.add(.data(Data(), type: .png), for: "e", headers: [.contentType: "own/x"])
        }

        var expected = Data("--b\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\ntext\r\n".utf8)
        expected += "--b\r\nContent-Disposition: form-data; name=\"d\"\r\n".utf8
        expected += "Content-Type: application/octet-stream\r\n\r\n".utf8 + [0, 255] + "\r\n".utf8
        expected += "--b\r\nContent-Disposition: form-data; name=\"p\"; filename=\"p.png\"\r\n".utf8
        expected += "Content-Type: image/png\r\n\r\npng\r\n".utf8
        expected += "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a b.txt\"\r\n".utf8
        expected += "Content-Type: text/plain\r\n\r\nfile\r\n".utf8
        expected += "--b\r\nContent-Disposition: form-data; name=\"s\"\r\nContent-Type: text/csv\r\n\r\nstream\r\n".utf8
        expected += "--b\r\nContent-Disposition: form-data; name=\"j\"\r\n".utf8
        expected += "Content-Type: application/json\r\nX-Own: 1\r\n\r\n{\"a\":1}\r\n".utf8
        expected += "--b\r\nContent-Disposition: form-data; name=\"e\"\r\nContent-Type: own/x\r\n\r\n\r\n".utf8
        expected += "--b--\r\n".utf8
        let resolved = try body.resolved()
        #expect(try resolved.bytes() == expected)
        #expect(resolved.length == Int64(expected.count))
        #expect(resolved.isReplayable)
        #expect(try resolved.bytes() == expected && body.bytes() == expected)
        #expect(body.mandatoryHeaders == [.contentType: "multipart/form-data; boundary=b"])
        #expect((body.source as? MultipartForm)?.parts.count == 7)
    }

    @Test func emptyFormHasClosingBoundary() throws {
        #expect(try HTTPBody.multipart(MultipartForm(boundary: "b")).text() == "--b--\r\n")
    }

    @Test func preamblePrecedesFirstPart() throws {
        var form = MultipartForm(boundary: "b")
        form.preamble = "Not for you."
        #expect(try HTTPBody.multipart(form).text() == "Not for you.\r\n--b--\r\n")

        form.add("", for: "a")
        let text = try HTTPBody.multipart(form).text()

        #expect(text == "Not for you.\r\n--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--b--\r\n")
    }

    @Test func multipartRelatedNestsPartsWithoutNames() throws {
        var inner = MultipartForm(boundary: "in", type: .multipartMixed)
        inner.append(.init(.text("a"), headers: ["Content-ID": "<1>"]))
        inner.append(.init(.data(Data("b".utf8), type: nil), fileName: "b"))
        var outer = MultipartForm(boundary: "a out", type: .multipartRelated.parameter("type", "text/plain"))
        outer.append(.init(.multipart(inner), headers: [.contentType: "is/replaced"]))

        let body = HTTPBody.multipart(outer)

        #expect(body.mandatoryHeaders[.contentType] == #"multipart/related; type="text/plain"; boundary="a out""#)
        let expected = """
            --a out
            Content-Type: multipart/mixed; boundary=in

            --in
            Content-Type: text/plain; charset=utf-8
            Content-ID: <1>

            a
            --in
            Content-Disposition: attachment; filename="b"

            b
            --in--

            --a out--

            """
        #expect(try body.text() == expected.replacingOccurrences(of: "\n", with: "\r\n"))
    }

    // WHATWG HTML, 4.10.21.8: only line breaks and quotes are escaped.
    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\r\nX-Evil: 1", "a%0D%0AX-Evil: 1"), ("\r", "%0D"), ("\n", "%0A"), ("", ""),
        ("a\\b", "a\\b"), ("a%22b", "a%22b"), ("grün 🥞", "grün 🥞"), ("a;b=c", "a;b=c"), ("a\tb", "a\tb"),
    ])
    func namesAreEscaped(name: String, escaped: String) throws {
        let text = try HTTPBody.multipart(boundary: "b") { $0.add(.text(""), for: name, fileName: name) }.text()

        #expect(text.contains("\r\nContent-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n"))
    }

    @Test(arguments: ["a\0b", "\u{1}", "\u{7F}", "\u{1B}[1m"]) func controlCharactersAreRejected(_ text: String) {
        #expect(failure { $0.add("", for: text) }?.kind == .partName)
        #expect(failure { $0.add(.text(""), for: "a", fileName: text) }?.kind == .fileName)
    }

    @Test func invalidPartHeadersAreRejected() {
        for value in ["a\r\nX-Evil: 1", "a\nb", "a\0", "\r\n--b--"] {
            #expect(failure { $0.add("", for: "a", headers: ["X-A": value]) }?.kind == .headerValue)
            #expect(failure { $0.add(.data(Data()), for: "a", headers: [.contentType: value]) }?.kind == .headerValue)
            #expect(failure { $0.add(.data(Data(), type: MediaType("text", value)), for: "a") } != nil)
        }
        for name in ["", "a b", "a\r\nb", "a:", "ä"] {
            let headers: HTTPHeaders = [HTTPField(HTTPField.Name(name), "1")]
            #expect(failure { $0.add("", for: "a", headers: headers) }?.kind == .headerName)
        }
        #expect(failure { $0.append(.init(.text("a"))) }?.kind == .partName)
    }

    @Test func nonMultipartTypesAreRejected() {
        for type in [MediaType.json, "multipart/*", "multipart", "multipart/x\r\ny"] {
            #expect(failure(.multipart(MultipartForm(type: type)))?.kind == .mediaType)
        }
        let twice = MediaType.multipartFormData.parameter("Boundary", "x")
        #expect(failure(.multipart(MultipartForm(type: twice)))?.kind == .boundary)
    }

    @Test(arguments: [
        ("a", true), ("'()+_,-./:=?", true), ("a b", true), (String(repeating: "x", count: 70), true), ("", false),
        ("a ", false), (String(repeating: "x", count: 71), false), ("a\r\n", false), ("a\"b", false), ("ä", false),
        ("a;b", false), ("a\0", false),
    ])
    func boundaryIsValidated(boundary: String, isFine: Bool) {
        #expect(failure(.multipart(MultipartForm(boundary: boundary)))?.kind == (isFine ? nil : .boundary))
    }

    @Test func boundaryIsRandomButStablePerForm() throws {
        let boundaries = (0..<100).map { _ in MultipartForm().boundary }
        #expect(Set(boundaries).count == 100)
        let letters = Set("0123456789abcdef-")
        #expect(
            boundaries.allSatisfy {
                $0.hasPrefix("requests-") && $0.count == 45 && letters.isSuperset(of: $0.dropFirst(9))
            }
        )

        let body = HTTPBody.multipart { $0.add("b", for: "a") }

        #expect(try body.bytes() == body.bytes())
        let boundary = try #require((body.source as? MultipartForm)?.boundary)
        #expect(body.mandatoryHeaders[.contentType] == "multipart/form-data; boundary=\(boundary)")
        #expect(try body.text().hasPrefix("--\(boundary)\r\n"))
    }

    @Test func invalidTypedPartFieldIsRejected() {
        #expect(failure { $0.add("v", for: "a", headers: [.contentType("nonsense")]) }?.kind == .mediaType)
        #expect(failure { $0.add("v", for: "a", headers: [.contentType(.html)]) } == nil)
    }

    @Test func unreadableFileIsRejected() throws {
        let folder = FileManager.default.temporaryDirectory
        for url in [
            folder.appendingPathComponent("nowhere"), folder, try #require(URL(string: "https://example.com/a")),
        ] {
            #expect(failure { $0.add(.file(url), for: "a") }?.kind == .body)
        }
    }

    @Test func unencodablePartFailsForm() {
        let body = HTTPBody.multipart { $0.add(.json(Double.nan), for: "a") }
        #expect(throws: EncodingError.self) { try body.resolved() }
    }

    @Test func formIsReplayableIfItsPartsAre() throws {
        let once = HTTPBody.multipart { $0.add(.stream(HTTPBody.Stream(InputStream(data: Data("x".utf8)))), for: "a") }

        #expect(!once.isReplayable)
        #expect(try !once.resolved().isReplayable)
        #expect(try once.text().contains("\r\n\r\nx\r\n"))
        #expect(throws: HTTPBody.Stream.AlreadyRead.self) { try once.text() }
    }

    @Test func formLengthIsKnownIfPartLengthsAre() throws {
        func length(_ lengths: Int64?...) throws -> Int64? {
            try HTTPBody.multipart(boundary: "b") { form in
                for length in lengths {
                    form.add(.stream(HTTPBody.Stream(length: length) { InputStream(data: Data()) }), for: "a")
                }
            }.resolved().length
        }
        let empty = try #require(try length(0))

        #expect(try length(5_000_000_000) == empty + 5_000_000_000)
        #expect(try length(1, nil) == nil)
        #expect(try length(1, -1) == nil)
        #expect(throws: InvalidValue.self) { try length(.max) }
        #expect(throws: InvalidValue.self) { try length(.max, .max) }
    }
}
