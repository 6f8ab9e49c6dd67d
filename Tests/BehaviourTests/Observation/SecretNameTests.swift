// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Content whose secrets have names that are common words, and content that is compressed.
@Suite(.bounded) struct SecretNameTests {
    private static let marker = "m4rkedS3cret"
    private static let names = [
        "code", "pin", "pass", "key", "session", "signature", "cookie", "assertion", "PIN", "user[pin]", "password",
    ]

    /// A kind of content in which names are distinguished from words.
    enum Form: String, CaseIterable, Sendable {
        case multipart, parts, json, jsonLines, cutJSON, cutLines, escapedJSON, event, form, untypedForm

        func body(_ name: String, _ value: String) -> HTTPBody {
            let part = "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n--b--\r\n"
            switch self {
            case .multipart: return .multipart(boundary: "b") { $0.add(value, for: name) }
            case .parts: return .data(Data(part.utf8), type: nil)
            case .json: return .data(Data(#"{"\#(name)": "\#(value)"}"#.utf8), type: .json)
            case .jsonLines:
                return .data(Data("{\"a\":1}\n\n{\"\(name)\":\"\(value)\"}\n".utf8), type: "application/x-ndjson")
            case .cutJSON: return .data(Data(#"{"\#(name)" : "\#(value)", "b"#.utf8), type: .json)
            case .cutLines: return .data(Data("{\"a\":1}\n{\"\(name)\":\"\(value)".utf8), type: nil)
            case .escapedJSON: return .data(Data(#"{\"\#(name)\": \"\#(value)\"}"#.utf8), type: .plainText)
            case .event: return .data(Data("data: {\"\(name)\": \"\(value)\"}\n\n".utf8), type: nil)
            case .form: return .form([name: value])
            case .untypedForm: return .data(Data("a=b&\(name)=\(value)".utf8), type: nil)
            }
        }
    }

    private func expectNoSecret(_ request: HTTPRequest, _ comment: Comment) async throws {
        let lines = Recorder<String>()
        let client = HTTPClient(transport: InMemoryTransport { _ in .status(.ok) }) {
            $0.monitors = [ConsoleMonitor(.bodies, showsCURL: true) { lines.record($0) }]
        }

        let response = try await client.send(request)

        #expect(try !request.cURL().contains(Self.marker), comment)
        #expect(try response.cURL()?.contains(Self.marker) == false, comment)
        #expect(!lines.elements.joined().contains(Self.marker), comment)
    }

    @Test(arguments: Form.allCases, names)
    func redactsSecretsWithCommonNames(form: Form, name: String) async throws {
        let request = HTTPRequest(url: home, method: .post, body: form.body(name, Self.marker))

        try await expectNoSecret(request, "\(form) \(name)")
    }

    // MARK: Compression

    @Test func compressedBodyIsRedacted() async throws {
        let lines = Recorder<String>()
        let client = HTTPClient(transport: InMemoryTransport { _ in .status(.ok) }) {
            $0.interceptors = [.compressingBodies(from: 1)]
            $0.monitors = [ConsoleMonitor(.bodies, showsCURL: true) { lines.record($0) }]
        }
        let form: Query = ["password": String(repeating: Self.marker, count: 50)]

        let response = try await client.send(HTTPRequest(url: home, method: .post, body: .form(form)))

        try #require(response.transfers.first?.request.headers[.contentEncoding] == "gzip")
        let command = try #require(try response.cURL())
        #expect(command.contains("--data-binary '<redacted>'") && !command.contains("printf"))
        #expect(try response.cURL(revealingSecrets: true)?.contains("printf -- '\\037\\213") == true)
        #expect(lines.elements.contains { $0.contains("<redacted>") } && !lines.elements.joined().contains("printf"))
    }

    /// The coding may be a readable one.
    @Test func bodyWithContentEncodingIsRedacted() async throws {
        var request = HTTPRequest(url: home, method: .post, body: .text(Self.marker))
        request.headers[.contentEncoding] = "x-own"

        try await expectNoSecret(request, "x-own")
    }

    // MARK: Addresses

    /// They become a header field before the request is sent, so no URL ever contains them.
    @Test(arguments: [false, true])
    func userAndPasswordAreRemovedFromURLs(revealsSecrets: Bool) async throws {
        let timeline = RecordingMonitor()
        let recorder = ExchangeRecorder(InMemoryTransport { _ in .status(.ok) })
        let client = HTTPClient(transport: recorder) { $0.monitors = [timeline] }
        let request = HTTPRequest("https://ada:\(raw: Self.marker)@example.com/")

        let response = try await client.send(request)

        let texts = [
            try request.cURL(revealingSecrets: revealsSecrets),
            try response.cURL(revealingSecrets: revealsSecrets) ?? "",
            String(decoding: timeline.timeline.har(revealingSecrets: revealsSecrets), as: UTF8.self),
            String(decoding: recorder.archive.data(revealingSecrets: revealsSecrets), as: UTF8.self),
        ]
        for text in texts {
            #expect(text.contains("example.com") && !text.contains(Self.marker) && !text.contains("ada"))
            #expect(text.contains("Basic") && text.contains("YWRhOm") == revealsSecrets)
        }
    }
}
