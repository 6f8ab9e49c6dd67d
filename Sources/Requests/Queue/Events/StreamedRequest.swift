// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A wrapper that passes the response stream of any request to a waiting caller.
///
/// `Kind` is the type that the caller creates from the stream.
struct StreamedRequest<Base: NetworkRequest, Kind>: StreamRequest, NamedRequestType {
    typealias Success = Void
    typealias Failure = RequestError

    static var typeName: String {
        "\(Base.shownTypeName) (\(Kind.self == ServerSentEvent.Stream.self ? "events" : "stream"))"
    }

    let request: Base
    /// The header fields that replace the request's fields of the same names.
    var fields: HTTPHeaders = []
    var options: RequestOptions
    var bufferSize = 256 * 1024
    let stream = OneShot<Result<ResponseStream, RequestError>>()

    init(request: Base) {
        self.request = request
        options = request.resolvedOptions
        // `makeHTTPRequest` below applies these changes, before it sets the fields.
        options.changes = []
    }

    var identifier: String { request.identifier }
    var validHTTPStatusCodes: [Int] { request.validStatusCodes }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        request.makeURLRequest(completion: completion)
    }

    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        request.makeHTTPRequest(in: environment, changedBy: request.resolvedOptions) { [fields] result in
            completion(result.map { $0.headers(fields) })
        }
    }

    // The operation finishes when the caller no longer needs the stream.
    func process(_ stream: ResponseStream) async throws {
        self.stream.fill(.success(stream.newReference()))
        try await stream.waitUntilOver()
    }
}
