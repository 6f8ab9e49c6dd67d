// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The requests that share a stored response, that is, those with the same URL, user and variant.
@Suite(.bounded) struct CacheVariantsTests {
    private let trial = CacheTrial()

    private func get(_ url: String) throws -> HTTPRequest {
        CacheSample.get(try #require(URL(string: url)))
    }

    /// Loads a response with a string as its body.
    private func load(_ text: String, for request: HTTPRequest, _ headers: HTTPHeaders = []) async {
        var fields: HTTPHeaders = [.cacheControl: "max-age=60"]
        fields.merge(headers)
        await trial.send(request, .status(.ok, headers: fields, body: Data(text.utf8)))
    }

    @Test(arguments: [
        ("https://api.example.com/a", "HTTPS://API.example.com/a", true),
        ("https://api.example.com/a", "https://api.example.com:443/a", true),
        ("https://api.example.com/a", "https://api.example.com/a#fragment", true),
        ("http://example.com", "http://example.com:80/", true),
        ("https://api.example.com/a", "http://api.example.com/a", false),
        ("https://api.example.com/a", "https://api.example.com:8443/a", false),
        ("https://api.example.com/a", "https://api.example.com/A", false),
        ("https://api.example.com/a", "https://api.example.com/a/", false),
        ("https://api.example.com/a", "https://api.example.com/a?", false),
        ("https://api.example.com/a", "https://api.example.com/a?b", false),
        ("https://api.example.com/a", "https://user@api.example.com/a", false),
        ("https://api.example.com/a", "https://example.com/a", false),
    ])
    func equivalentURLsShareResponse(address: String, other: String, isShared: Bool) async throws {
        await load("1", for: try get(address))

        #expect(await trial.send(try get(other)).word == (isShared ? "fresh" : "miss"))
    }

    @Test func removalByURLKeepsOtherURLs() async throws {
        let addresses = ["http://api.example.com/a", "https://api.example.com/a/", "https://api.example.com/a?"]
        for address in addresses + ["https://api.example.com/a"] { await load("1", for: try get(address)) }

        trial.cache.remove(for: try #require(URL(string: "HTTPS://API.example.com:443/a#fragment")))

        #expect(await trial.send(try get("https://api.example.com/a")).word == "miss")
        for address in addresses { #expect(await trial.send(try get(address)).word == "fresh") }
    }

    static let credentials: [HTTPHeaders] = [
        [], [.authorization: "Bearer a"], [.authorization: "Bearer b"], [.authorization: ""], [.cookie: "Bearer a"],
        [.apiKey: "a"], [HTTPField("X-Session", "a"), HTTPField(HTTPField.Name("X-Session", isSensitive: true), "a")],
        [HTTPField(HTTPField.Name("X-Session", isSensitive: true), "a")], [.cookie: "a=1", .authorization: "Bearer a"],
        [.proxyAuthorization: "Bearer a"], [.host: "other.example.com"],
    ]

    @Test func responsesAreStoredPerUser() async throws {
        let requests = Self.credentials.map { CacheSample.get($0) }
        for (index, request) in requests.enumerated() {
            #expect(await trial.send(request.cachePolicy(.returnCacheDataDontLoad)).word == "unavailable")
            await load("\(index)", for: request)
        }

        for (index, request) in requests.enumerated() {
            let exchange = await trial.send(request)
            #expect(exchange.word == "fresh" && exchange.text == "\(index)")
        }
        #expect(trial.cache.responses(for: CacheSample.url).count == requests.count)
        trial.cache.remove(for: CacheSample.url)
        #expect(!trial.isStored())
    }

    @Test func headerFieldOrderIsIrrelevant() async throws {
        await load("1", for: CacheSample.get([.authorization: "Bearer a", .cookie: "a=1", .accept: "*/*"]))
        let other: HTTPHeaders = [.accept: "text/plain", .cookie: "a=1", .authorization: "Bearer a"]

        #expect(await trial.send(CacheSample.get(other)).word == "fresh")
    }

    @Test func responsesAreStoredPerVariant() async {
        let languages: [HTTPHeaders] = [
            [], [.acceptLanguage: ""], [.acceptLanguage: "en"], [.acceptLanguage: "de"],
            [HTTPField(.acceptLanguage, "en"), HTTPField(.acceptLanguage, "de")],
        ]
        for (index, language) in languages.enumerated() {
            let request = CacheSample.get(language)
            #expect(await trial.send(request.cachePolicy(.returnCacheDataDontLoad)).word == "unavailable")
            await load("\(index)", for: request, [.vary: "Accept-Language"])
        }

        for (index, language) in languages.enumerated() {
            #expect(await trial.send(CacheSample.get(language)).text == "\(index)")
        }
        #expect(await trial.send(CacheSample.get([.acceptLanguage: " en "])).text == "2")
    }

    @Test(arguments: [
        ([HTTPField("Foo", "1, 2")], [HTTPField("Foo", "1"), HTTPField("Foo", "2")]),
        ([HTTPField("Foo", "1,2")], [HTTPField("Foo", " 1 , 2 ")]),
        ([HTTPField(.acceptLanguage, "en, de;q=0.5")], [HTTPField(.acceptLanguage, "EN,De; q=0.5")]),
    ])
    func equivalentFieldValuesShareVariant(one: [HTTPField], other: [HTTPField]) async {
        await load("1", for: CacheSample.get(HTTPHeaders(one)), [.vary: "Foo, accept-language, FOO"])

        #expect(await trial.send(CacheSample.get(HTTPHeaders(other))).word == "fresh")
        #expect(await trial.send(CacheSample.get(["Foo": "3", .acceptLanguage: "fr"])).word == "miss")
    }
}
