// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Clients over a session of Foundation's.

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
    /// Headers and cookies are the environment's when `configure` is called, and stay what it leaves, so that everything
    /// sees them that goes by who the user is: redirects, the cache, coalescing. A configuration without a cookie
    /// storage, or that says `httpShouldSetCookies = false`, has no cookies. Those of the whole process are used where
    /// the environment asks for them: `$0.cookies = FoundationCookieStorage(.shared)`.
    ///
    /// The session's delegate is the library's own, and the session ends when the client and its last request do.
    /// Without a configuration, requests run over libcurl on Linux, which of all this knows nothing: there the
    /// environment says it.
    ///
    /// - Parameters:
    ///   - configuration: What the session is made from; it is copied.
    ///   - maxConcurrentRequests: How many requests run at once; by default as many as the system sees fit.
    ///   - configure: Changes what the requests inherit. What it throws, this does.
    public convenience init(
        configuration: URLSessionConfiguration,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows {
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        let (headers, cookies) = configuration.takeUser()
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
    ///   - baseURL: What relative addresses are appended to; with nil every request fails before it is sent.
    ///   - configuration: What the session is made from; it is copied.
    ///   - maxConcurrentRequests: How many requests run at once; by default as many as the system sees fit.
    ///   - configure: Changes what the requests inherit; nothing by default. What it throws, this does.
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

    /// Makes a client over a `URLSession` of its own whose requests inherit nothing but a jar for cookies; see
    /// ``init(configuration:maxConcurrentRequests:_:)``.
    public convenience init(
        configuration: URLSessionConfiguration,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount
    ) {
        self.init(configuration: configuration, maxConcurrentRequests: maxConcurrentRequests) { _ in }
    }

    /// Makes a client over a `URLSession` of its own whose requests inherit nothing but a base URL and a jar for
    /// cookies; see ``init(configuration:maxConcurrentRequests:_:)``.
    public convenience init(
        baseURL: URL?,
        configuration: URLSessionConfiguration,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount
    ) {
        self.init(
            baseURL: baseURL,
            configuration: configuration,
            maxConcurrentRequests: maxConcurrentRequests
        ) { _ in }
    }
}

// MARK: - User

extension URLSessionConfiguration {
    /// Takes out what says who the user is, for an environment to say it.
    func takeUser() -> (headers: HTTPHeaders, cookies: (any CookieStorage)?) {
        let user = (headers, cookies)
        httpAdditionalHeaders = nil
        httpCookieStorage = nil
        httpShouldSetCookies = false
        return user
    }

    private var cookies: (any CookieStorage)? {
        guard httpShouldSetCookies, let storage = FoundationCookieStorage(of: self) else { return nil }
        guard httpCookieStorage === HTTPCookieStorage.shared else { return storage }
        // What the whole process shares is no user's: a jar takes its place, where cookies are kept at all.
        return httpCookieAcceptPolicy == .never ? nil : CookieJar()
    }
}
