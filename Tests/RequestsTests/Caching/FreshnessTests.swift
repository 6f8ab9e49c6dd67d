// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct FreshnessTests {
    private static let second = "Sun, 06 Nov 1994 08:49:"

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
        // Both times are the server's, and the client's clock doesn't count.
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

    @Test(arguments: lifetimes) func theServerSaysHowLongAResponseLives(_ row: Lifetime) {
        let response = CacheSample.cached(row.headers)

        let freshness = Freshness(of: response, guessing: row.guesses, at: CacheSample.start)

        #expect(freshness.lifetime == row.seconds)
    }

    struct Age: Sendable {
        let headers: HTTPHeaders
        var delay: TimeInterval = 0
        var resident: TimeInterval = 0
        let seconds: TimeInterval
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
        // The client's clock was set back since.
        Age(headers: [.age: "10"], resident: -5, seconds: 10),
        Age(headers: [.age: "-10"], seconds: 0),
        Age(headers: [.age: "soon"], seconds: 0),
        Age(headers: [.age: ""], seconds: 0),
        Age(headers: [.age: "10, 20"], seconds: 10),
        Age(headers: [HTTPField(.age, "10"), HTTPField(.age, "20")], seconds: 10),
        Age(headers: [.age: "99999999999999999999"], seconds: 2_147_483_648),
        Age(headers: [.date: "today"], resident: 5, seconds: 5),
    ]

    @Test(arguments: ages) func theAgeIsWhatPassedOnTheWayAndSince(_ row: Age) {
        let response = CacheSample.cached(row.headers, requestedAt: CacheSample.start - row.delay)

        let freshness = Freshness(of: response, guessing: true, at: CacheSample.start + row.resident)

        #expect(freshness.age == row.seconds)
    }

    @Test func aResponseFromTheFutureIsStale() {
        let response = CacheSample.cached([.cacheControl: "max-age=60"])

        #expect(Freshness(of: response, guessing: true, at: CacheSample.start - 1).lifetime == 0)
    }

    @Test func aRequestThatEndedBeforeItBeganTookNoTime() {
        let response = CacheSample.cached(requestedAt: CacheSample.start + 100)

        #expect(Freshness(of: response, guessing: true, at: CacheSample.start).age == 0)
    }
}
