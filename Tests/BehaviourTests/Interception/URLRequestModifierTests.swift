// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct URLRequestModifierTests {
    private let original = HTTPRequest(
        url: server,
        method: .put,
        headers: [.accept: "a", "X-Twice": "1"],
        body: .file(URL(fileURLWithPath: "/no/such/file"))
    ).addingHeader(HTTPField("X-Twice", "2"))

    private func adapted(_ modify: @escaping @Sendable (inout URLRequest) throws -> Void) async throws -> HTTPRequest {
        var request = original
        let context = InterceptorChain.Context(identifier: "", attempt: 1)
        try await ClosureInterceptor.modifyingURLRequest(modify).adapt(&request, context: context)
        return request
    }

    @Test func changesAreApplied() async throws {
        let request = try await adapted {
            $0.url = URL(string: "https://api.example.com/v2")
            $0.httpMethod = "PATCH"
            $0.setValue("b", forHTTPHeaderField: "Accept")
            $0.setValue("c", forHTTPHeaderField: "X-New")
            $0.httpBody = Data("new".utf8)
            $0.timeoutInterval = 3
            $0.cachePolicy = .reloadIgnoringLocalCacheData
            $0.allowsCellularAccess = false
        }

        #expect(request.url.absoluteString == "https://api.example.com/v2" && request.method == .patch)
        #expect(request.headers[.accept] == "b" && request.headers["X-New"] == "c")
        #expect(try request.body.data() == Data("new".utf8) && request.timeout == .seconds(3))
        #expect(request.cachePolicy == .reloadIgnoringLocalCacheData && !request.allowsCellularAccess)
    }

    @Test func unmodifiedPropertiesArePreserved() async throws {
        let request = try await adapted { $0.setValue("b", forHTTPHeaderField: "X-New") }

        #expect(request.headers[values: "X-Twice"] == ["1", "2"] && request.headers[.accept] == "a")
        guard case .file(let url) = request.body.content else {
            Issue.record("the file is gone")
            return
        }
        #expect(url.path == "/no/such/file")
        #expect(request.url == server && request.method == .put)
    }

    @Test func removedHeaderFieldIsNotSent() async throws {
        let request = try await adapted { $0.setValue(nil, forHTTPHeaderField: "X-Twice") }

        #expect(!request.headers.contains("X-Twice"))
    }

    @Test(arguments: [
        ("https://api.example.com/v2?page=1", "page=1"), ("https://api.example.com/v2?page=2", "page=2"),
        ("https://api.example.com/v2", nil),
    ])
    func changedURLReplacesPathAndQuery(address: String, query: String?) async throws {
        let sent = try await TestQueue.sent(Get<Data>("a")) {
            $0.interceptors = [
                .adapting { $0.query.append("page", value: 1) },
                .modifyingURLRequest { $0.url = URL(string: address) },
            ]
        }

        #expect(sent.url.path == "/v2" && sent.url.query() == query)
    }

    @Test func appendedQueryItemIsSentOnce() async throws {
        let sent = try await TestQueue.sent(Get<Data>("a")) {
            $0.interceptors = [
                .adapting { $0 = $0.query(["q": "x"]).query(["n": 1] as [String: Int]) },
                .modifyingURLRequest { $0.url?.append(queryItems: [URLQueryItem(name: "sig", value: "s")]) },
            ]
        }

        #expect(sent.url.query() == "key=k&q=x&sig=s&n=1")
    }
}
