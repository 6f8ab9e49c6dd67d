// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Fields of a hostile server: nothing traps, memory is bounded, and parsed values are printed and parsed again
/// unchanged.
@Suite(.bounded) struct HTTPFieldValueFuzzTests {
    private static let signs = [";", ",", "=", " ", "\"", "\\", "\t", "*", "'", "%", "-", "ä", "\r\n", "\0", "/"]
    private static let now = Date(timeIntervalSince1970: 1_783_728_000)

    /// Passes texts of words and characters to a check, which returns whether the result is right.
    private func feed(_ words: [String], _ check: (String) throws -> Bool) rethrows {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz() {
            let text = fuzz.text(of: words + Self.signs)
            guard try check(text) else {
                Issue.record("\(text.debugDescription), seed \(Fuzz.seed)")
                return
            }
        }
    }

    @Test func contentDispositionRoundTrips() throws {
        let words = [
            "attachment", "filename=", "filename*=", "UTF-8''", "iso-8859-1'en'", "%e2%82%ac", "%", "a", "name=",
        ]
        feed(words) { text in
            guard let value = HTTPField.ContentDisposition(parsing: text) else { return true }
            guard (try? value.validated()) != nil else { return true }
            return HTTPField.ContentDisposition(parsing: value.rawValue) == value
                && value.rawValue.utf8.count <= 8 * text.utf8.count + 64
        }
    }

    @Test func cacheControlRoundTrips() {
        feed(["max-age", "no-cache", "60", "private", "99999999999999999999"]) { text in
            let value = CacheControl(parsing: text)
            _ = (value.maxAge, value.staleIfError)
            return (try? value.validated()) != nil && CacheControl(parsing: value.rawValue) == value
        }
    }

    @Test func retryAfterIsBounded() {
        feed(["1", "9999999999", "Sun", ", ", "06", " Nov ", "1994", " 08:49:37", " GMT", "-Nov-94"]) { text in
            guard let delay = Duration(retryAfter: text, now: Self.now) else { return true }
            return .zero <= delay && delay <= .seconds(1_000_000_000)
        }
    }

    @Test func contentRangeRoundTrips() {
        feed(["bytes ", "bytes", "0", "9", "-", "*", "/", "0-1", "/2", "9223372036854775807"]) { text in
            guard let value = HTTPField.ContentRange(parsing: text) else { return true }
            let end = value.positions?.upperBound ?? 0
            return (try? value.validated()) != nil && HTTPField.ContentRange(parsing: value.rawValue) == value
                && end >= 0 && value.total.map { end < $0 || value.positions == nil } != false
        }
    }

    @Test func datesRoundTrip() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz() {
            // Mostly well-formed: with random pieces, hardly any would be.
            func number(_ range: ClosedRange<Int>, _ digits: Int) -> String {
                let text = String(Int.random(in: range, using: &fuzz))
                return String(repeating: "0", count: max(0, digits - text.count)) + text
            }
            let month = (CivilTime.months + ["Xxx"]).randomElement(using: &fuzz) ?? ""
            let clock = "\(number(0...24, 2)):\(number(0...60, 2)):\(number(0...61, 2))"
            let text =
                switch Int.random(in: 0..<3, using: &fuzz) {
                case 0: "Sun, \(number(0...32, 2)) \(month) \(number(0...9999, 4)) \(clock) GMT"
                case 1: "Sunday, \(number(0...32, 2))-\(month)-\(number(0...99, 2)) \(clock) GMT"
                default: "Sun \(month) \(number(10...32, 2)) \(clock) \(number(0...10_000, 4))"
                }
            _ = SetCookie(parsing: "a=b; Expires=\(text)")
            guard let date = HTTPDate(parsing: text, now: Self.now) else { continue }
            guard HTTPDate(parsing: date.rawValue) == date else {
                Issue.record("\(text), seed \(Fuzz.seed)")
                return
            }
        }
    }

    @Test func setCookieRoundTrips() {
        feed([
            "a=b", "; Path=/", "; Domain=", "example.com", "; Max-Age=", "60", "; Expires=",
            "Wed, 09 Jun 2021 10:18:14 GMT",
            "; Secure", "; SameSite=Lax",
        ]) { text in
            guard let value = SetCookie(parsing: text) else { return true }
            guard (try? value.validated()) != nil else { return true }
            return SetCookie(parsing: value.rawValue) == value && value.rawValue.utf8.count <= 2 * text.utf8.count + 128
        }
    }

    @Test func cookieTagAndChallengeListsRoundTrip() {
        feed(["a=b", "W/\"x\"", "Basic", "realm=", "Digest", "abc==", "; "]) { text in
            let cookies = Cookie.list(parsing: text)
            let tags = HTTPField.EntityTag.list(parsing: text)
            let challenges = Authorization.Challenge.list(parsing: text)
            _ = (
                Authorization(text).parameters, Authorization(text).token,
                Authorization(text).basicCredentials?.username
            )
            return Cookie.list(parsing: cookies.map(\.rawValue).joined(separator: "; ")) == cookies
                && HTTPField.EntityTag.list(parsing: tags.map(\.rawValue).joined(separator: ", ")) == tags
                && Authorization.Challenge.list(parsing: challenges.map(\.description).joined(separator: ", "))
                    == challenges
        }
    }

    @Test func headerBlockRoundTrips() {
        feed(["HTTP/1.1 200 OK\r\n", "A: b\r\n", "Content-Length", ": ", "\n", " folded", "Set-Cookie: a=b\r\n"]) {
            text in
            let headers = HTTPHeaders(rawHead: Array(text.utf8))
            let printed = "X\r\n" + headers.map { "\($0.name.rawValue): \($0.value)\r\n" }.joined()
            _ = (headers.names, headers.dictionary, headers.description)
            // An empty folded line leaves a space at the end.
            let values = HTTPHeaders(rawHead: Array(printed.utf8)).map(\.value)
            return printed.utf8.count <= 2 * text.utf8.count + 8 * headers.count + 3
                && values == headers.map(\.value.trimmedOfBlanks)
        }
    }
}
