// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Query {
    /// Takes over Foundation's items, in their order.
    public init(_ items: [URLQueryItem]) {
        self.init(items.map { Item($0.name, value: $0.value) })
    }

    /// The items as Foundation's.
    ///
    /// `URLComponents` leaves a plus sign as it is when it prints them, which many servers read as a space;
    /// ``percentEncoded`` doesn't.
    public var urlQueryItems: [URLQueryItem] {
        map { URLQueryItem(name: $0.name, value: $0.value) }
    }
}
