// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Clients over a session of Foundation.

extension HTTPClient {
    /// Makes a client whose requests run over a `URLSession` of its own, made from a configuration.
    ///
    /// | of the configuration | applies |
    /// |---|---|
    /// | protocol classes, proxies, timeouts, connections per host | on every platform |
    /// | additional headers | on every platform, as the environment's headers |
    /// | cookie storage | on every platform, as the environment's cookies; `HTTPCookieStorage.shared` gives way to a jar |
    /// | URL cache, credential storage, TLS versions, cellular and expensive networks, HTTP/3 | on Apple platforms |
    /// | background | nowhere: operations don't outlive the process |
    ///
    /// Headers and cookies are in the environment when `configure` is called, which may change them. So they are known
    /// to everything that depends on the user: redirects, the cache, coalescing. A configuration without a cookie
    /// storage, or with `httpShouldSetCookies = false`, has no cookies. Those of the whole process are used if the
    /// environment says so: `$0.cookies = FoundationCookieStorage(.shared)`.
    ///
    /// The session's delegate is the library's own, and the session ends when the client and its last request do.
    /// Without a configuration, requests run over libcurl on Linux, which ignores all these settings: there, use the
    /// environment.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the session; it is copied.
    ///   - maxConcurrentRequests: The maximum number of concurrent requests; by default the system decides.
    ///   - configure: Changes the environment. An error that it throws is thrown here.
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

    /// Makes a client whose requests run over a `URLSession` of its own; see
    /// ``init(configuration:maxConcurrentRequests:_:)``.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that relative addresses are appended to; with `nil` every request fails before it is sent.
    ///   - configuration: The configuration of the session; it is copied.
    ///   - maxConcurrentRequests: The maximum number of concurrent requests; by default the system decides.
    ///   - configure: Changes the environment; does nothing by default. An error that it throws is thrown here.
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

    /// Makes a client over a `URLSession` of its own whose requests inherit only a jar for cookies; see
    /// ``init(configuration:maxConcurrentRequests:_:)``.
    public convenience init(
        configuration: URLSessionConfiguration,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount
    ) {
        self.init(configuration: configuration, maxConcurrentRequests: maxConcurrentRequests) { _ in }
    }

    /// Makes a client over a `URLSession` of its own whose requests inherit only a base URL and a jar for cookies; see
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
        // Storage that the whole process shares is replaced by a jar, if cookies are stored at all.
        return httpCookieAcceptPolicy == .never ? nil : CookieJar()
    }
}
