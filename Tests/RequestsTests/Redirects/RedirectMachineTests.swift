// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct RedirectMachineTests {
    private static let data = HTTPBody.data(Data("body".utf8))

    private static func stream() -> HTTPBody {
        .stream(BodyStream(InputStream(data: Data("body".utf8))))
    }

    struct Row: Sendable {
        let status: HTTPStatus
        let method: HTTPMethod
        let next: HTTPMethod
        let keepsBody: Bool
    }

    /// RFC 9110, 15.4.
    static let rows: [Row] = [
        Row(status: 301, method: .get, next: .get, keepsBody: true),
        Row(status: 302, method: .get, next: .get, keepsBody: true),
        Row(status: 303, method: .get, next: .get, keepsBody: false),
        Row(status: 307, method: .get, next: .get, keepsBody: true),
        Row(status: 308, method: .get, next: .get, keepsBody: true),
        Row(status: 301, method: .head, next: .head, keepsBody: true),
        Row(status: 302, method: .head, next: .head, keepsBody: true),
        Row(status: 303, method: .head, next: .head, keepsBody: false),
        Row(status: 307, method: .head, next: .head, keepsBody: true),
        Row(status: 308, method: .head, next: .head, keepsBody: true),
        Row(status: 301, method: .post, next: .get, keepsBody: false),
        Row(status: 302, method: .post, next: .get, keepsBody: false),
        Row(status: 303, method: .post, next: .get, keepsBody: false),
        Row(status: 307, method: .post, next: .post, keepsBody: true),
        Row(status: 308, method: .post, next: .post, keepsBody: true),
        Row(status: 301, method: .put, next: .put, keepsBody: true),
        Row(status: 302, method: .put, next: .put, keepsBody: true),
        Row(status: 303, method: .put, next: .get, keepsBody: false),
        Row(status: 307, method: .put, next: .put, keepsBody: true),
        Row(status: 308, method: .put, next: .put, keepsBody: true),
    ]

    private func follow(_ request: HTTPRequest, _ status: HTTPStatus, to location: String) -> HTTPRequest? {
        var machine = RedirectMachine(policy: .follow())
        let head = HTTPResponseHead(status: status, headers: [.location: location])
        guard case .follow(let next) = machine.handle(head, to: request) else { return nil }
        return next
    }

    @Test(arguments: rows) func statusDecidesMethodAndBody(_ row: Row) throws {
        let headers: HTTPHeaders = [.contentType: "text/plain", "Content-Language": "en", .accept: "*/*"]
        let hasBody = row.method != .head
        let request = HTTPRequest(
            url: home,
            method: row.method,
            headers: headers,
            body: hasBody ? Self.data : .none
        )

        let next = try #require(follow(request, row.status, to: "/new"))

        #expect(next.method == row.next)
        #expect(next.url.absoluteString == "https://example.com/new")
        #expect(next.body.isEmpty == !(hasBody && row.keepsBody))
        #expect(next.headers[.contentType] == (row.keepsBody ? "text/plain" : nil))
        #expect(next.headers.contains("Content-Language") == row.keepsBody)
        #expect(next.headers[.accept] == "*/*")
    }

    @Test(arguments: [
        (301, HTTPMethod.post, true), (302, .post, true), (303, .put, true), (307, .post, false), (308, .put, false),
    ])
    func aStreamIsNeverSentTwice(status: Int, method: HTTPMethod, isFollowed: Bool) {
        var machine = RedirectMachine(policy: .follow())
        let request = HTTPRequest(url: home, method: method, body: Self.stream())
        let head = HTTPResponseHead(status: HTTPStatus(status), headers: [.location: "/new"])

        switch machine.handle(head, to: request) {
        case .follow: #expect(isFollowed)
        case .fail(let code, _): #expect(!isFollowed && code == .bodyNotReplayable)
        case .deliver: Issue.record("the redirect was delivered")
        }
    }

    /// RFC 3986, 5.4, as far as a `Location` is concerned.
    static let locations = [
        ("?q=1", "http://a/b/c/d;p?q=1"), ("../x", "http://a/b/x"), ("//host/x", "http://host/x"),
        ("x", "http://a/b/c/x"), ("/x", "http://a/x"), ("./x", "http://a/b/c/x"), ("../../../x", "http://a/x"),
        ("http://g/", "http://g/"), ("https://g", "https://g"), ("HTTP://g/", "HTTP://g/"), (";x", "http://a/b/c/;x"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("#s", "http://a/b/c/d;p?q#s"),
        // Invalid addresses that every browser follows.
        ("/a b", "http://a/a%20b"), ("/a%20b c?d e", "http://a/a%20b%20c?d%20e"),
    ]

    @Test(arguments: locations) func aLocationIsRelativeToTheRequest(location: String, target: String) {
        let request = HTTPRequest(url: URL(string: "http://a/b/c/d;p?q")!)

        #expect(follow(request, .found, to: location)?.url.absoluteString == target)
    }

    @Test(arguments: [("/x", "http://a/x#old"), ("/x#new", "http://a/x#new"), ("http://b/", "http://b/#old")])
    func theFragmentIsInherited(location: String, target: String) {
        let request = HTTPRequest(url: URL(string: "http://a/b#old")!)

        #expect(follow(request, .found, to: location)?.url.absoluteString == target)
    }

    static let badLocations = [
        "", "javascript:alert(1)", "file:///etc/passwd", "ftp://host/", "http://", "http:///x", "data:,x", "mailto:a@b",
        "http://a b/", "//a b/", "/a\r\nX: y", "/a\tb", "http://[::1/", "about:blank",
    ]

    @Test(arguments: badLocations) func invalidLocationFails(_ location: String) {
        var machine = RedirectMachine(policy: .follow())
        let head = HTTPResponseHead(status: .found, headers: [.location: location])

        guard case .fail(let code, _) = machine.handle(head, to: HTTPRequest(url: home)) else {
            Issue.record("followed or delivered")
            return
        }
        #expect(code == .badRedirect)
    }

    @Test(arguments: ["ftp://user:secret@host/?token=secret", "secret:secret@host", "ftp://host/#secret"])
    func theReasonShowsNoSecretOfTheLocation(_ location: String) {
        var machine = RedirectMachine(policy: .follow())
        let head = HTTPResponseHead(status: .found, headers: [.location: location])

        if case .fail(_, let reason) = machine.handle(head, to: HTTPRequest(url: home)) {
            #expect(!reason.contains("secret@") && !reason.contains("=secret") && !reason.contains("#secret"))
        } else {
            Issue.record("followed or delivered")
        }
    }

    static let secrets: HTTPHeaders = [
        .authorization: "Bearer t", .proxyAuthorization: "Basic p", .cookie: "a=b", "X-API-Key": "k",
        "X-Vault-Token": "v", .accept: "*/*",
    ]

    @Test(arguments: [
        ("https://example.com/other", true), ("https://example.com:443/", true), ("https://EXAMPLE.com/", true),
        ("http://example.com/", false), ("https://example.com:8443/", false), ("https://www.example.com/", false),
        ("//other.com/", false),
    ]) func secretsStayWithTheirOrigin(location: String, areKept: Bool) {
        let next = follow(HTTPRequest(url: home, headers: Self.secrets), .found, to: location)

        #expect(next?.headers == (areKept ? Self.secrets : [.accept: "*/*"]))
    }

    @Test(arguments: [
        ("https://example.com/b", true), ("https://third.com/", false), ("http://example.com/", false),
    ])
    func targetOfAClosureIsTreatedLikeThatOfARedirect(address: String, areKept: Bool) throws {
        let target = try #require(URL(string: address))
        let policy = RedirectPolicy.follow().modifying { next, _ in
            var next = next
            next.url = target
            next.headers["X-API-Token"] = "its own"
            return next
        }
        var machine = RedirectMachine(policy: policy)
        let head = HTTPResponseHead(status: .temporaryRedirect, headers: [.location: "/new"])
        var request = HTTPRequest(url: home, headers: Self.secrets)
        request.credentialGenerations[ObjectIdentifier(Census())] = 7

        guard case .follow(let next) = machine.handle(head, to: request) else {
            Issue.record("not followed")
            return
        }

        #expect(next.headers.contains(.authorization) == areKept && next.headers.contains(.cookie) == areKept)
        #expect(next.headers["X-API-Token"] == "its own" && next.headers[.accept] == "*/*")
        #expect(next.credentialGenerations.isEmpty == !areKept && next.hasLeftOrigin == !areKept)
    }

    @Test(arguments: [
        ("https://example.com/b", false, true), ("https://third.com/", false, false),
        ("https://third.com/", true, true),
    ])
    func aClosureTakesABodyElsewhereOnlyWhereThePolicySaysSo(address: String, isAllowed: Bool, isFollowed: Bool) throws
    {
        let target = try #require(URL(string: address))
        let policy = RedirectPolicy.follow(sendingBodyToOtherOrigins: isAllowed).modifying { next, _ in
            var next = next
            next.url = target
            return next
        }
        var machine = RedirectMachine(policy: policy)
        let head = HTTPResponseHead(status: .temporaryRedirect, headers: [.location: "/new"])

        switch machine.handle(head, to: HTTPRequest(url: home, method: .post, body: Self.data)) {
        case .follow(let next): #expect(isFollowed && !next.body.isEmpty)
        case .fail(let code, _): #expect(!isFollowed && code == .redirectRefused)
        case .deliver: Issue.record("the redirect was delivered")
        }
    }

    @Test(arguments: [("/other", true), ("//other.com/", false)])
    func credentialGenerationIsKeptWithTheCredentials(location: String, isKept: Bool) {
        var request = HTTPRequest(url: home, headers: Self.secrets)
        let interceptor = ObjectIdentifier(Census())
        request.credentialGenerations[interceptor] = 7

        let next = follow(request, .found, to: location)

        #expect(next?.credentialGenerations == (isKept ? [interceptor: 7] : [:]))
    }

    @Test func secretsDoNotComeBackOnTheWayBack() throws {
        var machine = RedirectMachine(policy: .follow())
        var request = HTTPRequest(url: home, headers: Self.secrets)

        for location in ["https://evil.com/", home.absoluteString] {
            let head = HTTPResponseHead(status: .temporaryRedirect, headers: [.location: location])
            guard case .follow(let next) = machine.handle(head, to: request) else {
                Issue.record("not followed")
                return
            }
            request = next
        }

        #expect(request.url == home)
        #expect(request.headers == [.accept: "*/*"])
    }

    @Test func theHostFieldIsNotTakenAlong() {
        let next = follow(HTTPRequest(url: home, headers: [.host: "inner"]), .found, to: "https://other.com/")

        #expect(next?.headers.contains(.host) == false)
    }

    @Test func oneMoreThanTheLimitFails() {
        var machine = RedirectMachine(policy: .follow(limit: 2))
        let head = HTTPResponseHead(status: .found, headers: [.location: "/again"])
        var outcomes: [String] = []

        for _ in 0..<3 {
            switch machine.handle(head, to: HTTPRequest(url: home)) {
            case .follow: outcomes.append("follow")
            case .fail(let code, _): outcomes.append(code.name)
            case .deliver: outcomes.append("deliver")
            }
        }

        #expect(outcomes == ["follow", "follow", "tooManyRedirects"])
    }

    @Test(
        arguments: [
            (RedirectPolicy.refuse, 302, "/x"), (.follow(), 200, "/x"), (.follow(), 300, "/x"), (.follow(), 304, "/x"),
            (.follow(), 305, "/x"), (.follow(), 404, "/x"), (.follow(), 302, nil),
        ] as [(RedirectPolicy, Int, String?)]
    ) func otherResponsesAreDelivered(
        policy: RedirectPolicy,
        status: Int,
        location: String?
    ) {
        var machine = RedirectMachine(policy: policy)
        let headers: HTTPHeaders = location.map { [.location: $0] } ?? []

        guard
            case .deliver = machine.handle(
                HTTPResponseHead(status: HTTPStatus(status), headers: headers),
                to: HTTPRequest(url: home)
            )
        else {
            Issue.record("not delivered")
            return
        }
    }
}
