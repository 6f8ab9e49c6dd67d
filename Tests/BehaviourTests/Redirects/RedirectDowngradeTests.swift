// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The part of the redirect matrix between https and http, which a loopback server without certificates can't test.
@Suite(.bounded) struct RedirectDowngradeTests {
    enum Content: CaseIterable, Sendable { case get, head, data, file, stream }

    struct Row: Sendable, CustomTestStringConvertible {
        let status: HTTPStatus
        let content: Content
        /// The addresses in order.
        let addresses: [String]

        var testDescription: String { "\(status.code) \(content) \(addresses.joined(separator: " → "))" }
        var method: HTTPMethod { content == .get ? .get : content == .head ? .head : .post }
        var keepsBody: Bool { method == .post && status.code >= 307 }
    }

    static let ways = [
        ["https://a.example/0", "http://a.example/1"],
        ["http://a.example/0", "https://a.example/1"],
        ["https://a.example/0", "http://a.example:443/1"],
        ["https://a.example/0", "http://a.example/1", "https://a.example/2"],
        ["https://a.example/0", "http://b.example/1", "https://a.example/2"],
    ]

    static let statuses: [HTTPStatus] = [301, 302, 303, 307, 308]

    /// Each pair of a status, a body and a route once, or all combinations at full scale.
    static let rows: [Row] = statuses.enumerated().flatMap { number, status in
        Content.allCases.enumerated().flatMap { offset, content in
            Scale.pick([ways[(number + offset) % ways.count]], whole: ways).map {
                Row(status: status, content: content, addresses: $0)
            }
        }
    }

    private func run(_ row: Row, _ policy: RedirectPolicy) async throws -> RedirectRun {
        let folder = TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let file = folder.url.appending(path: "content")
        try Data("content".utf8).write(to: file)
        let body: HTTPBody =
            switch row.content {
            case .get, .head: .none
            case .data: .data(Data("content".utf8))
            case .file: .file(file)
            case .stream: .stream(HTTPBody.Stream { InputStream(data: Data("content".utf8)) })
            }
        var headers: HTTPHeaders = [
            .authorization: "Bearer secret", "Proxy-Authorization": "Basic secret", .cookie: "own=secret",
            "X-Api-Key": "secret", "X-Own": "1", .accept: "*/*",
        ]
        if !body.isEmpty { headers.merge([.contentType: "text/plain", "Content-Language": "en"]) }
        let url = try #require(URL(string: row.addresses[0]))
        return await RedirectRun(
            HTTPRequest(url: url, method: row.method, headers: headers, body: body),
            policy,
            answers: row.addresses.dropFirst().map { .redirect(to: $0, status: row.status) }
        ) {
            $0.sensitiveHeaders = ["X-Api-Key"]
        }
    }

    @Test(arguments: rows) func downgradeDropsSecretsPermanently(_ row: Row) async throws {
        let run = try await run(row, .follow(sendingBodyToOtherOrigins: true))

        #expect(run.sent.map(\.url.absoluteString) == row.addresses)
        #expect(run.sent.first?.headers.count { $0.value.contains("secret") } == 4)
        for request in run.sent.dropFirst() {
            #expect(request.headers.filter { $0.value.contains("secret") }.isEmpty)
        }
        let last = try #require(run.sent.last)
        #expect(last.method == (row.method == .post && !row.keepsBody ? .get : row.method))
        #expect(last.body.isEmpty == !row.keepsBody)
        #expect(last.headers.contains(.contentType) == row.keepsBody)
        #expect(last.headers.contains("Content-Language") == row.keepsBody)
        let isUpgrade = row.addresses == ["http://a.example/0", "https://a.example/1"]
        #expect(last.headers["X-Own"] == (isUpgrade ? "1" : nil) && last.headers[.accept] == "*/*")
    }

    @Test(arguments: rows) func downgradeRejectsBodyByDefault(_ row: Row) async throws {
        let run = try await run(row, .follow())

        #expect(run.error?.code == (row.keepsBody ? .redirectRefused : nil))
        #expect(run.sent.map(\.url.absoluteString) == (row.keepsBody ? [row.addresses[0]] : row.addresses))
        #expect(!run.sent.dropFirst().contains { !$0.body.isEmpty })
    }
}
