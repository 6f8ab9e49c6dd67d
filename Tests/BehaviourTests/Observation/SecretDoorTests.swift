// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Random secrets wherever a secret can be, and every way in which text leaves the library.
@Suite(.bounded) struct SecretDoorTests {
    private static let marker = "m4rkedS3cret"
    private static let rounds = 150

    /// Returns all string conversions of a value.
    private func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        let texts = ["\(value)", String(describing: value), String(reflecting: value), "\([value])", dumped]
        return texts + ((value as? any Error).map { [$0.localizedDescription] } ?? [])
    }

    private func expectNoSecret(in value: Any, _ comment: Comment) {
        for text in texts(of: value) { expectNoSecret(inText: text, comment) }
    }

    private func expectNoSecret(inText text: String, _ comment: Comment) {
        #expect(!text.contains(Self.marker), "\(comment), seed \(Fuzz.seed): \(text.prefix(2000))")
    }

    // MARK: Addresses

    private static let junk = ["", "", "", " ", "%zz", "[", "^", "\\", "%00", "é", "\u{301}", "<", "|"]

    private func address(_ random: inout Fuzz) -> String {
        func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
        let secret = Self.marker
        let password = pick([secret, "a\(secret)", "\(secret)%40", "pa?\(secret)", "pa/\(secret)", "p#\(secret)"])
        let user = pick(["", "", "ada:\(password)@", ":\(password)@"])
        let host = pick(["example.com", "example.com:8080", "[::1]", "ex ample.com", "example.com:x", "", "127.0.0.1"])
        let path = pick(["", "/a", "/a;token=\(secret)", "/a/../../b;session=\(secret)/c", "/x;jsessionid=\(secret)"])
        let query = pick([
            "", "?token=\(secret)", "?a=b&api_key=\(secret)&c", "?sig=\(secret);p=1", "?%74oken=\(secret)",
        ])
        let fragment = pick(["", "#access_token=\(secret)", "#a&id_token=\(secret)"])
        return pick(["https://", "http://", "HTTPS://", "https:/", ""]) + user + host + pick(Self.junk) + path
            + pick(Self.junk) + query + fragment
    }

    @Test func redactsSecretsInURLs() async {
        var random = Fuzz()
        for _ in 0..<Self.rounds {
            let address = address(&random)
            let request = HTTPRequest("\(raw: address)")
            let comment: Comment = "\(address)"

            expectNoSecret(in: request, comment)
            expectNoSecret(in: Get<Data>().modified { $0.http = request }, comment)
            do {
                expectNoSecret(in: try request.toURLRequest().url.map { HTTPRequest(url: $0) } as Any, comment)
                expectNoSecret(inText: try request.cURL(), comment)
            } catch {
                expectNoSecret(in: error, comment)
                expectNoSecret(in: RequestError(error), comment)
            }
            if let url = URL(string: address) {
                expectNoSecret(in: HTTPResponseHead(status: .ok, url: url), comment)
                expectNoSecret(in: TransportRequest(HTTPRequest(url: url)), comment)
                var environment = RequestEnvironment()
                environment.baseURL = url
                expectNoSecret(in: environment, comment)
            }
        }
    }

    // MARK: Headers

    private static let names = [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-Key", "X-Vault-Token", "DPoP",
        "X-JWT-Assertion", "X-Otp", "X-Passcode", "X-Bearer", "Authentication", "X-Amz-Security-Token", "X-CSRF-Token",
        "Api_Key", "X-Session", "X-Client-Secret", "Private-Token",
    ]

    private func field(_ random: inout Fuzz) -> HTTPField {
        let name = Self.names.randomElement(using: &random) ?? ""
        let value = ["\(Self.marker)", "Bearer \(Self.marker)", "a=\(Self.marker); Path=/", "id \(Self.marker)=="]
        return HTTPField(
            HTTPField.Name(Bool.random(using: &random) ? name : name.uppercased()),
            value.randomElement(using: &random) ?? ""
        )
    }

    @Test func redactsSecretsInHeaderFields() {
        var random = Fuzz()
        for _ in 0..<Self.rounds {
            let field = field(&random)
            let headers = HTTPHeaders([field, .accept(.json)])
            let comment: Comment = "\(field.name)"

            expectNoSecret(in: field, comment)
            expectNoSecret(in: headers, comment)
            expectNoSecret(in: HTTPRequest(url: home, headers: headers), comment)
            expectNoSecret(in: HTTPResponseHead(status: .ok, headers: headers), comment)
            expectNoSecret(in: Cookie("a", Self.marker), comment)
            expectNoSecret(in: SetCookie("a", Self.marker), comment)
            var environment = RequestEnvironment()
            environment.headers = headers
            environment.query = ["token": Self.marker]
            environment.headers["X-Own"] = Self.marker
            environment.sensitiveHeaders = ["X-Own"]
            expectNoSecret(in: environment, comment)
            expectNoSecret(in: HTTPClient { $0 = environment }, comment)
        }
    }

    @Test func redactsSecretsInObjectDescriptions() async throws {
        let interceptor = AuthenticationInterceptor(
            TokenAuthenticator { _ in Self.marker },
            credential: Self.marker,
            origins: sampleOrigins
        )
        let jar = CookieJar()
        jar.store([SetCookie("a", Self.marker)], from: home)
        let foundations = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        foundations.setCookie(
            try #require(
                HTTPCookie(properties: [
                    .name: "a", .value: Self.marker, .domain: "example.com", .path: "/",
                ])
            )
        )
        let client = HTTPClient(transport: InMemoryTransport { _ in .status(.ok) }) {
            $0.interceptors = [interceptor]
            $0.cookies = jar
        }
        let operation = client.addRequest(Get<Data>().modified { $0.http.url = home })
        _ = try await operation.value()

        expectNoSecret(in: interceptor, "interceptor")
        expectNoSecret(in: jar, "jar")
        expectNoSecret(in: FoundationCookieStorage(foundations), "Foundation's cookies")
        expectNoSecret(in: client, "client")
        expectNoSecret(in: operation, "operation")
    }

    // MARK: Content

    private func json(_ random: inout Fuzz, depth: Int = 0) -> JSONValue {
        let names = ["password", "token", "clientSecret", "api_key", "refresh_token", "otp", "passcode", "user"]
        var members: [String: JSONValue] = [:]
        for _ in 0..<3 {
            let name = names.randomElement(using: &random) ?? ""
            guard name == "user" else {
                members[name] = Bool.random(using: &random) ? .string(Self.marker) : [.string(Self.marker), nil]
                continue
            }
            members[name] = depth < 4 ? json(&random, depth: depth + 1) : "ada"
        }
        return Bool.random(using: &random) ? .object(members) : [.object(members), 1]
    }

    private func body(_ random: inout Fuzz) -> HTTPBody {
        let secret = Self.marker
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .json(json(&random))
        case 1: return .form(["user": "ada", "password": secret])
        case 2: return .form(["grant_type": "code", "client_secret": secret, "token": secret])
        case 3: return .multipart(boundary: "b") { $0.add(secret, for: "password") }
        case 4: return .data(Data("password=\(secret)".utf8), type: "application/x-www-form-urlencoded")
        default: return .data(Data(#"{"broken": "password", "password": "\#(secret)"#.utf8), type: .json)
        }
    }

    @Test func redactsSecretsInBodies() {
        var random = Fuzz()
        for _ in 0..<Self.rounds {
            let body = body(&random)
            let request = HTTPRequest(url: home, method: .post, body: body)

            expectNoSecret(in: body, "body")
            expectNoSecret(in: request, "request")
            expectNoSecret(in: Query(["token": Self.marker]), "query")
            expectNoSecret(in: ["token": Self.marker] as URITemplate.Variables, "variables")
            #expect(throws: Never.self) { expectNoSecret(inText: try request.cURL(), "cURL") }
        }
    }

    // MARK: Observers

    @Test func redactsSecretsInMonitorsAndArchives() async throws {
        var random = Fuzz()
        for _ in 0..<40 {
            let lines = Recorder<String>()
            let timeline = RecordingMonitor()
            let answer = HTTPHeaders([field(&random), .contentType(.json)])
            let content = try JSONEncoder().encode(json(&random))
            let status: HTTPStatus = Bool.random(using: &random) ? .ok : .badRequest
            let recorder = ExchangeRecorder(InMemoryTransport { _ in .status(status, headers: answer, body: content) })
            let own = HTTPHeaders([field(&random)])
            let client = HTTPClient(transport: recorder) {
                $0.baseURL = URL(string: "https://ada:\(Self.marker)@example.com/?api_key=\(Self.marker)")
                $0.headers = own
                $0.monitors = [timeline]
                for level in ConsoleMonitor.Level.allCases {
                    $0.monitors.append(ConsoleMonitor(level, showsCURL: true) { lines.record($0) })
                }
            }
            let request = Post<Data>("login").body(body(&random)).query(["token": Self.marker])

            do { _ = try await client.send(request) } catch { expectNoSecret(in: error, "error") }

            for line in lines.elements { expectNoSecret(inText: line, "console") }
            expectNoSecret(in: timeline.timeline, "timeline")
            expectNoSecret(inText: timeline.timeline.text(), "timeline")
            expectNoSecret(inText: String(decoding: timeline.timeline.har(), as: UTF8.self), "HAR")
            expectNoSecret(inText: String(decoding: recorder.archive.data(), as: UTF8.self), "archive")
            expectNoSecret(in: recorder.exchanges, "exchanges")
        }
    }

    @Test func redactsSecretsInCallbackValues() async throws {
        let url = try #require(
            URL(string: "https://ada:\(Self.marker)@example.com/a;token=\(Self.marker)?sig=\(Self.marker)")
        )
        let headers: HTTPHeaders = [.authorization: "Bearer \(Self.marker)", .location: url.absoluteString]
        let request = HTTPRequest(url: url, method: .post, headers: headers, body: .form(["password": Self.marker]))
        let head = HTTPResponseHead(status: .found, headers: headers, url: url)
        let error = RequestError(.timedOut, phase: .sending, request: request, response: head)
        let attempt = OperationEvent.Transfer(number: 1, cause: .initial, request: request)

        let values: [Any] = [
            InterceptorChain.Context(identifier: "a", attempt: 1, baseURL: url, request: request),
            ValidationContext(request: request), attempt, OperationEvent.transferStarted(attempt),
            OperationEvent.responseStarted(head, attempt), OperationEvent.operationEnded(.failure(error)),
            OperationEvent.Outcome.failure(error), HTTPResponse(head: head, body: Data(Self.marker.utf8)),
            TransferRecord(cause: .initial, request: request, response: head, error: error),
            ReceivedRequest(url: url, method: .post, headers: headers, body: Data(Self.marker.utf8)),
            AuthenticationProvider.basicAuth(username: "a", password: Self.marker),
            ["password": .value(Self.marker)] as JSONValue.Literal,
        ]

        for value in values { expectNoSecret(in: value, "\(type(of: value))") }
    }

    @Test func secretsCanBeRevealedExplicitly() throws {
        let request = HTTPRequest(url: home, method: .post, body: .form(["password": Self.marker]))

        #expect(try request.cURL(revealingSecrets: true).contains(Self.marker))
    }
}
