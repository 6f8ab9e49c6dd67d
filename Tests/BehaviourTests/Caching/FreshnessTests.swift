// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The lifetime of a stored response, and its age.
@Suite(.bounded) struct FreshnessTests {
    private static let second = "Sun, 06 Nov 1994 08:49:"
    private let trial = CacheTrial()

    /// The age that callers see, whether the response is fresh or not.
    private func age(of url: URL = CacheSample.url) async -> String? {
        await trial.send(CacheSample.get(url, [], .returnCacheDataDontLoad)).response?.headers[.age]
    }

    struct Lifetime: Sendable {
        let headers: HTTPHeaders
        let seconds: TimeInterval
        var guesses = true
    }

    /// RFC 9111, 4.2.1 and 4.2.2.
    static let lifetimes: [Lifetime] = [
        Lifetime(headers: [], seconds: 0),
        Lifetime(headers: [.cacheControl: "max-age=60"], seconds: 60),
        Lifetime(headers: [.cacheControl: "MAX-AGE=\"60\""], seconds: 60),
        Lifetime(headers: [.cacheControl: "max-age=60, max-age=600"], seconds: 60),
        Lifetime(headers: [HTTPField(.cacheControl, "private"), HTTPField(.cacheControl, "max-age=60")], seconds: 60),
        Lifetime(headers: [.cacheControl: "max-age=99999999999999999999"], seconds: 2_147_483_648),
        Lifetime(headers: [.cacheControl: "max-age=1.5"], seconds: 0),
        Lifetime(headers: [.cacheControl: "max-age=-1"], seconds: 0),
        Lifetime(headers: [.cacheControl: "max-age"], seconds: 0),
        Lifetime(headers: [.cacheControl: "s-maxage=60"], seconds: 0),
        Lifetime(headers: [.cacheControl: "s-maxage=1, max-age=60"], seconds: 60),
        Lifetime(headers: [.date: second + "37 GMT", .expires: second + "57 GMT"], seconds: 20),
        // Both times are the server's, so the client's clock doesn't matter.
        Lifetime(headers: [.date: second + "30 GMT", .expires: second + "37 GMT"], seconds: 7),
        Lifetime(headers: [.date: second + "37 GMT", .expires: second + "30 GMT"], seconds: 0),
        Lifetime(headers: [.expires: second + "57 GMT"], seconds: 20),
        Lifetime(headers: [.expires: "0"], seconds: 0),
        Lifetime(headers: [.expires: "-1", .lastModified: "Sat, 05 Nov 1994 08:49:37 GMT"], seconds: 0),
        Lifetime(headers: [.cacheControl: "max-age=60", .expires: "0"], seconds: 60),
        Lifetime(headers: [.cacheControl: "max-age=x", .expires: second + "57 GMT"], seconds: 0),
        Lifetime(headers: [.lastModified: "Sun, 06 Nov 1994 07:49:37 GMT"], seconds: 360),
        Lifetime(headers: [.lastModified: "Sun, 06 Nov 1994 07:49:37 GMT"], seconds: 0, guesses: false),
        Lifetime(headers: [.lastModified: "Mon, 06 Nov 1972 07:49:37 GMT"], seconds: 86_400),
        Lifetime(headers: [.lastModified: "Mon, 07 Nov 1994 07:49:37 GMT"], seconds: 0),
        Lifetime(headers: [.lastModified: "yesterday"], seconds: 0),
    ]

    /// At ten seconds past its lifetime, `max-stale=10` accepts the response, and `max-stale=9` doesn't.
    @Test(arguments: lifetimes) func responseFieldsDetermineLifetime(_ row: Lifetime) async throws {
        // A URL with a query has no heuristic lifetime.
        let query = [URLQueryItem(name: "a", value: "b")]
        let url = row.guesses ? CacheSample.url : CacheSample.url.appending(queryItems: query)
        await trial.load(row.headers, for: CacheSample.get(url))
        let age = try #require(await age(of: url).flatMap(TimeInterval.init))
        trial.advance(by: row.seconds + 10 - age)

        let accepted = await trial.send(CacheSample.get(url, [.cacheControl: "max-stale=10"]))
        let refused = await trial.send(CacheSample.get(url, [.cacheControl: "max-stale=9"]))

        #expect(accepted.word == "fresh" && ["miss", "revalidate"].contains(refused.word))
    }

    struct Age: Sendable {
        let headers: HTTPHeaders
        var delay: TimeInterval = 0
        var resident: TimeInterval = 0
        let seconds: Int
    }

    /// RFC 9111, 4.2.3.
    static let ages: [Age] = [
        Age(headers: [], seconds: 0),
        Age(headers: [], resident: 5, seconds: 5),
        Age(headers: [], delay: 2, resident: 5, seconds: 7),
        Age(headers: [.age: "10"], delay: 2, resident: 5, seconds: 17),
        Age(headers: [.date: second + "27 GMT"], resident: 5, seconds: 15),
        Age(headers: [.date: second + "27 GMT", .age: "3"], delay: 2, seconds: 10),
        Age(headers: [.date: second + "36 GMT", .age: "3"], delay: 2, seconds: 5),
        // The server's clock is ahead.
        Age(headers: [.date: second + "57 GMT"], resident: 5, seconds: 5),
        // The client's clock has been set back since then.
        Age(headers: [.age: "10"], resident: -5, seconds: 10),
        Age(headers: [.age: "-10"], seconds: 0),
        Age(headers: [.age: "soon"], seconds: 0),
        Age(headers: [.age: ""], seconds: 0),
        Age(headers: [.age: "10, 20"], seconds: 10),
        Age(headers: [HTTPField(.age, "10"), HTTPField(.age, "20")], seconds: 10),
        Age(headers: [.age: "99999999999999999999"], seconds: 2_147_483_648),
        Age(headers: [.date: "today"], resident: 5, seconds: 5),
    ]

    @Test(arguments: ages) func ageIncludesTransitAndResidentTime(_ row: Age) async {
        await trial.load(row.headers, delay: row.delay)
        trial.advance(by: row.resident)

        #expect(await age() == "\(row.seconds)")
    }

    @Test func responseFromTheFutureIsStale() async {
        await trial.load([.cacheControl: "max-age=60"])
        trial.advance(by: -1)

        #expect(await trial.send().word == "miss")
    }

    @Test func negativeResponseDelayCountsAsZero() async {
        await trial.load([.age: "10"], delay: -100)

        #expect(await age() == "10")
    }
}
