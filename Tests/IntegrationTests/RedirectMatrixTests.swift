// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Each redirect status with each kind of content on each route, compared with the bytes that arrive.
    @Suite(.bounded) struct RedirectMatrixTests {
        enum Content: String, CaseIterable, Sendable {
            case get = "GET"
            case head = "HEAD"
            case data = "POST of data"
            case file = "POST of a file"
            case stream = "POST of a stream"

            var method: HTTPMethod {
                switch self {
                case .get: .get
                case .head: .head
                case .data, .file, .stream: .post
                }
            }
        }

        /// The route of the redirects.
        enum Way: String, CaseIterable, Sendable {
            case sameOrigin = "within the origin"
            case otherPort = "to another port"
            case otherHost = "to another host"
            case backAgain = "away and back again"
        }

        struct Row: Sendable, CustomTestStringConvertible {
            let status: HTTPStatus
            let content: Content
            let way: Way

            var testDescription: String { "\(status.code), \(content.rawValue), \(way.rawValue)" }

            /// RFC 9110, 15.4.
            var method: HTTPMethod {
                content.method == .post && status.code < 307 ? .get : content.method
            }
            var keepsBody: Bool { method == .post }
            var leavesOrigin: Bool { way != .sameOrigin }
        }

        /// Each status with each content on one route, so that every route has every status and every content. In a
        /// full run, on all routes.
        static let rows: [Row] = {
            var rows: [Row] = []
            for (number, status) in [301, 302, 303, 307, 308].enumerated() {
                for (index, content) in Content.allCases.enumerated() {
                    let way = Way.allCases[(number + index) % Way.allCases.count]
                    for way in Scale.pick([way], whole: Way.allCases) {
                        rows.append(Row(status: HTTPStatus(status), content: content, way: way))
                    }
                }
            }
            return rows
        }()

        static let transports = TransportUnderTest.only(.standard, .configuration)

        /// Two servers, their hosts, and a redirect on each step except the last.
        private struct Scene {
            let home: MockServer
            let abroad: MockServer
            /// The requested addresses, in order.
            let addresses: [URL]

            init(_ row: Row) throws {
                (home, abroad) = (try MockServer(), try MockServer())
                let start = home.url("/0")
                switch row.way {
                case .sameOrigin: addresses = [start, home.url("/1")]
                case .otherPort: addresses = [start, abroad.url("/1")]
                case .otherHost: addresses = [start, try #require(URL(string: "http://localhost:\(home.port)/1"))]
                case .backAgain: addresses = [start, abroad.url("/1"), home.url("/2")]
                }
                for (number, address) in addresses.enumerated() {
                    let server = address.port == home.port ? home : abroad
                    var headers: HTTPHeaders = [.setCookie: "step\(number)=1; Path=/"]
                    if number + 1 < addresses.count { headers[.location] = addresses[number + 1].absoluteString }
                    let status = number + 1 < addresses.count ? row.status : .ok
                    for method in [HTTPMethod.get, .head, .post] {
                        server.route(method, address.path, .data(Data("body".utf8), status: status, headers: headers))
                    }
                }
            }

            /// The received requests, in the order in which they were sent.
            var requests: [ReceivedRequest] { (home.requests + abroad.requests).sorted { $0.path < $1.path } }

            func client(_ transport: TransportUnderTest, _ redirect: RedirectPolicy) -> HTTPClient {
                let jar = CookieJar()
                for host in ["127.0.0.1", "localhost"] {
                    guard let url = URL(string: "http://\(host)/"), let cookie = SetCookie(parsing: "at=\(host)") else {
                        continue
                    }
                    jar.store([cookie], from: url)
                }
                return HTTPClient(transport: transport.makeSession()) {
                    $0.cookies = jar
                    $0.redirect = redirect
                    $0.sensitiveHeaders = ["X-Api-Key"]
                }
            }
        }

        private static let secrets: HTTPHeaders = [
            .authorization: "Bearer secret", .cookie: "own=secret", "X-Api-Key": "secret",
        ]

        private func call(_ row: Row, to url: URL, file: URL) -> Call {
            var headers = Self.secrets
            headers["X-Own"] = "1"
            let body: HTTPBody
            switch row.content {
            case .get, .head: body = .none
            case .data: body = .data(Data("content".utf8))
            case .file: body = .file(file)
            case .stream: body = .stream(HTTPBody.Stream { InputStream(data: Data("content".utf8)) })
            }
            if !body.isEmpty {
                headers[.contentType] = "text/plain"
                headers["Content-Language"] = "en"
            }
            return Call(url, method: row.content.method, headers: headers, body: body)
        }

        @Test(arguments: transports, rows)
        func redirectedRequestFollowsStatusAndRoute(_ transport: TransportUnderTest, _ row: Row) async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: "redirect-\(UUID().uuidString)")
            try Data("content".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let scene = try Scene(row)
            let call = call(row, to: scene.addresses[0], file: file)
            let policy = RedirectPolicy.follow(sendingBodyToOtherOrigins: true)

            let operation = scene.client(transport, policy).addRequest(call)
            let value = try await operation.value()

            #expect(value == (row.method == .head ? Data() : Data("body".utf8)))
            #expect(operation.response?.url == scene.addresses.last)
            try #require(scene.requests.map(\.path) == scene.addresses.map(\.path))
            for (number, request) in scene.requests.enumerated() {
                let text = String(decoding: request.rawBytes, as: UTF8.self)
                let isFirst = number == 0
                let method = isFirst ? row.content.method : row.method
                let address = scene.addresses[number]
                #expect(text.hasPrefix("\(method) \(address.path) HTTP/1.1\r\n"))
                #expect(request.headers[values: .host] == ["\(address.host() ?? ""):\(address.port ?? 0)"])
                #expect(request.headers[values: "X-Own"] == (isFirst || !row.leavesOrigin ? ["1"] : []))
                checkContent(of: request, text, isThere: method == .post, row)
                checkSecrets(of: request, text, mayBeThere: isFirst || !row.leavesOrigin)
                checkCookies(of: request, at: address, number, row)
            }
        }

        private func checkContent(of request: ReceivedRequest, _ text: String, isThere: Bool, _ row: Row) {
            guard isThere else {
                #expect(request.body.isEmpty && text.hasSuffix("\r\n\r\n"))
                #expect(!text.lowercased().contains("content-") && !text.lowercased().contains("transfer-encoding"))
                return
            }
            #expect(request.text == "content")
            #expect(request.headers[values: .contentType] == ["text/plain"])
            #expect(request.headers[values: "Content-Language"] == ["en"])
            if row.content == .stream {
                #expect(request.headers.contains(.contentLength) != request.headers.contains(.transferEncoding))
            } else {
                #expect(text.hasSuffix("\r\n\r\ncontent") && request.headers[values: .contentLength] == ["7"])
                #expect(!request.headers.contains(.transferEncoding))
            }
        }

        private func checkSecrets(of request: ReceivedRequest, _ text: String, mayBeThere: Bool) {
            guard mayBeThere else {
                #expect(!text.contains("secret"))
                return
            }
            for field in Self.secrets where field.name != .cookie {
                #expect(request.headers[values: field.name] == [field.value])
            }
        }

        // Cookies depend on hosts, not on ports (RFC 6265, 8.5); the caller's own are a secret, and aren't forwarded.
        private func checkCookies(of request: ReceivedRequest, at address: URL, _ number: Int, _ row: Row) {
            let host = address.host() ?? ""
            var expected: Set = ["at=\(host)"]
            if number == 0 || !row.leavesOrigin { expected.insert("own=secret") }
            if host == "127.0.0.1" { expected.formUnion((0..<number).map { "step\($0)=1" }) }
            let cookies = request.headers[values: .cookie]
            #expect(cookies.count == 1)
            #expect(Set(cookies.joined().components(separatedBy: "; ")) == expected)
        }

        @Test(arguments: transports, rows.filter { $0.keepsBody && $0.leavesOrigin })
        func crossOriginRedirectOmitsBodyByDefault(_ transport: TransportUnderTest, _ row: Row) async throws {
            let file = FileManager.default.temporaryDirectory.appending(path: "redirect-\(UUID().uuidString)")
            try Data("content".utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let scene = try Scene(row)
            let call = call(row, to: scene.addresses[0], file: file)

            let error = await #expect(throws: RequestError.self) {
                try await scene.client(transport, .follow()).fetch(call)
            }

            #expect(error?.code == .redirectRefused)
            #expect(error?.response?.status == row.status)
            #expect(scene.requests.map(\.path) == ["/0"])
        }

        @Test(arguments: transports)
        func circularRedirectsFail(_ transport: TransportUnderTest) async throws {
            let (home, abroad) = (try MockServer(), try MockServer())
            home.route(.get, "/", .redirect(to: abroad.url("/").absoluteString))
            abroad.route(.get, "/", .redirect(to: home.url("/").absoluteString))

            let error = await #expect(throws: RequestError.self) {
                try await HTTPClient(transport: transport.makeSession()).fetch(Call(home.url("/")))
            }

            #expect(error?.code == .tooManyRedirects)
            #expect(home.requests.count + abroad.requests.count == 11)
        }
    }
}
