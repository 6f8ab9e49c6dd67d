// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The transport for requests that don't specify one; it is the best transport of the platform.
enum DefaultTransport {
    /// The transport that all requests of the process share.
    static let shared: any HTTPTransport = {
        #if os(Linux)
        if CurlTransport.isAvailable { return CurlTransport.shared }
        return URLSessionTransport(configuration: .private)
        #else
        return URLSession.shared
        #endif
    }()

    /// Returns a transport for a single client; the transport shares no cookies, cache or credentials with other
    /// clients.
    static func `private`() -> any HTTPTransport {
        #if os(Linux)
        shared
        #else
        URLSessionTransport(configuration: .private)
        #endif
    }
}

extension URLSessionConfiguration {
    /// An ephemeral configuration without cookies, a cache or stored credentials.
    fileprivate static var `private`: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        return configuration
    }
}
