// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

/// The rows of the redirect matrix between https and http, which a loopback server without certificates can't test.
@Suite(.bounded) struct RedirectDowngradeTests {
    enum Content: CaseIterable, Sendable { case get, head, data, file, stream }

    struct Row: Sendable, CustomTestStringConvertible {
        let status: HTTPStatus
        let content: Content
        /// The addresses in order, and the secrets that remain at the last.
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

    /// Every pair of a status, a content and a route once; all combinations at full scale.
    static let rows: [Row] = {
        var rows: [Row] = []
        for (number, status) in statuses.enumerated() {
            for (offset, content) in Content.allCases.enumerated() {
                let paired = ways[(number + offset) % ways.count]
                for addresses in Scale.isWhole ? ways : [paired] {
                    rows.append(Row(status: status, content: content, addresses: addresses))
                }
            }
        }
        return rows
    }()

    private static let secrets: HTTPHeaders = [
        .authorization: "Bearer secret", "Proxy-Authorization": "Basic secret", .cookie: "own=secret",
    ]

    private func request(_ row: Row) throws -> HTTPRequest {
        let body: HTTPBody =
            switch row.content {
            case .get, .head: .none
            case .data: .data(Data("content".utf8))
            case .file: .file(URL(fileURLWithPath: "/content"))
            case .stream: .stream(BodyStream { InputStream(data: Data("content".utf8)) })
            }
        var headers = Self.secrets
        headers["X-Api-Key"] = "secret"
        headers["X-Own"] = "1"
        if !body.isEmpty { headers.merge([.contentType: "text/plain", "Content-Language": "en"]) }
        headers.markSecrets(["X-Api-Key"])
        let url = try #require(URL(string: row.addresses[0]))
        return HTTPRequest(url: url, method: row.method, headers: headers, body: body)
    }

    @Test(arguments: rows) func secretsNeitherGoDownNorComeBack(_ row: Row) throws {
        var machine = RedirectMachine(policy: .follow(sendingBodyToOtherOrigins: true))
        var request = try request(row)

        for address in row.addresses.dropFirst() {
            let head = HTTPResponseHead(status: row.status, headers: [.location: address])
            guard case .follow(let next) = machine.handle(head, to: request) else {
                Issue.record("not followed to \(address)")
                return
            }
            request = next
            #expect(request.url.absoluteString == address)
            #expect(request.headers.filter { $0.value.contains("secret") }.isEmpty)
        }

        #expect(request.method == (row.method == .post && !row.keepsBody ? .get : row.method))
        #expect(request.body.isEmpty == !row.keepsBody)
        #expect(request.headers.contains(.contentType) == row.keepsBody)
        #expect(request.headers.contains("Content-Language") == row.keepsBody)
        #expect(request.headers["X-Own"] == "1")
    }

    @Test(arguments: rows) func contentDoesNotGoDownUnlessAsked(_ row: Row) throws {
        var machine = RedirectMachine(policy: .follow())
        let head = HTTPResponseHead(status: row.status, headers: [.location: row.addresses[1]])

        switch machine.handle(head, to: try request(row)) {
        case .follow(let next): #expect(!row.keepsBody && next.body.isEmpty)
        case .fail(let code, _): #expect(row.keepsBody && code == .redirectRefused)
        case .deliver: Issue.record("delivered")
        }
    }
}
