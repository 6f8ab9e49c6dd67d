// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An API without a type of its own: a base URL, without other common settings.
///
/// ```swift
/// let api = AnonymousRequestProvider(baseURL: server)
/// let robots = api.get(.text, from: "/robots.txt")
/// ```
public struct AnonymousRequestProvider: RequestProviding, Hashable {
    /// The URL that the paths of requests are appended to.
    public let baseURL: URL

    /// Makes a provider for a base URL.
    public init(baseURL: URL) {
        self.baseURL = baseURL
    }
}
