// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct RequestPathTests {
    private func url(_ request: HTTPRequest, base: String? = "https://api.example.com/v1?key=k") throws -> String {
        var request = request
        try request.resolve(base: base.flatMap { URL(string: $0) }.map(BaseURL.init))
        try request.validate()
        return request.url.absoluteString
    }

    private func url(_ path: HTTPRequest.Path, base: String? = "https://api.example.com/v1") throws -> String {
        try url(HTTPRequest(path), base: base)
    }

    @Test(arguments: [
        ("a/b", "a%2Fb"), ("?x=1", "%3Fx%3D1"), ("#f", "%23f"), ("%2F", "%252F"), ("@evil.com", "%40evil.com"),
        ("https://evil.com", "https%3A%2F%2Fevil.com"), ("//evil.com", "%2F%2Fevil.com"), ("u:p@h", "u%3Ap%40h"),
        ("a b", "a%20b"), ("é😀", "%C3%A9%F0%9F%98%80"), ("\r\nX: y\0", "%0D%0AX%3A%20y%00"), ("&a=b+c", "%26a%3Db%2Bc"),
        ("...", "..."), ("%2e%2e", "%252e%252e"),
    ])
    func valueFormsSinglePathSegment(_ value: String, _ piece: String) throws {
        let server = "https://api.example.com/v1"

        #expect(try url("users/\(value)/posts") == "\(server)/users/\(piece)/posts")
        #expect(try url("files/\(value).json") == "\(server)/files/\(piece).json")
        #expect(try url("users?sort=name&after=\(value)&x=1") == "\(server)/users?sort=name&after=\(piece)&x=1")
        #expect(try url("https://other.example/users/\(value)") == "https://other.example/users/\(piece)")
        #expect(try url(HTTPRequest("users", value, "posts")) == "\(server)/users/\(piece)/posts?key=k")
    }

    @Test(arguments: [".", "..", "../x", "..\\..", "a/../../b"])
    func pathTraversalValueIsRejected(_ value: String) throws {
        let paths: [HTTPRequest.Path] = [
            "users/\(value)/posts", "\(value)", "https://a.example/x/\(value)", "u/\(value)?q=1",
        ]
        for path in paths {
            let error = #expect(throws: InvalidValue.self) { try url(path) }
            #expect(error?.kind == .url)
        }
        #expect(throws: InvalidValue.self) { try url(HTTPRequest("users", value)) }
        #expect(throws: InvalidValue.self) { try url(HTTPRequest { $0.path = "users/\(value)" }) }
    }

    @Test func emptySegmentValueIsRejected() throws {
        let (id, seven) = ("", "7")
        let paths: [HTTPRequest.Path] = [
            "users/\(id)", "users/\(id)/posts", "\(id)", "\(id)/posts", "/\(id)", "users/\(id)?q=1", "users/\(id)#f",
            "users/\(id)\(id)", "https://a.example/\(id)", "users/\(id as String?, default: "")",
        ]
        for path in paths {
            let error = #expect(throws: InvalidValue.self) { try url(path) }
            #expect(error?.reason.contains("raw:") == true, "\(path)")
        }
        #expect(throws: InvalidValue.self) { try url(HTTPRequest("users", id)) }
        #expect(throws: InvalidValue.self) { try url(HTTPRequest(["users", id])) }
        #expect(throws: InvalidValue.self) { try url(HTTPRequest { $0.path = "users/\(id)" }) }

        let server = "https://api.example.com/v1"
        #expect(try url("users/") == "\(server)/users/")
        #expect(try url("users/\(raw: id)") == "\(server)/users/")
        #expect(try url("users/\(id)\(seven)/\(seven)\(id)/x\(id)") == "\(server)/users/7/7/x")
        #expect(try url("users?q=\(id)&x=\(id)") == "\(server)/users?q=&x=")
    }

    @Test func combinedValuesCannotFormPathTraversal() throws {
        let (dot, none) = (".", "")

        #expect(throws: InvalidValue.self) { try url("a/\(dot)\(dot)/b") }
        #expect(throws: InvalidValue.self) { try url("a/.\(dot)") }
        #expect(throws: InvalidValue.self) { try url("a/%2e\(dot)") }
        #expect(try url("a/\(none)\(none)b") == "https://api.example.com/v1/a/b")
        #expect(try url("q?d=\(dot)\(dot)") == "https://api.example.com/v1/q?d=..")
    }

    @Test func literalPercentIsEscapedBeforeValue() throws {
        #expect(try url("a/%\("2F")") == "https://api.example.com/v1/a/%252F")
        #expect(try url("a/%2\("F")") == "https://api.example.com/v1/a/%252F")
        #expect(try url("a/%2F\("b")") == "https://api.example.com/v1/a/%2Fb")
    }

    @Test func valuesOfManyTypesAreInterpolated() throws {
        enum Order: String { case newest }
        enum Size: Int, Query.ValueConvertible { case large = 3 }
        let id = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF")!
        let (one, none): (Int?, Int?) = (1, nil)

        #expect(try url("\(7)/\(-1)/\(true)") == "https://api.example.com/v1/7/-1/true")
        #expect(try url("\(Order.newest)/\(Size.large)/\("ab".prefix(1))") == "https://api.example.com/v1/newest/3/a")
        #expect(try url("\(id)") == "https://api.example.com/v1/\(id.uuidString)")
        #expect(try url("\(one, default: "x")/\(none, default: "a/b")") == "https://api.example.com/v1/1/a%2Fb")
    }

    @Test func rawStringIsParsedAsPath() throws {
        let (path, address) = ("users/7/posts?page=2", "https://other.example/a?b=c")

        #expect(try url("\(raw: path)") == "https://api.example.com/v1/users/7/posts?page=2")
        #expect(try url("v2/\(raw: "a/b")/c") == "https://api.example.com/v1/v2/a/b/c")
        #expect(try url("\(raw: address)") == "https://other.example/a?b=c")
        #expect(throws: InvalidValue.self) { try url("\(raw: "../admin")") }
    }

    @Test(arguments: ["http://localhost:8080", "http://localhost:8080/"])
    func leadingURLIsTheBase(_ base: String) throws {
        let base = URL(string: base)!

        #expect(try url("\(base)/users/\("a/b")", base: nil) == "http://localhost:8080/users/a%2Fb")
        #expect(try url(HTTPRequest(base, "users", 7), base: nil) == "http://localhost:8080/users/7")
        #expect(try url("proxy/\(base)").hasPrefix("https://api.example.com/v1/proxy/http%3A%2F%2Flocalhost"))
    }

    // The developer's text decides the host, except for one label of it.
    @Test func valueCannotChangeHost() throws {
        for value in ["@evil.com", ".evil.com", "evil.com", "evil.com/", "x@evil", ":80@evil.com", "é"] {
            let paths: [HTTPRequest.Path] = [
                "https://api.example.com\(value)/x", "https://\(value)/x", "https://\(value).example.com",
                "https://api.example.com:\(value)", "https://a\(value)\(value)/x",
            ]
            for path in paths {
                #expect(throws: InvalidValue.self, "\(value) in \(path)") { try url(path) }
            }
        }
        #expect(try url("https://\("eu-1").example.com:\(8443)/x") == "https://eu-1.example.com:8443/x")
        #expect(try url("http://\(raw: "127.0.0.1:80")/x") == "http://127.0.0.1:80/x")
        for path: HTTPRequest.Path in [
            "https://a.example\("x")", "https://a.example\("")/x", "\("evil.com")://a.example",
        ] {
            #expect(throws: InvalidValue.self) { try url(path) }
        }
    }

    @Test func segmentsAreEscapedIndividually() throws {
        enum Route: HTTPRequest.Path.Convertible {
            case posts(of: String)
            var requestPath: HTTPRequest.Path {
                switch self {
                case .posts(let name): "users/\(name)/posts"
                }
            }
        }

        #expect(try url(HTTPRequest("users/all", "a/b", 7)) == "https://api.example.com/v1/users/all/a%2Fb/7?key=k")
        #expect(try url(HTTPRequest(["a/b", "c"])) == "https://api.example.com/v1/a%2Fb/c?key=k")
        #expect(try url(HTTPRequest([1, 2], 3)) == "https://api.example.com/v1/1/2/3?key=k")
        #expect(try url(HTTPRequest(Route.posts(of: "a/b"))) == "https://api.example.com/v1/users/a%2Fb/posts?key=k")
        #expect(try url(HTTPRequest(URL(string: "https://other.example/a?b=c")!)) == "https://other.example/a?b=c")
    }

    @Test func requestTypesAcceptPaths() throws {
        let (id, next) = ("a/b", URL(string: "https://other.example/page/2")!)

        #expect(try url(Get<Data>("users/\(id)").http) == "https://api.example.com/v1/users/a%2Fb?key=k")
        #expect(try url(Post<Data>("users/\(id)", decoding: .data).http).hasSuffix("/users/a%2Fb?key=k"))
        #expect(try url(Get<[Int]>(next).http) == "https://other.example/page/2")
        #expect(try url(Download("films/\(id)").http) == "https://api.example.com/v1/films/a%2Fb?key=k")
        #expect(try url(Download(next).http) == "https://other.example/page/2")
        let api = AnonymousRequestProvider(baseURL: URL(string: "https://api.example.com/v1")!)
        #expect(try url(api.get(.text, from: "users/\(id)").http) == "https://api.example.com/v1/users/a%2Fb")
        #expect(try url(api.delete("users/\(id)").http) == "https://api.example.com/v1/users/a%2Fb")
        #expect(throws: InvalidValue.self) { try url(api.delete("users/\("..")").http) }
    }

    /// Likely mistakes, and the words of the error that say what to write instead.
    @Test func mistakesProduceHelpfulErrors() {
        let (host, base) = ("api.example.com", "http://localhost")
        let mistakes: [(HTTPRequest.Path, String)] = [
            ("https://\(host)/users", "\\(raw:)"), ("https://api.example.com\(0)/users", "base URL"),
            ("users/\("..")", "would change the path"), ("\(base)/users", "interpolate a URL"),
            (HTTPRequest.Path("users?page=2").appending([7]), "query"), ("../admin", "“..” segment"),
            ("\(raw: "a/../b")", "“..” segment"),
        ]

        for (path, words) in mistakes {
            let base = words.contains("interpolate") ? nil : "https://api.example.com"
            let error = #expect(throws: InvalidValue.self, "\(words)") { try url(path, base: base) }
            #expect(error?.description.contains(words) == true, "\(error?.description ?? "no error")")
        }
    }

    @Test func descriptionHidesQuerySecrets() {
        let path: HTTPRequest.Path = "users?token=\("s3cret")"
        var dumped = "\(path)" + String(reflecting: path)
        dump(path, to: &dumped)

        #expect(!dumped.contains("s3cret"))
    }
}
