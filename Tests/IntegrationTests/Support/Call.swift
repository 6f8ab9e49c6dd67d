// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A request of any kind, whose value is the content of the response.
struct Call: DataRequest {
    typealias Success = Data
    typealias Failure = RequestError

    var http: HTTPRequest
    var options = RequestOptions()

    init(
        _ url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        options configure: (inout RequestOptions) -> Void = { _ in }
    ) {
        http = HTTPRequest(url: url, method: method, headers: headers, body: body)
        configure(&options)
    }

    var identifier: String { "\(http.method) \(http.url)" }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(Result { try URLRequest(http) })
    }

    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        completion(.success(http))
    }
}

extension TransportUnderTest {
    /// Sends a call on its own queue.
    func send(
        _ call: Call,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) async throws(RequestError) -> HTTPResponse<Data> {
        try await OperationQueue().send(call, session: makeSession(configure))
    }
}

extension HTTPResponse<Data> {
    /// The content as text.
    var text: String { String(decoding: body, as: UTF8.self) }
}
