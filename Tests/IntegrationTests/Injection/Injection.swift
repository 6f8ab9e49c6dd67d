// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import Testing

/// A place for a text in a request.
struct Injection: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A harmless text for the place.
    let harmless: String
    let makeRequest: @Sendable (String) throws -> HTTPRequest

    init(
        _ name: String,
        harmless: String = "harmless",
        _ makeRequest: @escaping @Sendable (String) throws -> HTTPRequest
    ) {
        testDescription = name
        self.harmless = harmless
        self.makeRequest = makeRequest
    }

    /// A place in a header field.
    static func field(
        _ name: String,
        harmless: String = "harmless",
        _ makeField: @escaping @Sendable (String) throws -> HTTPField
    ) -> Injection {
        Injection(name, harmless: harmless) { HTTPRequest("/a").settingHeader(try makeField($0)) }
    }

    /// A place in content.
    static func body(
        _ name: String,
        harmless: String = "harmless",
        _ makeBody: @escaping @Sendable (String) throws -> HTTPBody
    ) -> Injection {
        Injection(name, harmless: harmless) { HTTPRequest(method: .post, "/a", body: try makeBody($0)) }
    }

    static let all = addresses + queries + fields + credentials + contents + forms

    // MARK: The address

    static let addresses: [Injection] =
        [
            Injection("method") { HTTPRequest(method: HTTPMethod($0), "/a") },
            Injection("address, behind a slash") { HTTPRequest("/a/\(raw: $0)") },
            Injection("path, set") { text in HTTPRequest { $0.path = "\(raw: text)" } },
            Injection("path, set behind a slash") { text in HTTPRequest { $0.path = "/\(raw: text)" } },
            Injection("value of a path") { Get<Data>("\($0)").http },
            Injection("value behind text") { Get<Data>("/a-\($0)").http },
            Injection("value of a path, set") { text in HTTPRequest { $0.path = "/a/\(text)" } },
            Injection("value of a path's query") { HTTPRequest("/a?q=\($0)&r=1") },
            Injection("path component in the middle") { Get<Data>("a", $0, "b").http },
        ]
        + ["/{x}", "{/x}", "/a{.x}", "/a{;x}", "/a{?x}", "/a?b{&x}", "/{+x}", "/a{#x}", "{+x}", "{x}", "/{x:3}"].map {
            template in
            Injection("variable of \(template)") { HTTPRequest(URI: try URITemplate(template), variables: ["x": $0]) }
        } + [
            Injection("name in exploded pairs") {
                HTTPRequest(URI: "/a{?x*}", variables: ["x": .pairs([$0: "v"])])
            },
            Injection("variables of two expressions") { HTTPRequest(URI: "/{x}/{x}", variables: ["x": $0]) },
        ]

    private static func address() throws -> URL { try #require(URL(string: "https://example.com")) }

    // MARK: The query

    private struct Named: Encodable, Sendable {
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        let name: String
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("v", forKey: Key(stringValue: name))
        }
    }

    static let queries: [Injection] = [
        Injection("query name") { HTTPRequest("/a", query: [Query.Item($0, value: "v")]) },
        Injection("query value") { HTTPRequest("/a", query: ["q": $0]) },
        Injection("query name without a value") { HTTPRequest("/a", query: [Query.Item($0)]) },
        Injection("query behind an address") { HTTPRequest("/a?q=\(raw: $0)") },
        Injection("query, read") { HTTPRequest("/a", query: Query(percentEncoded: $0)) },
        Injection("query dictionary value") { HTTPRequest("/a", query: try QueryEncoder().encode(["k": $0])) },
        Injection("query dictionary key") { HTTPRequest("/a", query: try QueryEncoder().encode([$0: ["n": 1]])) },
        Injection("query Encodable value") { HTTPRequest("/a", query: try QueryEncoder().encode(["k": [$0]])) },
        Injection("query Encodable key") { HTTPRequest("/a", query: try QueryEncoder().encode(Named(name: $0))) },
        Injection("query with pluses") { HTTPRequest("/a", query: Query([.init($0, value: $0)], spaces: .plus)) },
    ]

    // MARK: The header

    static let fields: [Injection] = [
        .field("header name", harmless: "X-Harmless") { HTTPField(HTTPField.Name($0), "v") },
        .field("header value") { HTTPField("X-A", $0) },
        Injection("header value, set") { text in HTTPRequest { $0.headers["X-A"] = text } },
        Injection("header value, of a dictionary") { HTTPRequest("/a").headers(HTTPHeaders(["X-A": $0])) },
        Injection("header value, of two") { HTTPRequest("/a").headers(["X-A": "1", "X-A": $0]) },
        Injection("header value, in a builder") { text in HTTPRequest("/a").headers { Header("X-A", value: text) } },
        Injection("header value, of Foundation") { text in
            var request = URLRequest(url: try address().appendingPathComponent("a"))
            request.setValue(text, forHTTPHeaderField: "X-A")
            var taken = try HTTPRequest(request)
            taken.path = "/a"
            return HTTPRequest("/a").headers(taken.headers)
        },
        .field("user agent") { .userAgent($0) },
        .field("key") { .apiKey($0) },
        .field("idempotency key") { .idempotencyKey($0) },
        .field("language") { .acceptLanguage($0) },
        .field("second language") { .acceptLanguage("en", $0) },
        .field("coding") { .acceptEncoding($0) },
        .field("character set") { .acceptCharset($0) },
        .field("unit of ranges") { .acceptRanges($0) },
        .field("media type, parsed", harmless: "text/plain") { .accept(try MediaType(parsing: $0)) },
        .field("media type, literal", harmless: "text/plain") { .accept(MediaType(stringLiteral: $0)) },
        .field("type") { .accept(MediaType($0, "b")) },
        .field("subtype") { .accept([.json, MediaType("a", $0)]) },
        .field("parameter's name") { .accept(MediaType("a", "b", parameters: [(name: $0, value: "v")])) },
        .field("parameter's value") { .accept(MediaType("a", "b").parameter("n", $0)) },
        .field("entity tag") { .ifNoneMatch(HTTPField.EntityTag($0)) },
        .field("entity tag of a range") { .ifRange(HTTPField.EntityTag($0)) },
        .field("directive") { .cacheControl(CacheControl.Directive($0)) },
        .field("argument of a directive") { .cacheControl(CacheControl.Directive("a", $0)) },
        .field("disposition") { .contentDisposition(HTTPField.ContentDisposition($0)) },
        .field("file name of a disposition") { .contentDisposition(.attachment(fileName: $0)) },
        .field("parameter of a disposition") {
            .contentDisposition(HTTPField.ContentDisposition("inline", parameters: [HTTPField.Parameter($0, $0)]))
        },
        .field("cookie name") { .cookie(Cookie($0, "v")) },
        .field("cookie value") { .cookie(Cookie("a", "1"), Cookie("n", $0)) },
        .field("set cookie name") { HTTPField(.setCookie, SetCookie($0, "v")) },
        .field("set cookie value") { HTTPField(.setCookie, SetCookie("n", $0)) },
        .field("set cookie path") { text in
            var cookie = SetCookie("n", "v")
            cookie.path = text
            return HTTPField(.setCookie, cookie)
        },
        .field("set cookie domain") { text in
            var cookie = SetCookie("n", "v")
            cookie.domain = text
            return HTTPField(.setCookie, cookie)
        },
    ]

    // MARK: Credentials

    static let credentials: [Injection] =
        [
            .field("credentials") { .authorization(Authorization($0)) },
            .field("scheme of a token") { .authorization(Authorization(scheme: $0, token: "t")) },
            .field("token of a scheme") { .authorization(Authorization(scheme: "S", token: $0)) },
            .field("bearer") { .authorization(.bearer($0)) },
            .field("oauth") { .authorization(.oauth($0)) },
            .field("user") { .authorization(.basic(username: $0, password: "p")) },
            .field("password") { .authorization(.basic(username: "u", password: $0)) },
        ]
        + providers.map { name, makeProvider in
            Injection("provider's \(name)") { HTTPRequest("/a").authenticated(with: makeProvider($0)) }
        }

    private static let providers: [(String, @Sendable (String) -> AuthenticationProvider)] = [
        ("bearer", { .bearerToken($0) }),
        ("user", { .basicAuth(username: $0, password: "p") }),
        ("password", { .basicAuth(username: "u", password: $0) }),
        ("credentials", { .authorization(Authorization($0)) }),
        ("value", { .header("X-Key", $0) }),
        ("name", { .header(HTTPField.Name("X-" + $0), "v") }),
        ("closure", { text in AuthenticationProvider { $0.headers["X-Signature"] = text } }),
        ("query", { text in AuthenticationProvider { $0.query.append("key", value: text) } }),
    ]

    // MARK: Content

    static let contents: [Injection] = [
        .body("text") { .text($0) },
        .body("text in another encoding") { .text($0, encoding: .isoLatin1) },
        .body("type of a text", harmless: "text/plain") { .text("a", type: MediaType(stringLiteral: $0)) },
        .body("character set of a text") { .text("a", type: MediaType.plainText.charset($0)) },
        .body("data") { .data(Data($0.utf8)) },
        .body("type of data") { .data(Data([1]), type: MediaType("a", $0)) },
        .body("json") { .json([$0]) },
        .body("json value") { .json([$0: .value($0)]) },
        .body("json object") { try .jsonObject([$0: $0]) },
        .body("field of one's own body") { HTTPBody(.data(Data([1])), headers: ["X-B": $0]) },
        .body("mandatory field of one's own body") { HTTPBody(.data(Data([1])), mandatoryHeaders: ["X-B": $0]) },
    ]

    static let forms: [Injection] = [
        .body("form name") { .form([Query.Item($0, value: "v")]) },
        .body("form value") { .form(["n": $0]) },
        .body("form Encodable value") { .form(["n": $0] as [String: String]) },
        .body("form Encodable key") { .form(Named(name: $0)) },
        .body("boundary") { text in .multipart(boundary: text) { $0.add("v", for: "n") } },
        .body("part name") { text in multipart { $0.add("v", for: text) } },
        .body("part value") { text in multipart { $0.add(text, for: "n") } },
        .body("file name") { text in multipart { $0.add(.data(Data([1])), for: "n", fileName: text) } },
        .body("part type") { text in multipart { $0.add(.data(Data([1]), type: MediaType("a", text)), for: "n") } },
        .body("part type's parameter") { text in
            multipart { $0.add(.data(Data([1]), type: MediaType.png.parameter("n", text)), for: "n") }
        },
        .body("part header name", harmless: "X-A") { text in
            multipart { $0.add("v", for: "n", headers: [HTTPField(HTTPField.Name(text), "v")]) }
        },
        .body("part header value") { text in multipart { $0.add("v", for: "n", headers: ["X-A": text]) } },
        .body("part disposition") { text in
            multipart { $0.add("v", for: "n", headers: [.contentDisposition(HTTPField.ContentDisposition(text))]) }
        },
        .body("preamble") { text in
            multipart { form in
                form.preamble = text
                form.add("v", for: "n")
            }
        },
        .body("type of a form") { text in
            .multipart(MultipartForm(boundary: "boundary", type: MediaType("multipart", text)))
        },
    ]

    /// The boundary is the same each time, but in none of the texts, like a random one.
    private static func multipart(_ build: (inout MultipartForm) -> Void) -> HTTPBody {
        .multipart(boundary: "boundary-5c1f0e", build)
    }
}
