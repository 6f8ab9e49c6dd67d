// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The requests that a client sends after a redirect, and the redirects that it doesn't follow.
@Suite(.bounded) struct RedirectMachineTests {
    private static let start = URL(string: "https://example.com/recipes/1")!
    private static let data = HTTPBody.data(Data("body".utf8))

    private static func request(
        _ method: HTTPMethod = .get,
        _ headers: HTTPHeaders = [],
        _ body: HTTPBody = .none
    ) -> HTTPRequest {
        HTTPRequest(url: start, method: method, headers: headers, body: body)
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

    @Test(arguments: rows) func statusDeterminesMethodAndBody(_ row: Row) async throws {
        let headers: HTTPHeaders = [.contentType: "text/plain", "Content-Language": "en", .accept: "*/*"]
        let body = row.method == .head ? HTTPBody.none : Self.data

        let run = await RedirectRun(Self.request(row.method, headers, body), .follow(), row.status, to: "/new")

        let next = try #require(run.next)
        #expect(next.method == row.next)
        #expect(next.url.absoluteString == "https://example.com/new")
        #expect(try next.body.data() == (row.keepsBody ? body.data() : nil))
        #expect(next.headers[.contentType] == (row.keepsBody ? "text/plain" : nil))
        #expect(next.headers.contains("Content-Language") == row.keepsBody)
        #expect(next.headers[.accept] == "*/*")
        #expect(run.sent.count == 2 && run.response?.status == .ok)
    }

    @Test(arguments: [
        (301, HTTPMethod.post, true), (302, .post, true), (303, .put, true), (307, .post, false), (308, .put, false),
    ])
    func streamIsNeverSentTwice(status: HTTPStatus, method: HTTPMethod, isFollowed: Bool) async {
        let stream = HTTPBody.stream(HTTPBody.Stream(InputStream(data: Data("body".utf8))))

        let run = await RedirectRun(Self.request(method, [], stream), .follow(), status, to: "/new")

        #expect(run.sent.count == (isFollowed ? 2 : 1))
        #expect(run.error?.code == (isFollowed ? nil : .bodyNotReplayable))
    }

    // MARK: Locations

    /// The examples of RFC 3986, 5.4, that apply to `Location`.
    static let locations = [
        ("?q=1", "http://a/b/c/d;p?q=1"), ("../x", "http://a/b/x"), ("//host/x", "http://host/x"),
        ("x", "http://a/b/c/x"), ("/x", "http://a/x"), ("./x", "http://a/b/c/x"), ("../../../x", "http://a/x"),
        ("http://g/", "http://g/"), ("https://g", "https://g"), ("HTTP://g/", "HTTP://g/"), (";x", "http://a/b/c/;x"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("#s", "http://a/b/c/d;p?q#s"),
        // Invalid URLs that browsers follow.
        ("/a b", "http://a/a%20b"), ("/a%20b c?d e", "http://a/a%20b%20c?d%20e"),
    ]

    @Test(arguments: locations)
    func locationIsResolvedAgainstRequestURL(location: String, target: String) async throws {
        let request = HTTPRequest(url: try #require(URL(string: "http://a/b/c/d;p?q")))

        #expect(await RedirectRun(request, to: location).next?.url.absoluteString == target)
    }

    @Test(arguments: [("/x", "http://a/x#old"), ("/x#new", "http://a/x#new"), ("http://b/", "http://b/#old")])
    func fragmentIsInherited(location: String, target: String) async throws {
        let request = HTTPRequest(url: try #require(URL(string: "http://a/b#old")))

        #expect(await RedirectRun(request, to: location).next?.url.absoluteString == target)
    }

    static let badLocations = [
        "", "javascript:alert(1)", "file:///etc/passwd", "ftp://host/", "http://", "http:///x", "data:,x", "mailto:a@b",
        "http://a b/", "//a b/", "/a\r\nX: y", "/a\tb", "http://[::1/", "about:blank",
    ]

    @Test(arguments: badLocations) func invalidLocationFails(_ location: String) async {
        let run = await RedirectRun(Self.request(), to: location)

        #expect(run.error?.code == .badRedirect && run.sent.count == 1)
    }

    @Test(arguments: ["ftp://user:secret@host/?token=secret", "secret:secret@host", "ftp://host/#secret"])
    func errorReasonRedactsLocation(_ location: String) async throws {
        let run = await RedirectRun(Self.request(), to: location)

        let reason = try #require(run.error?.reason)
        #expect(!reason.contains("secret@") && !reason.contains("=secret") && !reason.contains("#secret"))
    }

    // MARK: Other origins

    static let secrets: HTTPHeaders = [
        .authorization: "Bearer t", .proxyAuthorization: "Basic p", .cookie: "a=b", "X-API-Key": "k",
        "X-Vault-Token": "v", .accept: "*/*",
    ]

    @Test(arguments: [
        ("https://example.com/other", true), ("https://example.com:443/", true), ("https://EXAMPLE.com/", true),
        ("http://example.com/", false), ("https://example.com:8443/", false), ("https://www.example.com/", false),
        ("//other.com/", false),
    ]) func secretsAreSentOnlyToTheirOrigin(location: String, areKept: Bool) async {
        let run = await RedirectRun(Self.request(.get, Self.secrets), to: location)

        #expect(run.next?.headers == (areKept ? Self.secrets : [.accept: "*/*"]))
    }

    @Test func secretsAreNotRestoredOnReturn() async {
        let request = Self.request(.get, Self.secrets)

        let run = await RedirectRun(
            request,
            .follow(),
            .temporaryRedirect,
            to: "https://evil.com/",
            Self.start.absoluteString
        )

        #expect(run.sent.map(\.url.host) == ["example.com", "evil.com", "example.com"])
        #expect(run.sent.last?.url == Self.start && run.sent.last?.headers == [.accept: "*/*"])
    }

    @Test func hostFieldIsDropped() async {
        let run = await RedirectRun(Self.request(.get, [.host: "inner"]), to: "https://other.com/")

        #expect(run.next?.headers.contains(.host) == false)
    }

    private static func leading(to address: String, sendingBody: Bool = false) throws -> RedirectPolicy {
        let target = try #require(URL(string: address))
        return .follow(sendingBodyToOtherOrigins: sendingBody).modifying { next, _ in
            var next = next
            next.url = target
            next.headers["X-API-Token"] = "its own"
            return next
        }
    }

    @Test(arguments: [
        ("https://example.com/b", true), ("https://third.com/", false), ("http://example.com/", false),
    ])
    func closureTargetFollowsRedirectRules(address: String, areKept: Bool) async throws {
        let policy = try Self.leading(to: address)

        let run = await RedirectRun(Self.request(.get, Self.secrets), policy, .temporaryRedirect, to: "/new")

        let next = try #require(run.next)
        #expect(next.headers.contains(.authorization) == areKept && next.headers.contains(.cookie) == areKept)
        #expect(next.headers["X-API-Token"] == "its own" && next.headers[.accept] == "*/*")
        #expect(next.hasLeftOrigin == !areKept)
    }

    @Test(arguments: [
        ("https://example.com/b", false, true), ("https://third.com/", false, false),
        ("https://third.com/", true, true),
    ])
    func closureSendsBodyCrossOriginOnlyIfAllowed(
        address: String,
        isAllowed: Bool,
        isFollowed: Bool
    ) async throws {
        let policy = try Self.leading(to: address, sendingBody: isAllowed)

        let run = await RedirectRun(Self.request(.post, [], Self.data), policy, .temporaryRedirect, to: "/new")

        #expect(try run.next?.body.data() == (isFollowed ? Self.data.data() : nil))
        #expect(run.error?.code == (isFollowed ? nil : .redirectRefused))
    }

    /// The other server rejected a different credential, so this one isn't refreshed.
    @Test(
        arguments: [
            ("/other", nil, 1), ("//other.com/", nil, 0),
            ("/new", "https://example.com/b", 1), ("/new", "https://third.com/", 0),
        ] as [(String, String?, Int)]
    )
    func unauthorizedFromOtherOriginDoesNotRefresh(
        location: String,
        closureTarget: String?,
        refreshes: Int
    ) async throws {
        let policy = try closureTarget.map { try Self.leading(to: $0) } ?? .follow()
        let authenticator = CountingAuthenticator()

        let run = await RedirectRun(
            Self.request(),
            policy,
            answers: [.redirect(to: location, status: .temporaryRedirect), .status(.unauthorized)]
        ) {
            $0.baseURL = Self.start
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }

        #expect(run.sent.first?.headers[.authorization] == "Bearer old")
        #expect(authenticator.refreshes.withLock { $0 } == refreshes)
        #expect(run.error?.response?.status == (refreshes == 0 ? .unauthorized : nil))
    }

    // MARK: Limits and other responses

    @Test func exceedingRedirectLimitFails() async {
        let run = await RedirectRun(Self.request(), .follow(limit: 2), to: "/again", "/again", "/again")

        #expect(run.sent.count == 3 && run.error?.code == .tooManyRedirects)
    }

    @Test(
        arguments: [
            (RedirectPolicy.refuse, 302, "/x"), (.follow(), 200, "/x"), (.follow(), 300, "/x"), (.follow(), 304, "/x"),
            (.follow(), 305, "/x"), (.follow(), 404, "/x"), (.follow(), 302, nil),
        ] as [(RedirectPolicy, HTTPStatus, String?)]
    ) func nonRedirectResponsesAreDelivered(policy: RedirectPolicy, status: HTTPStatus, location: String?) async {
        let headers: HTTPHeaders = location.map { [.location: $0] } ?? []

        let run = await RedirectRun(Self.request(), policy, answers: [.status(status, headers: headers)])

        #expect(run.sent.count == 1)
        #expect((run.response?.status ?? run.error?.response?.status) == status)
        #expect(run.error == nil || run.error?.code == .unacceptableStatus)
    }
}

/// An authenticator of bearer tokens that counts the refreshes.
private struct CountingAuthenticator: Authenticator {
    let refreshes = Locked(0)

    func apply(_ token: String, to request: inout HTTPRequest) {
        request.headers.set(.authorization(.bearer(token)))
    }
    func needsRefresh(_ token: String) -> Bool { false }
    func refresh(_ token: String?) async throws -> String {
        refreshes.withLock { $0 += 1 }
        return "new"
    }
}
