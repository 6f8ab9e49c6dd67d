// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Makes a request of a Foundation request, with all its properties.
    ///
    /// | property | becomes |
    /// |---|---|
    /// | `url`, `httpMethod`, `allHTTPHeaderFields` | ``url``, ``method``, ``headers`` |
    /// | `httpBody`, `httpBodyStream` | ``body``; a stream can be sent once |
    /// | `timeoutInterval` | ``timeout``, unless it is Foundation's 60 seconds or isn't positive |
    /// | `cachePolicy` | ``cachePolicy`` |
    /// | `allowsCellularAccess` | ``allowsCellularAccess`` |
    /// | `httpShouldHandleCookies` | ``usesCookies`` |
    /// | `mainDocumentURL`, `networkServiceType` | kept, and given to a `URLSession`; libcurl has no such thing |
    /// | `httpShouldUsePipelining` | kept on Apple platforms; nothing on Linux pipelines |
    ///
    /// `allowsExpensiveNetworkAccess`, `allowsConstrainedNetworkAccess`, `assumesHTTP3Capable`, `attribution`,
    /// `requiresDNSSECValidation` and whatever a later system adds, which only Apple platforms have, are kept and given
    /// to a `URLSession`.
    ///
    /// Stored properties stay over redirects and retries, and are restored in
    /// ``RequestConvertible/toURLRequest(baseURL:)`` and in the closure of `modifyingURLRequest`.
    ///
    /// - Throws: ``InvalidValue`` if the request has no URL. Everything else is checked when the request is sent.
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
        timeout = request.timeoutInterval == URLRequest.plain.timeoutInterval ? nil : request.timeout
        cachePolicy = request.cachePolicy
        allowsCellularAccess = request.allowsCellularAccess
        usesCookies = request.httpShouldHandleCookies
        fields.template = request.template
    }
}

extension URLRequest {
    /// Makes a Foundation request of a request, without opening a file or a stream.
    init(withoutStreamsOf request: HTTPRequest) {
        // Without a base it can't be resolved, and stays relative.
        var resolved = request
        try? resolved.resolve(base: nil)
        // Without values that an encoder still has to write.
        self.init(url: resolved.fields.address.url, template: request.fields.template)
        cachePolicy = request.cachePolicy
        httpMethod = request.method.rawValue
        allowsCellularAccess = request.allowsCellularAccess
        httpShouldHandleCookies = request.usesCookies
        allHTTPHeaderFields = request.headers.dictionary
        if case .data(let data) = request.body.content { httpBody = data }
        if let timeout = request.timeout { timeoutInterval = timeout / .seconds(1) }
    }

    /// Makes a request for an address with the properties of another one.
    init(url: URL, template: URLRequest?) {
        self = template ?? URLRequest(url: url)
        self.url = url
    }

    /// The properties that an ``HTTPRequest`` has no field for; `nil` if they all have their defaults.
    fileprivate var template: URLRequest? {
        #if canImport(FoundationNetworking)
        // Only these are used there, and a copy of the request is avoided.
        guard mainDocumentURL != nil || networkServiceType != .default else { return nil }
        #endif
        // Later systems have more properties than can be listed here, so all are kept except those that have a field.
        var template = self
        // Foundation of Linux traps on a request without an address.
        template.url = URLRequest.plain.url
        template.cachePolicy = .useProtocolCachePolicy
        template.timeoutInterval = URLRequest.plain.timeoutInterval
        template.allowsCellularAccess = true
        template.httpShouldHandleCookies = true
        template.httpMethod = URLRequest.plain.httpMethod
        template.allHTTPHeaderFields = nil
        template.httpBodyStream = nil
        template.httpBody = nil
        return template
    }

    /// The maximum time without data; `nil` if that isn't positive.
    ///
    /// Infinity, which callers of Foundation use for "for ever", becomes about thirty years, since a `Duration` traps
    /// on it.
    var timeout: Duration? { timeoutInterval > 0 ? Duration(clampedSeconds: timeoutInterval) : nil }

    fileprivate static let plain = URLRequest(url: URL(filePath: "/"))

    /// The networkAccessFlags that may carry the request, as far as they aren't a field of an ``HTTPRequest``: Foundation doesn't
    /// compare them.
    var networkAccessFlags: [Bool] {
        #if canImport(FoundationNetworking)
        []
        #else
        [allowsExpensiveNetworkAccess, allowsConstrainedNetworkAccess]
        #endif
    }
}
