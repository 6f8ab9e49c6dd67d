// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// How old a kept response is, and how old it may get (RFC 9111, 4.2), in seconds.
struct Freshness: Sendable, Hashable {
    /// How old it is.
    let age: TimeInterval
    /// How old it may get before the server has to be asked; 0 where nobody said.
    let lifetime: TimeInterval

    /// Reckons both.
    ///
    /// A clock that was set back tells nothing about how long a response has been here: it counts as stale then, so
    /// that a clock that was wrong by a year for a minute doesn't freeze responses for a year.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - guesses: Whether a lifetime may be guessed where the server gives none (RFC 9111, 4.2.2).
    ///   - now: The time.
    init(of response: CachedResponse, guessing guesses: Bool, at now: Date) {
        // Whoever receives a response without a date gives it that of its arrival (RFC 9110, 6.6.1).
        let date = response.headers.date(.date, now) ?? response.receivedAt
        let apparent = max(0, response.receivedAt.timeIntervalSince(date))
        let delay = max(0, response.receivedAt.timeIntervalSince(response.requestedAt))
        let resident = now.timeIntervalSince(response.receivedAt)
        age = max(apparent, response.headers.age + delay) + max(0, resident)
        lifetime = resident < 0 ? 0 : Self.lifetime(of: response, from: date, guessing: guesses, now)
    }

    // RFC 9111, 4.2.1, for a private cache: `s-maxage` isn't for it. What can't be read makes the response stale.
    private static func lifetime(
        of response: CachedResponse,
        from date: Date,
        guessing guesses: Bool,
        _ now: Date
    ) -> TimeInterval {
        if let maxAge = response.control["max-age"] {
            return maxAge.duration.map { $0 / .seconds(1) } ?? 0
        }
        if response.headers.contains(.expires) {
            return response.headers.date(.expires, now).map { max(0, $0.timeIntervalSince(date)) } ?? 0
        }
        guard guesses, let modified = response.headers.date(.lastModified, now) else { return 0 }
        return min(max(0, date.timeIntervalSince(modified)) / 10, longestGuess)
    }

    private static let longestGuess: TimeInterval = 24 * 60 * 60
}

extension HTTPHeaders {
    fileprivate func date(_ name: HTTPField.Name, _ now: Date) -> Date? {
        self[name].flatMap { HTTPDate(parsing: $0, now: now) }?.date
    }

    /// What `Age` says; one that isn't a number of seconds is passed over, and of several the first counts (RFC 9111,
    /// 5.1).
    fileprivate var age: TimeInterval {
        guard let text = self[.age].map(FieldScanner.elements(of:))?.first, text.utf8.allSatisfy(ASCII.isDigit) else {
            return 0
        }
        return TimeInterval(Swift.min(Int64(text) ?? .max, 2_147_483_648))
    }
}
