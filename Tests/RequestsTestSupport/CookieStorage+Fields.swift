// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

extension Date {
    /// 2026-07-11T00:00:00Z, the present of the tests of cookies.
    package static let ofCookies = Date(timeIntervalSince1970: 1_783_728_000)
}

extension CookieStorage {
    /// Stores the `Set-Cookie` fields of a response.
    package func receive(_ fields: String..., from address: String) {
        guard let url = URL(string: address) else { return }
        store(fields.compactMap { SetCookie(parsing: $0) }, from: url)
    }

    /// Returns the cookies of a request, as they are sent.
    package func sent(to address: String) -> String {
        (URL(string: address).map(cookies(for:)) ?? []).map(\.rawValue).joined(separator: "; ")
    }
}
