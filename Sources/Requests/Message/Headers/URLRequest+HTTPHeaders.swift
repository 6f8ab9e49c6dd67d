// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URLRequest {
    /// The header fields; Foundation keeps neither their order nor fields of the same name apart.
    ///
    /// What can't be sent isn't dropped here, and is refused when this library runs the request.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(self) }
        set { allHTTPHeaderFields = newValue.dictionary }
    }

    /// The method, `GET` where none is set.
    public var method: HTTPMethod {
        get { HTTPMethod(httpMethod ?? "GET") }
        set { httpMethod = newValue.rawValue }
    }
}

extension HTTPHeaders {
    /// Takes over the header fields of a Foundation request, in alphabetical order.
    public init(_ request: URLRequest) {
        self.init(request.allHTTPHeaderFields ?? [:])
    }
}
