// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The transport of requests that name none: the best that the platform has.
enum DefaultTransport {
    /// The shared transport of the process.
    static let shared: any HTTPTransport = {
        #if os(Linux)
        if CurlTransport.isAvailable { return CurlTransport.shared }
        return URLSessionTransport(configuration: .private)
        #else
        return URLSession.shared
        #endif
    }()

    /// Makes a transport for a single client: it shares no cookies, cache or credentials with others.
    static func `private`() -> any HTTPTransport {
        #if os(Linux)
        shared
        #else
        URLSessionTransport(configuration: .private)
        #endif
    }
}

extension URLSessionConfiguration {
    /// A configuration without stored or shared state: no cookies, no cache, no credentials.
    fileprivate static var `private`: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        return configuration
    }
}
