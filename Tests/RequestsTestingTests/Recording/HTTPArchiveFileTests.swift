// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct HTTPArchiveFileTests {
    private func read(_ text: String) throws -> HTTPArchive {
        try HTTPArchive(data: Data(text.utf8))
    }

    private func read(entry text: String) throws -> Exchange {
        try #require(try read(#"{"log":{"entries":[\#(text)]}}"#).exchanges.first)
    }

    @Test(arguments: [
        ("", "the file isn't JSON"),
        ("[]", "log.entries is missing"),
        (#"{"log":{}}"#, "log.entries isn't an array"),
        (#"{"log":{"entries":[{}]}}"#, "entry 0: request is missing"),
        (#"{"log":{"entries":[{"request":{}}]}}"#, "entry 0: request.method is missing"),
        (#"{"log":{"entries":[{"request":{"method":1}}]}}"#, "entry 0: request.method isn't a string"),
        (#"{"log":{"entries":[{"request":{"method":"G T"}}]}}"#, "entry 0 (G T): request.method isn't a valid method"),
        (#"{"log":{"entries":[{"request":{"method":"GET"}}]}}"#, "entry 0 (GET): request.url is missing"),
        (
            #"{"log":{"entries":[{"request":{"method":"GET","url":"https://a:b:c/"}}]}}"#,
            "entry 0 (GET https://a:b:c/): request.url isn't a valid URL"
        ),
        (
            #"{"log":{"entries":[{"request":{"method":"GET","url":"https://a/?token=s"},"response":{}}]}}"#,
            "entry 0 (GET https://a/?token=REDACTED): response.status is missing"
        ),
        (
            #"{"log":{"entries":[{"request":{"method":"GET","url":"https://a/"},"response":{"status":"ok"}}]}}"#,
            "entry 0 (GET https://a/): response.status isn't a valid status code"
        ),
        (
            #"""
            {"log":{"entries":[{"request":{"method":"GET","url":"https://a/"},
            "response":{"status":200,"content":{"text":"a","encoding":"base64"}}}]}}
            """#,
            "entry 0 (GET https://a/): response.content.text isn't valid base64"
        ),
    ])
    func missingRequiredMemberIsReported(text: String, description: String) {
        let error = #expect(throws: HTTPArchive.Error.self) { try read(text) }

        #expect(error?.description == description)
    }

    @Test func missingOptionalMembersGetDefaults() throws {
        let exchange = try read(
            entry: #"{"request":{"method":"GET","url":"https://a/"},"response":{"status":204}}"#
        )

        #expect(exchange.response?.status == 204 && exchange.response?.body == Data())
        #expect(exchange.request.headers.isEmpty && exchange.error == nil)
        #expect(exchange.metrics.start == Date(timeIntervalSince1970: 0))
    }

    @Test func byteOrderMarkIsSkipped() throws {
        #expect(try read("\u{FEFF}{\"log\":{\"entries\":[]}}").exchanges.isEmpty)
    }

    @Test func entryWithoutResponseIsFailure() throws {
        let request = #""request":{"method":"GET","url":"https://a/"}"#

        let blocked = try read(entry: #"{\#(request),"response":{"status":0,"_error":"net::ERR_BLOCKED"}}"#)
        let timedOut = try read(entry: #"{\#(request),"response":{"status":0,"_error":"timedOut"}}"#)
        let left = try read(entry: "{\(request)}")

        #expect(blocked.error?.code == .connectionLost && blocked.error?.reason == "net::ERR_BLOCKED")
        #expect(timedOut.error?.code == .timedOut)
        #expect(left.error?.code == .connectionLost && left.response == nil)
    }

    @Test func textIsEncodedInDeclaredCharset() throws {
        let exchange = try read(
            entry: #"""
                {"request":{"method":"GET","url":"https://a/"},"response":{"status":200,
                "headers":[{"name":"Content-Type","value":"text/plain; charset=iso-8859-1"}],
                "content":{"text":"é"}}}
                """#
        )

        #expect(exchange.response?.body == Data([0xE9]))
    }

    @Test func formParametersBecomeBody() throws {
        let exchange = try read(
            entry: #"""
                {"request":{"method":"POST","url":"https://a/","postData":{
                "mimeType":"application/x-www-form-urlencoded",
                "params":[{"name":"a b","value":"1&2"},{"name":"c","value":"é"}]}},"response":{"status":200}}
                """#
        )

        #expect(exchange.request.text == "a+b=1%262&c=%C3%A9")
    }

    // MARK: Writing

    private var sample: HTTPArchive {
        let url = URL(string: "https://user:hush@example.com/a;jsessionid=hush?q=1&token=hush#part")!
        let secrets: HTTPHeaders = [.authorization(.bearer("hush")), HTTPField("Cookie", "a=hush")]
        var request = ReceivedRequest(url: url, method: .post, headers: secrets)
        request.headers[.contentType] = "application/json"
        request.body = Data(#"{"password":"hush","name":"Ada"}"#.utf8)
        let response = Exchange.Response(
            status: .ok,
            headers: [.setCookie: "a=hush", .contentType: "application/json", "X-Vault-Token": "hush"],
            body: Data(#"{"access_token":"hush","code":"ok","expires":3600}"#.utf8)
        )
        return HTTPArchive([Exchange(request: request, response: response)])
    }

    /// Compressed content can't be searched for secret names.
    @Test func compressedContentIsOmittedByDefault() throws {
        var archive = sample
        archive.exchanges[0].request.headers[.contentEncoding] = "gzip"
        archive.exchanges[0].request.body = Data([0x1F, 0x8B, 8, 0])

        let exchange = try #require(try HTTPArchive(data: archive.data()).exchanges.first)
        #expect(exchange.request.body.isEmpty)

        let revealed = try #require(try HTTPArchive(data: archive.data(revealingSecrets: true)).exchanges.first)
        #expect(revealed.request.body == Data([0x1F, 0x8B, 8, 0]))
    }

    @Test func secretsAreRedactedByDefault() throws {
        let text = String(decoding: sample.data(), as: UTF8.self)

        #expect(!text.contains("hush"))
        let exchange = try #require(try read(text).exchanges.first)
        #expect(exchange.request.text == #"{"name":"Ada","password":"REDACTED"}"#)
        #expect(exchange.response?.text == #"{"access_token":"REDACTED","code":"ok","expires":3600}"#)
        #expect(exchange.request.url.absoluteString == "https://example.com/a;jsessionid=REDACTED?q=1&token=REDACTED")

        let revealed = try #require(try HTTPArchive(data: sample.data(revealingSecrets: true)).exchanges.first)
        #expect(revealed.request.headers[.authorization] == "Bearer hush")
        #expect(revealed.response?.body == sample.exchanges[0].response?.body)
    }

    @Test func fileIsReadableAndReplacedAtomically() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }

        try Data("old".utf8).write(to: file)
        try sample.write(to: file)

        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.hasPrefix("{\n  \"log\" : {\n    \"creator\" : {\n      \"name\" : \"Requests\","))
        #expect(text.hasSuffix("}\n"))
        #expect(try HTTPArchive(contentsOf: file).exchanges.count == 1)
        #expect(throws: (any Error).self) { try sample.write(to: file.appendingPathComponent("none/x")) }
    }

    @Test func bodyBytesRoundTrip() throws {
        let contents = [
            Data(), Data("text".utf8), Data([0xFF, 0, 1]), Data("é\u{0}".utf8), Data([0xEF, 0xBB, 0xBF, 65]),
        ]
        for (content, type) in contents.flatMap({ data in
            [nil, "text/plain; charset=iso-8859-1", "application/json"].map { (data, $0) }
        }) {
            let headers: HTTPHeaders = type.map { [.contentType: $0] } ?? []
            let request = ReceivedRequest(
                url: URL(string: "https://a/x")!,
                method: .put,
                headers: headers,
                body: content
            )
            let exchange = Exchange(
                request: request,
                response: Exchange.Response(status: .ok, headers: headers, body: content)
            )

            let read = try #require(try HTTPArchive(data: HTTPArchive([exchange]).data()).exchanges.first)

            #expect(read.request.body == content)
            #expect(read.response?.body == content && read.response?.isComplete == true)
        }
    }

    @Test func truncatedContentRemainsIncomplete() throws {
        var exchange = sample.exchanges[0]
        exchange.response?.bodySize += 10
        exchange.requestBodySize += 5

        let written = HTTPArchive([exchange]).data(revealingSecrets: true)
        let read = try #require(try HTTPArchive(data: written).exchanges.first)

        #expect(read.response?.isComplete == false && read.response?.bodySize == exchange.response?.bodySize)
        #expect(read.requestBodySize == exchange.requestBodySize)
    }
}
