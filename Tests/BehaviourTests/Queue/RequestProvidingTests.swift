// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct RequestProvidingTests {
    struct API: RequestProviding {
        var baseURL = URL(string: "https://api.example.com/v1?key=k")!

        func request(to path: String, using method: HTTPMethod) -> APIRequest<API, Void> {
            APIRequest(HTTPRequest(path: path, relativeTo: baseURL, method: method), decoding: .none)
                .settingHeader(HTTPField("X-Application-Key", "DEAD-BEEF"))
                .authenticated(with: .bearerToken("base"))
        }
    }

    private let api = API()

    @Test func verbsCreateRequests() {
        let json = HTTPBody.json(User())

        #expect(api.get(.json(User.self), from: "/u").http.method == .get)
        #expect(api.post(json, to: "/u").http.method == .post)
        #expect(api.put(json, to: "/u").http.method == .put)
        #expect(api.patch("/u", with: json).http.method == .patch)
        #expect(api.delete("/u").http.method == .delete)
        #expect(api.head("/u").http.method == .head)
        #expect(api.options("/u").http.method == .options)
        #expect(api.get("/u").http.method == .get)
    }

    @Test func verbsAndModifiersKeepBaseRequest() async throws {
        let sent = try await TestQueue.sent(
            api.get(.json(User.self), from: "/user/1/").query(["verbose": "1"]).decoding(.text)
        )

        #expect(sent.url.absoluteString == "https://api.example.com/v1/user/1/?key=k&verbose=1")
        #expect(sent.headers["X-Application-Key"] == "DEAD-BEEF")
        #expect(sent.headers[.authorization] == "Bearer base")
    }

    @Test(arguments: [
        ("", "/v1?key=k"), ("/", "/v1/?key=k"), ("user/1", "/v1/user/1?key=k"), ("/user/1", "/v1/user/1?key=k"),
        ("/search?q=a%20b", "/v1/search?key=k&q=a%20b"), ("/a b", "/v1/a%20b?key=k"), ("/a%2Fb", "/v1/a%2Fb?key=k"),
        ("/a#f", "/v1/a?key=k"), ("//evil.com/x", "/v1/evil.com/x?key=k"),
        ("https://evil.com/x", "/v1/https://evil.com/x?key=k"), ("@evil.com", "/v1/@evil.com?key=k"),
        (":80/x", "/v1/:80/x?key=k"), ("\\\\evil.com", "/v1/%5C%5Cevil.com?key=k"),
    ])
    func pathCannotChangeHost(_ path: String, _ target: String) async throws {
        let sent = try await TestQueue.sent(api.get("\(raw: path)"))

        #expect(sent.url.absoluteString == "https://api.example.com\(target)")
    }

    @Test(arguments: ["..", "/../x", "a/../../b", "%2e%2e/x", "a/%2E./b", "..%2fx", "..\\x"])
    func pathWithParentSegmentIsRejected(_ path: String) async {
        await #expect(throws: RequestError.self) { try await TestQueue.sent(api.get("\(raw: path)")) }
    }

    @Test func crossOriginClientAddsNoCredentials() async throws {
        let provider = AnonymousRequestProvider(baseURL: URL(string: "https://other.example.com")!)

        let sent = try await TestQueue.sent(provider.get("/x")) {
            $0.headers = [.authorization: "Bearer secret", .userAgent: "Recipes", "X-Internal": "secret"]
            $0.sensitiveHeaders = ["X-Internal"]
            $0.query = ["token": "secret"]
        }

        #expect(sent.headers[.authorization] == nil && sent.headers["X-Internal"] == nil)
        #expect(sent.headers[.userAgent] == "Recipes")
        #expect(sent.url.absoluteString == "https://other.example.com/x")
    }

    @Test func sameOriginClientAddsCredentials() async throws {
        let sent = try await TestQueue.sent(HTTPRequest("https://API.example.com:443/x?a=1")) {
            $0.headers = [.authorization: "Bearer secret"]
            $0.query = ["token": "t"]
        }

        #expect(sent.headers[.authorization] == "Bearer secret")
        #expect(sent.url.query(percentEncoded: true) == "a=1&token=t")
    }

    @Test func queryItemsAreOrderedBaseClientRequest() async throws {
        let sent = try await TestQueue.sent(HTTPRequest("/x?own=1", query: ["more": "2"])) {
            $0.query = ["client": "c"]
        }

        #expect(sent.url.query(percentEncoded: true) == "key=k&client=c&own=1&more=2")
    }
}
