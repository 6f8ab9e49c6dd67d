// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Clients that are based on a `URLSession`.

extension HTTPClient {
    /// Creates a client with its own `URLSession`, which is created from a configuration.
    ///
    /// | property of the configuration | applies |
    /// |---|---|
    /// | protocol classes, proxies, timeouts, connections per host | on every platform |
    /// | additional headers | on every platform, as the environment's headers |
    /// | cookie storage | on every platform, as the environment's cookies; a jar replaces `HTTPCookieStorage.shared` |
    /// | URL cache, credential storage, TLS versions, cellular and expensive networks, HTTP/3 | on Apple platforms |
    /// | background | nowhere, because operations don't outlive the process |
    ///
    /// Headers and cookies become part of the environment, and `configure` may then change them. Therefore redirects,
    /// the cache and coalescing take them into account. If the configuration has no cookie storage, or
    /// `httpShouldSetCookies = false`, the client has no cookies. To use the cookies of the entire process, set
    /// `$0.cookies = FoundationCookieStorage(.shared)`.
    ///
    /// The session has a built-in delegate, and ends with the client and its last request. On Linux, requests without a
    /// configuration run over libcurl, which ignores all of these settings; use the environment there.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the session, which is copied.
    ///   - maxConcurrentRequests: The maximum number of concurrent requests; by default, the system decides.
    ///   - configure: Changes the environment. This initializer rethrows its errors.
    public convenience init(
        configuration: URLSessionConfiguration,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows {
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        let (headers, cookies) = configuration.extractHeadersAndCookies()
        try self.init(
            maxConcurrentRequests: maxConcurrentRequests,
            transport: URLSessionTransport(configuration: configuration)
        ) {
            $0.headers = headers
            $0.cookies = cookies
            try configure(&$0)
        }
    }

    /// Creates a client with a base URL and its own `URLSession`; see ``init(configuration:maxConcurrentRequests:_:)``.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that relative URLs are appended to. With `nil`, every request fails before it is sent.
    ///   - configuration: The configuration of the session, which is copied.
    ///   - maxConcurrentRequests: The maximum number of concurrent requests; by default, the system decides.
    ///   - configure: Changes the environment, which already has the base URL. This initializer rethrows its errors.
    public convenience init(
        baseURL: URL?,
        configuration: URLSessionConfiguration,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows {
        try self.init(configuration: configuration, maxConcurrentRequests: maxConcurrentRequests) {
            $0.setBaseURL(baseURL)
            try configure(&$0)
        }
    }

    /// Creates a client with its own `URLSession`, without further settings; see
    /// ``init(configuration:maxConcurrentRequests:_:)``.
    public convenience init(
        configuration: URLSessionConfiguration,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount
    ) {
        self.init(configuration: configuration, maxConcurrentRequests: maxConcurrentRequests) { _ in }
    }

    /// Creates a client with its own `URLSession` and a base URL, without further settings; see
    /// ``init(configuration:maxConcurrentRequests:_:)``.
    public convenience init(
        baseURL: URL?,
        configuration: URLSessionConfiguration,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount
    ) {
        self.init(baseURL: baseURL, configuration: configuration, maxConcurrentRequests: maxConcurrentRequests) { _ in }
    }
}

// MARK: - User

extension URLSessionConfiguration {
    /// Removes the user's headers and cookies, and returns them for an environment.
    func extractHeadersAndCookies() -> (headers: HTTPHeaders, cookies: (any CookieStorage)?) {
        let user = (headers, cookies)
        httpAdditionalHeaders = nil
        httpCookieStorage = nil
        httpShouldSetCookies = false
        return user
    }

    private var cookies: (any CookieStorage)? {
        guard httpShouldSetCookies, let storage = FoundationCookieStorage(of: self) else { return nil }
        guard httpCookieStorage === HTTPCookieStorage.shared else { return storage }
        // A jar replaces cookie storage that the entire process shares, unless no cookies are accepted at all.
        return httpCookieAcceptPolicy == .never ? nil : CookieJar()
    }
}
