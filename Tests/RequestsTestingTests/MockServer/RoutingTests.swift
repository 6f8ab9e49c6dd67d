// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct RoutingTests {
    /// Returns the responses to requests for the targets, one after another.
    private func bodies(of server: MockServer, _ targets: String...) throws -> [String] {
        try targets.map { target in
            let client = try RawClient(port: server.port)
            client.get(target, fields: "Connection: close\r\n")
            let answer = client.readToEnd()
            return "\(answer.dropFirst(9).prefix(3)) \(answer.components(separatedBy: "\r\n\r\n").last ?? "")"
        }
    }

    @Test func lastResponseOfRouteIsRepeated() throws {
        let server = try MockServer()
        server.route(.get, "/a", .status(.serviceUnavailable), .text("one"), .text("two"))
        server.route(.get, "/b", .text("b"))

        let bodies = try bodies(of: server, "/a", "/b", "/a", "/a", "/a")

        #expect(bodies == ["503 ", "200 b", "200 one", "200 two", "200 two"])
    }

    @Test func routeTemplateExtractsVariables() throws {
        let server = try MockServer()
        server.route(.get, "/recipes/{id}") { .text("\($0["id"] ?? "-")|\($0["page"] ?? "-")") }
        server.route(.get, "/menus/{id}{?page}") { .text("\($0["id"] ?? "-")|\($0["page"] ?? "-")") }
        server.route(.get, "/{a}/{b}", .status(.serviceUnavailable), .text("any"))
        server.route(.get, "/recipes/new", .text("new"))

        let bodies = try bodies(
            of: server,
            "/recipes/7?x=1",
            "/recipes/a%20b%2F",
            "/recipes/new",
            "/menus/7?page=2",
            "/menus/7",
            "/x/y",
            "/x/y",
            "/x"
        )

        #expect(
            bodies == ["200 7|-", "200 a b/|-", "200 new", "200 7|2", "200 7|-", "503 ", "200 any", "404 "]
        )
        let requests = server.requests
        try #require(requests.count == 8)
        #expect(requests[0].variables == ["id": .string("7")])
        #expect(requests[2].variables == [:])
    }

    @Test func getRouteServesHead() throws {
        let server = try MockServer()
        server.route(.get, "/{x}", .text("a"))

        for (method, status) in [("HEAD", "200"), ("POST", "404")] {
            let client = try RawClient(port: server.port)
            client.send("\(method) /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            #expect(client.readToEnd().hasPrefix("HTTP/1.1 \(status) "))
        }
    }

    @Test func malformedTemplateReturns500() throws {
        let server = try MockServer()
        server.route(.get, "/recipes/{id", .text("recipe"))

        let bodies = try bodies(of: server, "/recipes/7", "/menus")

        #expect(bodies.first?.hasPrefix("500 the template of the route /recipes/{id is malformed: ") == true)
        #expect(bodies.last == "404 ")
    }

    @Test func equalTemplateReplacesRoute() throws {
        let server = try MockServer()
        server.route(.get, "/{x}", .text("old"))
        server.route(.get, "/{y}", .text("other"))
        server.route(.get, "/{x}", .text("new"))

        #expect(try bodies(of: server, "/a") == ["200 new"])
    }

    @Test func earlyResponseOfTemplateIsSentOnce() throws {
        let server = try MockServer()
        server.route(.post, "/photos/{id}", .status(.contentTooLarge).early, .text("taken"))
        let first = try RawClient(port: server.port)
        let second = try RawClient(port: server.port)

        first.send("POST /photos/1 HTTP/1.1\r\nHost: h\r\nContent-Length: 9999\r\n\r\nsome")
        #expect(first.readToEnd().hasPrefix("HTTP/1.1 413 "))
        second.send("POST /photos/1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 4\r\n\r\nsome")

        #expect(second.readToEnd().hasSuffix("\r\n\r\ntaken"))
        #expect(server.requests.map { $0["id"] } == ["1", "1"])
    }
}
