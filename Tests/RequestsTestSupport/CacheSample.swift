// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The responses and requests of the cache tests.
package enum CacheSample {
    package static let start = ManualDate.ofExamples
    package static let url = URL(string: "https://api.example.com/todos/1")!

    package static func get(_ headers: HTTPHeaders = [], _ policy: URLRequest.CachePolicy? = nil) -> HTTPRequest {
        get(url, headers, policy)
    }

    package static func get(
        _ url: URL,
        _ headers: HTTPHeaders = [],
        _ policy: URLRequest.CachePolicy? = nil
    ) -> HTTPRequest {
        var request = HTTPRequest(url: url, headers: headers)
        if let policy { request.cachePolicy = policy }
        return request
    }

    package static func response(
        _ headers: HTTPHeaders = [.cacheControl: "max-age=60"],
        status: HTTPStatus = .ok,
        body: String = "content",
        from url: URL = url
    ) -> HTTPResponse<Data> {
        HTTPResponse(head: HTTPResponseHead(status: status, headers: headers, url: url), body: Data(body.utf8))
    }
}
