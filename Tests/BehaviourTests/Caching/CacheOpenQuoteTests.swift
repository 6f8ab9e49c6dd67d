// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Cache fields with an unterminated or misplaced quote: the most restrictive reading applies.
@Suite(.bounded) struct CacheOpenQuoteTests {
    private let trial = CacheTrial()

    private func fields(_ lines: [String], _ name: HTTPField.Name = .cacheControl) -> HTTPHeaders {
        HTTPHeaders(lines.map { HTTPField(name, $0) })
    }

    @Test(arguments: [
        [#"x=""#, "no-store, private"], [#"foo="bar, no-store"#], ["max-age=60", #"x=""#, "No-Store"],
        [#"max-age=60, x=""#, #"no-store="a", y"#], [#"max-age=60, x=", y="a", no-store"#],
        [#"max-age=60, x="a;no-store"#], [#"max-age=60, x="a no-store"#], [#"max-age=60, x="no-store"#],
        [#"max-age=60, x="a=no-store,b"#], [#"max-age=60, x="a\", no-store"#], [#"max-age=60, x="a\", no-store, y="b"#],
        [#"max-age=60, x="a"b", no-store"#], [#"max-age=60, x="a" "b, no-store"#], [#"max-age=60, x=a"b, no-store"#],
        [#"max-age=60, x=a"b, no-store, c"d"#], [#"max-age=60, "no-store""#], [#"max-age=60, "x, no-store"#],
        [#"max-age=60, x "y, no-store"#], [#"max-age=60, ="y, no-store"#], [#"must-understand="a, no-store"#],
        [#"must-understand, x="a, no-store"#],
        ["max-age=60, no-store=1"], [#"max-age=60, no-store=""#], [#"max-age=60, no-store="x"#],
    ])
    func malformedNoStoreStillPreventsStoring(lines: [String]) async {
        await trial.load(fields(lines))

        #expect(!trial.isStored())
    }

    @Test(arguments: [
        [#"max-age=60, x="a, no-cache"#], [#"max-age=60, x="a, no-cache="Set-Cookie""#], [#"max-age=60, no-cache="x"#],
        ["max-age=60", #"x=""#, "no-cache"], [#"max-age=60, x="a, max-age=0"#], ["max-age=60", #"x="a, max-age=0"#],
        [#"x="a, max-age=60"#], ["max-age=abc"], [#"max-age="60"#], [#"max-age="60"1""#], ["max-age=60x"],
        ["max-age="], [#"x="a, immutable, max-age=60, stale-while-revalidate=600"#], ["max-age=abc, max-age=60"],
    ])
    func malformedNoCacheStillForcesRevalidation(lines: [String]) async {
        await trial.load(fields(lines) + [HTTPField(.eTag, "\"1\"")])

        let exchange = await trial.send()

        #expect(exchange.word == "revalidate")
    }

    @Test(arguments: [
        [#"max-age=1, stale-if-error=600, x="a, must-revalidate"#], [#"max-age=1, x="a, stale-if-error=600"#],
        [#"max-age=1, stale-if-error="600"#], ["max-age=1, stale-if-error=abc"],
        ["max-age=1, stale-if-error=600", #"x=""#, "must-revalidate"],
    ])
    func malformedStaleIfErrorDoesNotHideServerError(lines: [String]) async {
        await trial.load(fields(lines))
        trial.advance(by: 10)

        let exchange = await trial.send(CacheSample.get(), .status(.internalServerError))

        #expect(exchange.response?.status == .internalServerError)
    }

    @Test(arguments: [
        [#"max-age=60, x="a, b""#], [#"max-age=60, x="a, no-store, max-age=0""#], [#"max-age=60, private="a"#],
        [#"max-age=60, x="open"#], ["max-age=60", #"x=""#], [#"max-age="60""#], [#"x="a\"", max-age=60"#],
    ])
    func unrestrictedResponseIsReused(lines: [String]) async {
        await trial.load(fields(lines))

        let exchange = await trial.send()

        #expect(exchange.word == "fresh")
    }

    @Test(arguments: [
        [#"""#, "*"], [#""x, *"#], [#""x, Accept-Language"#], ["Accept", #"x", *"#], [#"x="a, Accept, y="b, Origin"#],
        [#"x"y, Accept"#],
    ])
    func responseWithMalformedVaryIsNotStored(lines: [String]) async {
        await trial.load(fields(lines, .vary) + [HTTPField(.cacheControl, "max-age=60")])

        #expect(!trial.isStored())
    }

    @Test func malformedConnectionFieldIsStillRespected() async throws {
        let connection = fields([#"x=""#, "X-Hop"], .connection)
        await trial.load(connection + [HTTPField("X-Hop", "1"), HTTPField(.cacheControl, "max-age=60")])

        let response = try #require(await trial.send().response)

        #expect(!response.headers.contains("X-Hop"))
    }

    @Test(arguments: [#"max-stale="5"#, "max-stale=abc", #"x="a, max-stale"#])
    func malformedMaxStaleAcceptsNoStaleResponse(directive: String) async {
        await trial.load([.cacheControl: "max-age=1"])
        trial.advance(by: 100)

        let exchange = await trial.send(CacheSample.get([.cacheControl: directive]))

        #expect(exchange.word == "miss")
    }

    @Test(arguments: [[#"x=""#, "no-store"], [#"x="a, no-store"#]])
    func malformedRequestNoStorePreventsStoring(lines: [String]) async {
        await trial.load(for: CacheSample.get(fields(lines)))

        #expect(!trial.isStored())
    }

    @Test func malformedCredentialsDoNotShareResponse() async {
        await trial.load(for: CacheSample.get([.authorization: #"Digest username="ada"#]))

        let exchange = await trial.send(CacheSample.get([.authorization: #"Digest username="bob"#]))

        #expect(exchange.word == "miss")
    }

    @Test func malformedPragmaNoCacheStillForcesReload() async {
        await trial.load()

        let exchange = await trial.send(CacheSample.get(fields([#"x=""#, "no-cache"], .pragma)))

        #expect(exchange.word == "miss")
    }
}

extension HTTPHeaders {
    fileprivate static func + (headers: HTTPHeaders, more: [HTTPField]) -> HTTPHeaders {
        var headers = headers
        for field in more { headers.add(field) }
        return headers
    }
}
