// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The transport of requests that name none: the best that the platform has.
///
/// On Apple platforms that is `URLSession.shared`. On Linux it is ``CurlTransport``; where libcurl can't be loaded, as
/// in statically linked programs, it is a ``URLSessionTransport``, whose documentation lists what is worse there.
public enum DefaultTransport {
    /// The one of the process.
    public static let shared: any HTTPTransport = {
        #if os(Linux)
        if CurlTransport.isAvailable { return CurlTransport.shared }
        return URLSessionTransport(configuration: .private)
        #else
        return URLSession.shared
        #endif
    }()

    /// One for a client of its own: it shares no cookies, cache or credentials with anybody.
    static func `private`() -> any HTTPTransport {
        #if os(Linux)
        shared
        #else
        URLSessionTransport(configuration: .private)
        #endif
    }
}

extension URLSessionConfiguration {
    /// Nothing that is kept or shared: no cookies, no cache, no credentials.
    fileprivate static var `private`: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        return configuration
    }
}
