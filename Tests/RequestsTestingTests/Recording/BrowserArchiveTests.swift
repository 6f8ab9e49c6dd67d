// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Files of browsers: with extra members, and content that no longer has the framing of its head.
@Suite(.bounded) struct BrowserArchiveTests {
    private static let chrome = #"""
        {"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"pages":[{"id":"page_1"}],
        "entries":[{"_connectionId":"142","_initiator":{"type":"script","stack":{"callFrames":[]}},
        "_priority":"High","_resourceType":"fetch","cache":{},"connection":"443","pageref":"page_1",
        "request":{"method":"POST","url":"https://api.example.com/users?page=1","httpVersion":"http/2.0",
        "headers":[{"name":":authority","value":"api.example.com"},{"name":":method","value":"POST"},
        {"name":":path","value":"/users?page=1"},{"name":"content-type","value":"application/json"}],
        "queryString":[{"name":"page","value":"1"}],"cookies":[],"headersSize":-1,"bodySize":14,
        "postData":{"mimeType":"application/json","text":"{\"name\":\"Ada\"}"}},
        "response":{"status":201,"statusText":"","httpVersion":"http/2.0",
        "headers":[{"name":"content-encoding","value":"gzip"},{"name":"content-length","value":"31"},
        {"name":"content-type","value":"application/json"},{"name":"set-cookie","value":"a=1\nb=2"},
        {"name":"transfer-encoding","value":"chunked"}],"cookies":[],
        "content":{"size":8,"mimeType":"application/json","text":"{\"id\":7}"},
        "redirectURL":"","headersSize":-1,"bodySize":-1,"_transferSize":230,"_error":null},
        "serverIPAddress":"203.0.113.7","startedDateTime":"2026-01-15T10:00:00.123Z","time":52.25,
        "timings":{"blocked":1.5,"dns":-1,"ssl":-1,"connect":-1,"send":0.25,"wait":50,"receive":0.5,
        "_blocked_queueing":1.2}},
        {"request":{"method":"GET","url":"data:text/plain,x","headers":[]},"response":{"status":200,"headers":[]}}]}}
        """#

    private static let firefox = #"""
        {"log":{"version":"1.2","creator":{"name":"Firefox","version":"128.0","comment":"x"},
        "browser":{"name":"Firefox","version":"128.0"},"pages":[],"comment":"none",
        "entries":[{"pageref":"page_1","startedDateTime":"2026-01-15T11:00:00.123+01:00","_securityState":"secure",
        "request":{"bodySize":0,"method":"GET","url":"https://api.example.com/photo","httpVersion":"HTTP/2",
        "headers":[{"name":"Accept","value":"*/*"}],"cookies":[],"queryString":[],"headersSize":341},
        "response":{"status":200,"statusText":"","httpVersion":"HTTP/2",
        "headers":[{"name":"content-encoding","value":"br"},{"name":"content-type","value":"image/png"}],
        "cookies":[],"content":{"mimeType":"image/png","size":4,"encoding":"base64","text":"iVBO\nRw==",
        "comment":"x"},"redirectURL":"","headersSize":300,"bodySize":600},
        "cache":{},"timings":{"blocked":0,"dns":0,"connect":0,"ssl":0,"send":0,"wait":44,"receive":1},
        "time":45}]}}
        """#

    @Test func chromeArchiveIsReplayed() async throws {
        let archive = try HTTPArchive(data: Data(Self.chrome.utf8))
        let stubber = HTTPStubber()
        stubber.replay(archive, matchingBodies: true)
        let recorder = ExchangeRecorder(stubber)
        let client = HTTPClient(baseURL: URL(string: "https://api.example.com"), transport: recorder)

        let request = HTTPRequest(
            url: URL(string: "https://api.example.com/users?page=1")!,
            method: .post,
            body: .json(["name": "Ada"])
        )
        let content = try await request.fetch(on: client)

        #expect(content == Data(#"{"id":7}"#.utf8))
        let response = try #require(recorder.exchanges.first?.response)
        #expect(response.status == 201)
        #expect(response.headers[.contentEncoding] == nil && response.headers[.transferEncoding] == nil)
        #expect(response.headers[.contentLength] == "8")
        #expect(response.headers[values: .setCookie] == ["a=1", "b=2"])
        let read = try #require(archive.exchanges.first)
        #expect(read.request.headers.map(\.name.rawValue) == ["content-type"])
    }

    @Test func firefoxArchiveIsReplayed() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(Self.firefox.utf8).write(to: file)

        let stubber = HTTPStubber()
        stubber.replay(try HTTPArchive(contentsOf: file))
        let request = HTTPRequest(url: URL(string: "https://api.example.com/photo")!)

        #expect(try await request.fetch(on: HTTPClient(transport: stubber)) == Data([0x89, 0x50, 0x4E, 0x47]))
        let chrome = try #require(try HTTPArchive(data: Data(Self.chrome.utf8)).exchanges.first)
        #expect(try HTTPArchive(contentsOf: file).exchanges.first?.metrics.start == chrome.metrics.start)
    }
}
