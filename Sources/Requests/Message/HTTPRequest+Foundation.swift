// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Creates a request from a Foundation request, keeping all its properties.
    ///
    /// | property | becomes |
    /// |---|---|
    /// | `url`, `httpMethod`, `allHTTPHeaderFields` | ``url``, ``method``, ``headers`` |
    /// | `httpBody`, `httpBodyStream` | ``body``; a stream can be sent only once |
    /// | `timeoutInterval` | ``timeout``, unless it is Foundation's default of 60 seconds or isn't positive |
    /// | `cachePolicy` | ``cachePolicy`` |
    /// | `allowsCellularAccess` | ``allowsCellularAccess`` |
    /// | `httpShouldHandleCookies` | ``usesCookies`` |
    /// | `mainDocumentURL`, `networkServiceType` | kept and passed to `URLSession`; libcurl has no equivalent |
    /// | `httpShouldUsePipelining` | kept on Apple platforms; no transport on Linux supports pipelining |
    ///
    /// Properties that exist only on Apple platforms are kept and passed to `URLSession`:
    /// `allowsExpensiveNetworkAccess`, `allowsConstrainedNetworkAccess`, `assumesHTTP3Capable`, `attribution`,
    /// `requiresDNSSECValidation`, and any property that a later OS version adds.
    ///
    /// Kept properties survive redirects and retries. ``RequestConvertible/toURLRequest(baseURL:)`` and the closure of
    /// `modifyingURLRequest` restore them.
    ///
    /// - Throws: ``InvalidValue`` if the request has no URL. Everything else is validated when the request is sent.
    public init(_ request: URLRequest) throws(InvalidValue) {
        guard let url = request.url else { throw InvalidValue(.url, "is missing") }
        self.init(url: url.baseURL == nil ? url : url.absoluteURL, method: HTTPMethod(request.httpMethod ?? "GET"))
        if let fields = request.allHTTPHeaderFields, !fields.isEmpty {
            headers = HTTPHeaders(fields)
        }
        if let data = request.httpBody {
            body = .data(data, type: nil)
        } else if let stream = request.httpBodyStream {
            body = .stream(HTTPBody.Stream(stream), type: nil)
        }
        timeout = request.timeoutInterval == URLRequest.defaults.timeoutInterval ? nil : request.timeout
        cachePolicy = request.cachePolicy
        allowsCellularAccess = request.allowsCellularAccess
        usesCookies = request.httpShouldHandleCookies
        fields.template = request.template
    }
}

extension URLRequest {
    /// Creates a Foundation request from a request, without opening files or streams.
    init(withoutStreamsOf request: HTTPRequest) {
        // If the URL can't be resolved without a base, it stays relative.
        var resolved = request
        try? resolved.resolve(base: nil)
        // The URL excludes query values that aren't encoded yet.
        self.init(url: resolved.fields.address.url, template: request.fields.template)
        cachePolicy = request.cachePolicy
        httpMethod = request.method.rawValue
        allowsCellularAccess = request.allowsCellularAccess
        httpShouldHandleCookies = request.usesCookies
        allHTTPHeaderFields = request.headers.dictionary
        if case .data(let data) = request.body.content { httpBody = data }
        if let timeout = request.timeout { timeoutInterval = timeout / .seconds(1) }
    }

    /// Creates a request for a URL, with the properties of another request.
    init(url: URL, template: URLRequest?) {
        self = template ?? URLRequest(url: url)
        self.url = url
    }

    /// The properties for which ``HTTPRequest`` has no field; `nil` if they all have their default values.
    fileprivate var template: URLRequest? {
        #if canImport(FoundationNetworking)
        // Foundation on Linux uses only these two properties. Returning early avoids copying the request.
        guard mainDocumentURL != nil || networkServiceType != .default else { return nil }
        #endif
        // Later OS versions may add properties that can't be listed here, so copy the entire request, and reset the
        // properties that `HTTPRequest` has fields for.
        var template = self
        // Foundation on Linux traps for a request without a URL.
        template.url = URLRequest.defaults.url
        template.cachePolicy = .useProtocolCachePolicy
        template.timeoutInterval = URLRequest.defaults.timeoutInterval
        template.allowsCellularAccess = true
        template.httpShouldHandleCookies = true
        template.httpMethod = URLRequest.defaults.httpMethod
        template.allHTTPHeaderFields = nil
        template.httpBodyStream = nil
        template.httpBody = nil
        return template
    }

    /// The idle timeout, that is, the maximum time without data in either direction; `nil` if it isn't positive.
    ///
    /// Callers of Foundation use infinity for no timeout. Infinity becomes about thirty years, because `Duration` traps
    /// on it.
    var timeout: Duration? { timeoutInterval > 0 ? Duration(clampedSeconds: timeoutInterval) : nil }

    fileprivate static let defaults = URLRequest(url: URL(filePath: "/"))

    /// The network access settings for which ``HTTPRequest`` has no field.
    ///
    /// Foundation ignores them when it compares requests.
    var networkAccessFlags: [Bool] {
        #if canImport(FoundationNetworking)
        []
        #else
        [allowsExpensiveNetworkAccess, allowsConstrainedNetworkAccess]
        #endif
    }
}
