// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// A redirect is followed at its head, whatever its content is.
    @Suite(.bounded) struct RedirectContentTests {
        struct Content: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let steps: [StubResponse.Step]

            init(_ name: String, _ fields: String, _ steps: StubResponse.Step...) {
                testDescription = name
                let head = "HTTP/1.1 302 Found\r\nLocation: /next\r\n\(fields)\r\n"
                self.steps = [.send(Data(head.utf8))] + steps
            }
        }

        private static let piece = StubResponse.Step.send(Data(count: 1 << 20))

        static let contents: [Content] = [
            Content("without an end", "", .send(Data("moved".utf8)), .stall),
            Content("that never begins", "Content-Length: 5\r\n", .stall),
            Content("of 20 MB", "Content-Length: 20971520\r\n", piece, .stall),
            Content("of 20 MB without a length", "", piece, piece, .stall),
            Content("that breaks off", "Content-Length: 100\r\n", .send(Data("moved".utf8)), .close),
            Content("in a broken coding", "Content-Encoding: gzip\r\nContent-Length: 5\r\n", .send(Data("moved".utf8))),
            Content("in broken chunks", "Transfer-Encoding: chunked\r\n\r\nzz", .stall),
        ]

        @Test(arguments: TransportUnderTest.only(.standard), contents)
        func redirectIsFollowedAfterItsHead(_ transport: TransportUnderTest, _ content: Content) async throws {
            let server = try MockServer { request in
                request.path == "/next" ? .text("here") : .script(content.steps, keepsAlive: false)
            }
            let call = Call(server.url("/")) { $0.maximumBodySize = 1000 }

            let response = try await transport.send(call)

            #expect(response.text == "here")
            #expect(response.transfers.map { $0.response?.status } == [.found, .ok])
            #expect(response.transfers.allSatisfy { $0.error == nil })
        }

        @Test(arguments: TransportUnderTest.only(.standard))
        func shortRedirectBodyKeepsConnection(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { request in
                request.path == "/next"
                    ? .text("here")
                    : .text("moved", status: .found, headers: [.location: "/next"])
            }

            let response = try await transport.send(Call(server.url("/")))

            #expect(response.text == "here")
            #expect(server.connectionCount == 1)
        }

        @Test(arguments: TransportUnderTest.only(.standard))
        func redirectOfHEADWaitsForNoBody(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { request in
                request.path == "/next"
                    ? .text("here")
                    : .status(.found, headers: [.location: "/next"], body: Data(count: 100_000))
            }

            let response = try await transport.send(Call(server.url("/"), method: .head))

            #expect(response.status == .ok)
            #expect(server.connectionCount == 1)
        }

        @Test(arguments: TransportUnderTest.only(.standard))
        func cacheStoresNoPartialRedirect(_ transport: TransportUnderTest) async throws {
            let content = Data(repeating: 0x61, count: 100_000)
            let server = try MockServer { request in
                let headers: HTTPHeaders = [.location: "/next", .cacheControl: "max-age=60"]
                return request.path == "/next"
                    ? .text("here") : .data(content, status: .movedPermanently, headers: headers)
            }
            let client = HTTPClient {
                $0.cache = ResponseCache()
            }

            #expect(try await client.fetch(Call(server.url("/"))) == Data("here".utf8))
            let redirect = try await client.fetch(
                Call(server.url("/")) {
                    $0.redirect = .refuse
                    $0.validatesStatus = false
                }
            )

            #expect(redirect == content)
        }

        @Test(arguments: TransportUnderTest.only(.standard))
        func redirectKeptByClosureIncludesBody(_ transport: TransportUnderTest) async throws {
            let content = Data(repeating: 0x61, count: 100_000)
            let server = try MockServer { _ in .data(content, status: .found, headers: [.location: "/next"]) }

            let response = try await transport.send(
                Call(server.url("/")) {
                    $0.redirect = .follow().modifying { _, _ in nil }
                    $0.validatesStatus = false
                }
            )

            #expect(response.status == .found && response.body == content)
        }
    }
}
