// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport

@testable import Requests

extension CacheSample {
    static func cached(
        _ headers: HTTPHeaders = [.cacheControl: "max-age=60"],
        status: HTTPStatus = .ok,
        body: String = "content",
        requestedAt: Date = start,
        receivedAt: Date = start
    ) -> CachedResponse {
        CachedResponse(
            status: status,
            headers: headers,
            body: Data(body.utf8),
            requestedAt: requestedAt,
            receivedAt: receivedAt
        )
    }
}

extension CacheKey {
    /// The key of a request whose cookies all identify a user.
    init(_ request: HTTPRequest, varyingBy names: [HTTPField.Name] = []) {
        self.init(request, ResponseCache.Identity.automatic.parts(of: request), varyingBy: names)
    }
}

extension ResponseCache {
    /// Returns the content that a caller gets without a request being sent.
    func content(for request: HTTPRequest) -> String? {
        guard case .fresh(let response) = answer(to: request) else { return nil }
        return String(decoding: response.body, as: UTF8.self)
    }

    private func use(by request: HTTPRequest) -> CacheTransaction { CacheTransaction(of: self, by: request, .standard) }

    func answer(to request: HTTPRequest) -> CacheDecision { use(by: request).decision(isRetry: false) }

    func answer(insteadOfError stored: CachedResponse, for request: HTTPRequest) -> HTTPResponse<Data>? {
        use(by: request).staleResponse(insteadOfError: stored)
    }

    func store(_ response: HTTPResponse<Data>, for request: HTTPRequest, requestedAt: Date? = nil) {
        use(by: request).store(response, requestedAt: requestedAt ?? now())
    }

    /// Stores a response again after a 304.
    func refresh(
        _ stored: CachedResponse,
        with head: HTTPResponseHead,
        for request: HTTPRequest,
        requestedAt: Date
    ) -> HTTPResponse<Data> {
        let response = stored.validated(by: head.headers, for: request.url)
        store(response, for: request, requestedAt: requestedAt)
        return response
    }
}

extension CacheDecision {
    /// The answer in one word, for tables.
    var word: String {
        switch self {
        case .miss: "miss"
        case .fresh: "fresh"
        case .revalidate(_, let stored): stored.validators.isEmpty ? "miss" : "revalidate"
        case .stale: "stale"
        case .unavailable: "unavailable"
        }
    }

    /// The request to send; `nil` if none is needed.
    var request: HTTPRequest? {
        switch self {
        case .miss(let request), .revalidate(let request, stored: _), .stale(_, revalidate: let request, stored: _):
            request
        case .fresh, .unavailable: nil
        }
    }
}
