// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HTTPRequestAddressTests {
    private func resolved(_ request: HTTPRequest, base: String? = "https://api.example.com/v1?key=k") throws -> String {
        var request = request
        try request.resolve(base: base.flatMap { URL(string: $0) }.map(BaseURL.init))
        return request.url.absoluteString
    }

    @Test(arguments: [
        ("https://example.com/a?b=c", "https://example.com/a?b=c"), ("users", "https://api.example.com/v1/users?key=k"),
        ("/users?x=1", "https://api.example.com/v1/users?key=k&x=1"), ("", "https://api.example.com/v1?key=k"),
        ("localhost/x", "https://api.example.com/v1/localhost/x?key=k"),
        ("a?u=http://x.y/z", "https://api.example.com/v1/a?key=k&u=http://x.y/z"),
    ])
    func rawURLIsResolved(_ text: String, _ url: String) throws {
        #expect(try resolved(HTTPRequest("\(raw: text)")) == url)
    }

    @Test func rawURLIsCombinedWithQuery() throws {
        let request = HTTPRequest(method: .post, "https://example.com/a?b=c#f", query: ["d": "e f"], body: .text("x"))

        #expect(try resolved(request) == "https://example.com/a?b=c&d=e%20f")
        #expect(request.method == .post && !request.body.isEmpty)
    }

    @Test func relativeURLIsAppendedToBaseURL() throws {
        #expect(
            try resolved(HTTPRequest(url: URL(string: "users/1?a=b")!))
                == "https://api.example.com/v1/users/1?key=k&a=b"
        )
    }

    @Test func templateIsExpanded() throws {
        let request = HTTPRequest(
            URI: "/posts/{postId}{?page,tags*}",
            variables: ["postId": 1, "page": nil, "tags": ["a", "b"]]
        )

        #expect(try resolved(request) == "https://api.example.com/v1/posts/1?key=k&tags=a&tags=b")
        #expect(
            try resolved(HTTPRequest(URI: "https://{host}/x", variables: ["host": "example.com"]))
                == "https://example.com/x"
        )
    }

    @Test(arguments: [
        "https://api.example.com{+p}", "https://api.example.com{p}", "https://api.example.com:8080{+p}",
        "https://{+p}/x", "https://api.{p}/x", "https://{p}{q}/x", "https://a{.p}/x", "https://a{;p}/x",
        "https://a{&p}/x", "https://api{p}:8443/users", "https://api.example.com{p}:8443/x",
        "https://a{/q}{+p}", "https://a{/q}b/x", "https://a{?q}{p}", "https://{+p}:{q}@a/x", "https://{q}:{+p}@a/x",
        "https://{q}:{p}@{h}/x", "https://{q}{/p}@a/x", "https://{q}@a{p}/x", "https://{q}:{p}@a{p}:80/x",
    ])
    func templateWithVariableInHostIsRejected(_ template: String) throws {
        for value in ["@evil.com/", ".evil.com", "x"] {
            let request = HTTPRequest(URI: try URITemplate(template), variables: ["p": .init(value)])
            let error = #expect(throws: InvalidValue.self) { try resolved(request) }
            #expect(error?.kind == .url && error?.reason.contains("end the host before the variable") == true)
        }
    }

    @Test(arguments: ["ada", "", "@evil.com/", "a:b@evil.com", "evil.com#", "\\evil.com", "ü"])
    func templateCredentialsCannotChangeHost(_ value: String) throws {
        for template in ["https://{p}:{p}@a.com/x", "https://{p}@a.com:81/x", "https://u:{p}@a.com/x"] {
            let request = HTTPRequest(URI: try URITemplate(template), variables: ["p": .init(value)])
            let url = try #require(URL(string: resolved(request)))

            #expect(url.host(percentEncoded: true) == "a.com" && url.path(percentEncoded: true) == "/x")
        }
    }

    @Test(arguments: [
        ("https://api.example.com/{+p}", "https://api.example.com/@b/c"),
        ("https://api.example.com{/q}{?p}", "https://api.example.com?p=%40b%2Fc"),
        ("https://{h}/x", "https://eu/x"), ("https://{h}.example.com:81/{+p}", "https://eu.example.com:81/@b/c"),
        ("https://{h}", "https://eu"),
    ])
    func variablesExpandOnlyWithinTheirComponent(_ template: String, _ url: String) throws {
        let request = HTTPRequest(URI: try URITemplate(template), variables: ["p": "@b/c", "h": "eu"])

        #expect(try resolved(request) == url)
    }

    @Test(arguments: ["https://evil.com", "//evil.com", "@evil.com", ":80@evil.com", "\\\\evil.com"])
    func variableCannotChangeTheHost(_ value: String) throws {
        let request = HTTPRequest(URI: "{+path}/x", variables: ["path": value])

        #expect(try resolved(request).hasPrefix("https://api.example.com/v1/"))
    }

    @Test func invalidTemplateFailsWhenBuildingRequest() {
        #expect(throws: InvalidValue.self) {
            try resolved(HTTPRequest(URI: "/posts/{postId", variables: ["postId": 1]))
        }
        #expect(throws: InvalidValue.self) {
            try resolved(HTTPRequest(URI: "{+path}", variables: ["path": "../admin"]))
        }
    }

    @Test func urlComponentsCanBeSet() throws {
        let request = HTTPRequest {
            $0.host = "example.com"
            $0.path = "login"
            $0.port = 8443
            $0.query = ["full": "1"]
        }

        #expect(try resolved(request) == "https://example.com:8443/login?full=1")
        #expect(
            request.scheme == "https" && request.host == "example.com" && request.port == 8443
                && request.path == "/login"
        )
    }

    @Test func pathOfAbsoluteURLIsReplaced() throws {
        let request = HTTPRequest {
            $0.url = URL(string: "https://example.com/a?b=c")!
            $0.path = "x y/%2F?"
        }

        #expect(try resolved(request) == "https://example.com/x%20y/%2F")
        #expect(throws: InvalidValue.self) {
            try resolved(
                HTTPRequest {
                    $0.url = URL(string: "https://example.com")!
                    $0.path = "../x"
                }
            )
        }
    }

    /// The same for every kind of address: a query that is written with the path replaces the present one.
    @Test(arguments: [
        ("b", "b?x=1"), ("b?y=2", "b?y=2"), ("b?", "b"), ("b/c?y=a b#f", "b/c?y=a%20b"), ("b#f", "b?x=1"), ("", "?x=1"),
    ])
    func settingPathPreservesQueryUnlessItHasOne(_ path: String, _ expected: String) throws {
        let server = "https://api.example.com/v1/"
        for address in ["a?x=1", "https://api.example.com/v1/a?x=1"] {
            let isAbsolute = address.hasPrefix("https")
            var requests = [HTTPRequest("\(raw: address)"), HTTPRequest(url: URL(string: address)!)]
            for index in requests.indices {
                requests[index].query = ["z": "9"]
                requests[index].path = isAbsolute ? "/v1/\(raw: path)" : "\(raw: path)"
                let joined = path.isEmpty && !isAbsolute ? "https://api.example.com/v1" + expected : server + expected
                let added = joined + (joined.contains("?") ? "&" : "?") + "z=9"
                #expect(try resolved(requests[index], base: server.dropLast().description) == added, "\(address)")
            }
        }
    }

    @Test func settingPathToItselfChangesNothing() throws {
        for address in ["a/b?x=1", "https://api.example.com/v1/a%2Fb?x=1"] {
            var request = HTTPRequest("\(raw: address)")
            let former = try resolved(request)
            let path = request.path
            request.path = path
            #expect(try resolved(request) == former)
        }
    }

    @Test func settingPathDoesNotRepairInvalidURL() {
        let refusals: [(inout HTTPRequest) -> Void] = [
            { $0.scheme = "ht tp" }, { $0.port = -1 }, { $0.path = "users/\("..")" },
            // It would send the request to another host than that of its address.
            { $0.path = "\(raw: "http://evil.example/")" },
        ]
        for refuse in refusals {
            var request = HTTPRequest("https://example.com/a")
            refuse(&request)
            request.path = "b"
            #expect(throws: InvalidValue.self) { try resolved(request) }
        }
    }

    @Test(arguments: ["//evil.example/x", "///evil.example/x", "//"])
    func leadingSlashesDoNotIntroduceHost(_ path: String) {
        var requests = [HTTPRequest("\(raw: path)"), HTTPRequest { $0.path = "\(raw: path)" }]
        for index in requests.indices {
            #expect(requests[index].host == nil)
            requests[index].scheme = "https"
            #expect(throws: InvalidValue.self) { try requests[index].toURLRequest() }
        }
    }

    @Test func initializerRethrowsClosureError() {
        struct Refusal: Error {}

        #expect(throws: Refusal.self) { try HTTPRequest { _ in throw Refusal() } }
    }

    @Test(arguments: ["https://", "http://a b/", "https://exa mple.com", "http://[::1"])
    func invalidURLFailsWhenBuildingRequest(_ text: String) {
        #expect(throws: InvalidValue.self) {
            var request = HTTPRequest("\(raw: text)")
            try request.resolve(base: nil)
            try request.validate()
        }
    }

    @Test(arguments: ["", "1", "ht tp", "http\r\nX: y", "http:", "\0", "é"])
    func invalidSchemeFailsWithoutTrap(_ scheme: String) {
        var request = HTTPRequest("https://example.com/a")

        request.scheme = scheme

        #expect(throws: InvalidValue.self) { try request.toURLRequest() }
    }

    @Test(arguments: [-1, Int.min, 65_536, Int.max])
    func invalidPortFailsWithoutTrap(_ port: Int) {
        var request = HTTPRequest("https://example.com/a")

        request.port = port

        #expect(throws: InvalidValue.self) { try request.toURLRequest() }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, -1, .greatestFiniteMagnitude])
    func extremeTimeoutsDoNotTrap(_ seconds: Double) throws {
        let timeout = try #require(HTTPRequest("/a").timeout(seconds).timeout)

        #expect(timeout >= .zero && timeout <= .seconds(1_000_000_000))
    }
}
