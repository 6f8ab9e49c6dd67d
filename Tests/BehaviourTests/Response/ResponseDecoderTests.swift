// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ResponseDecoderTests {
    struct Page: HTTPDecodableResponse, Equatable {
        let text: String
        let next: String?

        static func decode(_ response: HTTPResponse<Data>) throws -> Page {
            Page(text: try response.text(), next: response.headers["X-Next"])
        }
    }

    struct Both: Decodable, HTTPDecodableResponse, Equatable {
        var name = "decoded"

        static func decode(_ response: HTTPResponse<Data>) throws -> Both { Both(name: "made of the response") }
    }

    private func response(
        _ text: String,
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> HTTPResponse<Data> {
        HTTPResponse(head: HTTPResponseHead(status: status, headers: headers), body: Data(text.utf8))
    }

    @Test func textUsesResponseCharset() throws {
        let latin = HTTPResponse(
            head: HTTPResponseHead(status: .ok, headers: [.contentType: "text/plain; charset=\"ISO-8859-1\""]),
            body: Data([0x63, 0x61, 0x66, 0xE9])
        )

        #expect(try ResponseDecoder.text.decode(latin) == "café")
        #expect(try ResponseDecoder.text.decode(response("café")) == "café")
        #expect(try ResponseDecoder.text(encoding: .isoLatin1).decode(latin) == "café")
    }

    /// The names that servers send in addition to those of the registry.
    @Test(
        arguments: [
            ("cp1252", 0x80, "€"), ("CP1250", 0x9C, "ś"), ("cp1251", 0xC6, "Ж"), ("cp1253", 0xE1, "α"),
            ("cp1254", 0xFE, "ş"), ("x-cp1252", 0x80, "€"), ("iso8859-1", 0xE9, "é"), ("iso_8859-1", 0xE9, "é"),
            ("l1", 0xE9, "é"), ("latin1", 0xE9, "é"), ("latin-1", 0xE9, "é"), ("latin2", 0xB1, "ą"),
            ("iso8859-2", 0xB1, "ą"), ("l2", 0xB1, "ą"), ("shift-jis", 0xB1, "ｱ"), ("x-sjis", 0xB1, "ｱ"),
            ("unicode-1-1-utf-8", 0x41, "A"), ("utf8", 0x41, "A"), ("ansi_x3.4-1968", 0x41, "A"), ("mac", 0x41, "A"),
        ] as [(String, UInt8, String)]
    )
    func charsetAliasesAreRecognized(_ charset: String, byte: UInt8, text: String) throws {
        let type = MediaType.plainText.charset(charset)
        let head = HTTPResponseHead(status: .ok, headers: [.contentType: type.rawValue])

        #expect(try HTTPResponse(head: head, body: Data([byte])).text() == text)
        #expect(type.encoding.flatMap { String(data: Data([byte]), encoding: $0) } == text)
    }

    @Test func undecodableTextFails() {
        let bytes = HTTPResponse(head: HTTPResponseHead(status: .ok), body: Data([0xFF, 0xFE, 0xFD]))

        #expect(throws: RequestError.self) { try ResponseDecoder.text.decode(bytes) }
        #expect(throws: RequestError.self) {
            try ResponseDecoder.text.decode(response("x", headers: [.contentType: "text/plain; charset=klingon"]))
        }
    }

    @Test func jsonEncodedLabelDecodesType() throws {
        let decoder = ResponseDecoder.json(encoded: [Int].self, decoder: JSONDecoder())

        #expect(try ResponseDecoder.json(encoded: [Int].self).decode(response("[1, 2]")) == [1, 2])
        #expect(try decoder.decode(response("[3]")) == [3])
    }

    @Test(arguments: [
        ("user", #"{"user": {"id": 1, "name": "Ada"}}"#),
        ("data.user", #"{"data": {"user": {"id": 1, "name": "Ada"}}}"#),
        ("data.users.1", #"{"data": {"users": [0, {"id": 1, "name": "Ada"}]}}"#), ("", #"{"id": 1, "name": "Ada"}"#),
        ("1", #"{"1": {"id": 1, "name": "Ada"}}"#),
    ])
    func decodesValueAtKeyPath(_ path: String, _ json: String) throws {
        #expect(try ResponseDecoder.json(User.self, atKeyPath: path).decode(response(json)) == User())
    }

    @Test func keyPathUsesDecoderDateStrategy() throws {
        let decoder = ResponseDecoder.json(
            Date.self,
            atKeyPath: "at",
            decoder: {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .secondsSince1970
                return decoder
            }()
        )

        #expect(try decoder.decode(response(#"{"at": 7}"#)) == Date(timeIntervalSince1970: 7))
        #expect(throws: DecodingError.self) {
            try ResponseDecoder.json(Int.self, atKeyPath: "-1").decode(response("[1]"))
        }
    }

    @Test(arguments: ["user", "user.name.first", "users.3"])
    func missingKeyFailsDecoding(_ path: String) {
        #expect(throws: DecodingError.self) {
            try ResponseDecoder.json(Int.self, atKeyPath: path).decode(response(#"{"users": [1]}"#))
        }
    }

    @Test func emptyBodyDecodesToNilOrFails() throws {
        #expect(try ResponseDecoder<User?>.json.decode(response("")) == nil)
        #expect(throws: RequestError.self) { try ResponseDecoder<User>.json.decode(response("")) }
        try ResponseDecoder.none.decode(response("whatever"))
    }

    @Test func decoderSeesStatusAndHeaders() throws {
        let decoder = ResponseDecoder { response in "\(response.status.code) \(response.headers["X"] ?? "")" }

        #expect(try decoder.decode(response("", status: .created, headers: ["X": "1"])) == "201 1")
        #expect(try decoder.map(\.count).decode(response("", status: .created)) == 4)
        #expect(try ResponseDecoder.response.decode(response("x")).body == Data("x".utf8))
    }

    @Test func valueCanDecodeItself() async throws {
        let queue = TestQueue(
            InMemoryTransport { _ in .status(.ok, headers: ["X-Next": "2"], body: Data("one".utf8)) }
        ) { $0.baseURL = server }

        #expect(try await queue.fetch(Get<Page>("p")) == Page(text: "one", next: "2"))
        #expect(try await queue.fetch(Get<Both>("p")) == Both(name: "made of the response"))
    }

    @Test func decoderSetsAcceptHeader() async throws {
        #expect(try await TestQueue.sent(Get<User>("u")).headers[.accept] == "application/json")
        #expect(
            try await TestQueue.sent(Get<User>("u").headers { Accept("application/xml") }).headers[.accept]
                == "application/xml"
        )
        #expect(
            try await TestQueue.sent(Get<User>("u")) { $0.headers = [.accept: "text/plain"] }.headers[.accept]
                == "text/plain"
        )
        #expect(try await TestQueue.sent(Get<Data>("u")).headers[.accept] == nil)
    }
}
