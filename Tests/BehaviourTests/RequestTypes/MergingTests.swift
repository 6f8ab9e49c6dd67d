// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The effect of modifiers on existing values, and their precedence.
@Suite(.bounded) struct MergingTests {
    private let request = Get<Data>("a").headers(["X-A": "1", "X-B": "2"]).query(["p": "1"])

    @Test func headersMergeFromLiteralAndBuilder() {
        let values = request.headers(["X-B": "3", "X-C": "4"])
        let built = request.headers {
            Header("X-B", value: "3")
            Header("X-C", value: "4")
        }

        #expect(values.http.headers == built.http.headers)
        #expect(values.http.headers == ["X-A": "1", "X-B": "3", "X-C": "4"])
    }

    @Test func queryItemsAndValidatorsAccumulate() {
        let values = request.query(["p": "2"]).query { Item("q", value: 3) }
        let validated = request.validating(with: .statusCodes).validating(with: .contentType)

        #expect(values.http.query.percentEncoded == "p=1&p=2&q=3")
        #expect(validated.options.validators.count == 2)
    }

    @Test func replacingModifiersDiscardPreviousValues() {
        #expect(request.replacingHeaders(["X-C": "4"]).http.headers == ["X-C": "4"])
        #expect(request.replacingQuery(["q": "3"]).http.query == ["q": "3"])
    }

    @Test func headersAcceptRuntimeStrings() async throws {
        let (name, type) = ("X-Name", "application/json")
        var headers: HTTPHeaders = [:]
        headers[name] = "v"
        let built = request.headers {
            Header(name, value: "v")
            Accept(type, "text/*")
            ContentType(type)
        }

        #expect(headers[name] == "v" && headers["x-name"] == "v")
        #expect(
            built.http.headers[name] == "v" && built.http.headers[.accept] == HTTPField.accept([.json, "text/*"]).value
        )
        #expect(built.http.headers[.contentType] == "application/json")
        for bad in [request.headers { Header("a b\r\n", value: "v") }, request.headers { Accept("a\r\nb") }] {
            #expect(throws: InvalidValue.self) { try bad.toURLRequest(baseURL: server) }
        }
    }

    @Test(
        arguments: [
            (nil, .high, .high), (.normal, .high, .normal), (.low, .high, .low), (nil, nil, .normal),
            (.high, nil, .high),
        ] as [(Operation.QueuePriority?, Operation.QueuePriority?, Operation.QueuePriority)]
    )
    func callPriorityOverridesRequestPriority(
        given: Operation.QueuePriority?,
        own: Operation.QueuePriority?,
        expected: Operation.QueuePriority
    ) {
        let client = HTTPClient(transport: ManualTransport())
        client.isSuspended = true
        let request = own.map { self.request.priority($0) } ?? self.request

        #expect(client.addRequest(request, priority: given).queuePriority == expected)
        client.cancelAllRequests()
    }

    // MARK: Credentials

    private let address = "https://ada:one@api.example.com/v1/a"

    private func authorization(
        _ request: Get<Data>,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) async throws -> String? {
        try await TestQueue.sent(request, configure).headers[.authorization]
    }

    private func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    @Test func urlCredentialsOverrideEnvironment() async throws {
        let request = Get<Data>().modified { $0.http.url = URL(string: address)! }

        #expect(try await authorization(request) == basic("ada", "one"))
        #expect(
            try await authorization(request) { $0.headers[.authorization] = "Bearer of all" } == basic("ada", "one")
        )
        #expect(try await authorization(request.settingHeader(.authorization(.bearer("own")))) == "Bearer own")
        #expect(try await authorization(request.authenticated(with: .bearerToken("own"))) == "Bearer own")
    }

    @Test func environmentOverridesBaseURLCredentials() async throws {
        let base = URL(string: "https://ada:one@api.example.com/v1")

        #expect(try await authorization(Get("a")) { $0.baseURL = base } == basic("ada", "one"))
        let both = try await authorization(Get("a")) {
            $0.baseURL = base
            $0.headers[.authorization] = "Bearer of all"
        }
        #expect(both == "Bearer of all")
    }

    @Test func userNameContainingColonIsRejected() {
        let request = Get<Data>("a")
        let urls = ["https://a%3Ab:pw@api.example.com/", "https://a%3Ab@api.example.com/"]

        for url in urls.compactMap(URL.init(string:)) {
            #expect(throws: InvalidValue.self) { try HTTPRequest(url: url).toURLRequest() }
            #expect(throws: InvalidValue.self) { try request.toURLRequest(baseURL: url) }
        }
        #expect(throws: InvalidValue.self) {
            try request.authenticated(with: .basicAuth(username: "a:b", password: "pw")).toURLRequest(baseURL: server)
        }
    }

    // MARK: Strings and descriptions

    @Test func stringBaseURLIsValidated() throws {
        for text in [
            "", "api.example.com", "ftp://a.example", "https://", "mailto:ada@example.com", "https://a.example:99999",
        ] {
            #expect(throws: InvalidValue.self) { try HTTPClient(baseURL: text) }
        }
        let client = try HTTPClient(baseURL: "https://api.example.com/v1") { $0.retry = .default }
        #expect(client.baseURL?.absoluteString == "https://api.example.com/v1")
        #expect(try HTTPClient(baseURL: "https://ada:pw@a.example").baseURL?.user == "ada")
    }

    @Test(arguments: [
        ("", "is empty"), ("127.0.0.1:18081/v1", "“127.0.0.1:18081/v1” must have the scheme http or https"),
        ("my host/v1?key=s3cret", "“my host/v1” must have the scheme http or https"),
        ("ada:s3cret@127.0.0.1:18081", "“…” must have the scheme http or https"),
        ("https://", "“https://” has no host"),
        ("s3cret@127.0.0.1:18081/v1", "“…” must have the scheme http or https"),
    ]) func invalidBaseURLErrorQuotesRedactedInput(text: String, reason: String) {
        let error = #expect(throws: InvalidValue.self) { try HTTPClient(baseURL: text) }

        #expect(error?.description == "the URL \(reason)")
    }

    @Test func descriptionsAreReadable() {
        let value: JSONValue = ["b": [1, nil, true], "a": "x", "password": "hush"]

        #expect("\(value)" == #"{"a":"x","b":[1,null,true],"password":"hush"}"#)
        #expect("\(HTTPBody.json(value))" == "content of application/json, not encoded yet")
        #expect("\(HTTPBody.data(Data("abc".utf8), type: .png))" == "3 bytes of image/png")
        #expect("\(HTTPBody.none)" == "no content")
    }
}
