// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

@testable import Requests

/// The responses and requests of the cache tests.
enum CacheSample {
    /// Sun, 06 Nov 1994 08:49:37 GMT, the time of RFC 9110's examples.
    static let start = Date(timeIntervalSince1970: 784_111_777)
    static let url = URL(string: "https://api.example.com/todos/1")!

    static func get(_ headers: HTTPHeaders = [], _ policy: URLRequest.CachePolicy? = nil) -> HTTPRequest {
        get(url, headers, policy)
    }

    static func get(
        _ url: URL,
        _ headers: HTTPHeaders = [],
        _ policy: URLRequest.CachePolicy? = nil
    ) -> HTTPRequest {
        var request = HTTPRequest(url: url, headers: headers)
        if let policy { request.cachePolicy = policy }
        return request
    }

    static func response(
        _ headers: HTTPHeaders = [.cacheControl: "max-age=60"],
        status: HTTPStatus = .ok,
        body: String = "content",
        from url: URL = url
    ) -> HTTPResponse<Data> {
        HTTPResponse(head: HTTPResponseHead(status: status, headers: headers, url: url), body: Data(body.utf8))
    }

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
        let user = ResponseCache.Identity.automatic.parts(of: request)
        self.init(request, user: user, varyingBy: names)
    }
}

/// A wall clock that only a test advances.
final class WallClock: Sendable {
    private let time = Locked(CacheSample.start)

    var now: Date { time.withLock { $0 } }

    func advance(by seconds: TimeInterval) {
        time.withLock { $0 += seconds }
    }
}

/// A directory that is removed with its owner.
final class TemporaryDirectory: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The files in it, in alphabetical order.
    var files: [URL] {
        let files = try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
        return (files ?? []).sorted { $0.path < $1.path }
    }
}

extension ResponseCache {
    /// Returns the content that a caller gets without a request being sent.
    func content(for request: HTTPRequest) -> String? {
        guard case .fresh(let response) = answer(to: request) else { return nil }
        return String(decoding: response.body, as: UTF8.self)
    }

    func store(_ response: HTTPResponse<Data>, for request: HTTPRequest) {
        store(response, for: request, requestedAt: now())
    }
}

extension CacheAnswer {
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
