// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Takes over a Foundation request.
    ///
    /// Foundation's default timeout of 60 seconds counts as "not set", since the two can't be told apart, and so does
    /// one that isn't positive.
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
        // Infinity is how Foundation's callers say "for ever", and a Duration traps on it; thirty years are as good.
        let seconds = request.timeoutInterval
        timeout = seconds > 0 && seconds != 60 ? .seconds(min(seconds, 1e9)) : nil
        cachePolicy = request.cachePolicy
        allowsCellularAccess = request.allowsCellularAccess
    }
}

extension URLRequest {
    /// Makes a Foundation request of a request, for a transport or a library that wants one.
    ///
    /// What Foundation can't carry is left out: the body where it is a file or a stream, or isn't encoded yet (see
    /// ``HTTPBody/resolved()``), and the order of the headers.
    /// Fields that stand there several times are joined.
    public init(_ request: HTTPRequest) {
        // What has no base can't be resolved, and stays relative.
        var resolved = request
        try? resolved.resolve(baseURL: nil, inheriting: [])
        self.init(url: resolved.url, cachePolicy: request.cachePolicy)
        httpMethod = request.method.rawValue
        allowsCellularAccess = request.allowsCellularAccess
        allHTTPHeaderFields = request.headers.joinedByName
        if case .data(let data) = request.body.content { httpBody = data }
        if let timeout = request.timeout { timeoutInterval = timeout / .seconds(1) }
    }
}

extension HTTPHeaders {
    /// One value for each name, as it is spelled first.
    fileprivate var joinedByName: [String: String] {
        var joined: [String: String] = [:]
        for (name, fields) in Dictionary(grouping: self, by: \.name) {
            joined[fields[0].name.rawValue] = fields.count == 1 ? fields[0].value : HTTPHeaders(fields)[name]
        }
        return joined
    }
}
