// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An API that needs no separate type, because it has a base URL but no other shared settings.
///
/// ```swift
/// let api = AnonymousRequestProvider(baseURL: server)
/// let robots = api.get(.text, from: "/robots.txt")
/// ```
public struct AnonymousRequestProvider: RequestProviding, Hashable {
    /// The URL that the paths of requests are appended to.
    public let baseURL: URL

    /// Creates a provider for a base URL.
    public init(baseURL: URL) {
        self.baseURL = baseURL
    }
}
