// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A clock for cookies, which only a test advances.
final class CookieClock: Sendable {
    private let date = Locked(Date(timeIntervalSince1970: 1_783_728_000))

    var now: Date { date.withLock { $0 } }

    func advance(by seconds: TimeInterval) {
        date.withLock { $0 += seconds }
    }
}

extension CookieStorage {
    /// Stores the `Set-Cookie` fields of a response.
    func receive(_ fields: String..., from address: String) {
        guard let url = URL(string: address) else { return }
        store(fields.compactMap { SetCookie(parsing: $0) }, from: url)
    }

    /// Returns the cookies of a request, as they are sent.
    func sent(to address: String) -> String {
        (URL(string: address).map(cookies(for:)) ?? []).map(\.rawValue).joined(separator: "; ")
    }
}
