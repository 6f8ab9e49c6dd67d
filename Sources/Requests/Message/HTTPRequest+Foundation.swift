// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Takes over a Foundation request, with every property that it has.
    ///
    /// | property | becomes |
    /// |---|---|
    /// | `url`, `httpMethod`, `allHTTPHeaderFields` | ``url``, ``method``, ``headers`` |
    /// | `httpBody`, `httpBodyStream` | ``body``; a stream can be sent once |
    /// | `timeoutInterval` | ``timeout``; 60 seconds, Foundation's default, and values that aren't positive count as "not set" |
    /// | `cachePolicy` | ``cachePolicy`` |
    /// | `allowsCellularAccess` | ``allowsCellularAccess`` |
    /// | `httpShouldHandleCookies` | ``usesCookies`` |
    /// | `mainDocumentURL`, `networkServiceType` | kept, and given to a `URLSession`; libcurl has no such thing |
    /// | `allowsExpensiveNetworkAccess`, `allowsConstrainedNetworkAccess`, `assumesHTTP3Capable`, `attribution`, `requiresDNSSECValidation` and whatever a later system adds | kept, and given to a `URLSession`; only Apple platforms have them |
    /// | `httpShouldUsePipelining` | kept on Apple platforms; nothing on Linux pipelines |
    ///
    /// What is kept goes along with redirects and retries, and comes back in ``RequestConvertible/toURLRequest(baseURL:)``
    /// and in the closure of `modifyingURLRequest`.
    ///
    /// - Throws: ``InvalidRequest`` where the request has no URL. Everything else is checked when the request is sent.
    public init(_ request: URLRequest) throws(InvalidRequest) {
        guard let url = request.url else { throw InvalidRequest(.url, "is missing") }
        self.init(url: url.baseURL == nil ? url : url.absoluteURL, method: HTTPMethod(request.httpMethod ?? "GET"))
        if let fields = request.allHTTPHeaderFields, !fields.isEmpty {
            headers = HTTPHeaders(fields)
        }
        if let data = request.httpBody {
            body = .data(data, type: nil)
        } else if let stream = request.httpBodyStream {
            body = .stream(BodyStream(stream), type: nil)
        }
        timeout = request.timeoutInterval == URLRequest.plain.timeoutInterval ? nil : request.timeout
        cachePolicy = request.cachePolicy
        allowsCellularAccess = request.allowsCellularAccess
        usesCookies = request.httpShouldHandleCookies
        template = request.template
    }
}

extension URLRequest {
    /// Makes a Foundation request of a request, for a library that wants one.
    ///
    /// The content is encoded here. A file and a stream become `httpBodyStream`, opened, and where their length is known a
    /// `Content-Length`, without which they would be sent in chunks. The result can then be sent once. A stream that can be
    /// sent once only is handed over, and can't be sent by the request any more. What Foundation can't carry is left out: the
    /// order of the headers. Fields that stand there several times are joined.
    ///
    /// - Throws: What the encoding of the body throws, and ``InvalidRequest`` for a file that can't be read.
    public init(_ request: HTTPRequest) throws {
        var request = request
        let implied = request.applyHeaders(of: [])
        if request.body.isDeferred { try request.resolveBody(implied: implied) }
        self.init(withoutStreamsOf: request)
        switch request.body.content {
        case .none, .data: break
        case .file(let url):
            guard FileManager.default.isReadableFile(atPath: url.path) else {
                throw InvalidRequest(.body, "isn't a file that can be read", excerpt: url.lastPathComponent)
            }
            httpBodyStream = try request.body.content.open()
            declare(length: try? url.sizeOfFile())
        case .stream(let stream):
            httpBodyStream = try stream.open()
            declare(length: stream.length)
        }
    }

    private mutating func declare(length: Int64?) {
        guard let length, value(forHTTPHeaderField: "Content-Length") == nil else { return }
        setValue("\(length)", forHTTPHeaderField: "Content-Length")
    }

    /// Makes a Foundation request of a request, whose body isn't opened where it is a file or a stream.
    init(withoutStreamsOf request: HTTPRequest) {
        // What has no base can't be resolved, and stays relative.
        var resolved = request
        try? resolved.resolve(baseURL: nil, inheriting: [])
        self.init(url: resolved.url, template: request.template)
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

    /// The properties that an ``HTTPRequest`` has no field for; nil if they all have their defaults.
    fileprivate var template: URLRequest? {
        #if canImport(FoundationNetworking)
        // These are all that anything there knows of, and a copy of the request is to be spared.
        guard mainDocumentURL != nil || networkServiceType != .default else { return nil }
        #endif
        // Later systems have more of them than can be listed here, and so all are kept but those that have a field.
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

    /// How long a transfer may stay silent; `nil` if that isn't positive.
    ///
    /// Infinity is how Foundation's callers say "for ever", and a `Duration` traps on it; thirty years are as good.
    var timeout: Duration? { timeoutInterval > 0 ? .seconds(min(timeoutInterval, 1e9)) : nil }

    fileprivate static let plain = URLRequest(url: URL(filePath: "/"))

    /// Which networks may carry the request, as far as that isn't a field of an ``HTTPRequest``: Foundation doesn't
    /// compare it.
    var networks: [Bool] {
        #if canImport(FoundationNetworking)
        []
        #else
        [allowsExpensiveNetworkAccess, allowsConstrainedNetworkAccess]
        #endif
    }
}
