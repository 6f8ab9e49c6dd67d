// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Any request, whose stream is passed to the waiting caller; `Kind` is what the caller makes of it.
struct StreamedRequest<Base: NetworkRequest, Kind>: StreamRequest, NamedRequestType {
    typealias Success = Void
    typealias Failure = RequestError

    static var typeName: String {
        "\(Base.shownTypeName) (\(Kind.self == ServerSentEvent.Stream.self ? "events" : "stream"))"
    }

    let request: Base
    /// Fields that replace those of the request.
    var fields: HTTPHeaders = []
    var options: RequestOptions
    var bufferSize = 256 * 1024
    let stream = OneShot<Result<ResponseStream, RequestError>>()

    init(request: Base) {
        self.request = request
        options = request.resolvedOptions
        // They are applied below, before the fields.
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

    // The operation is finished when the caller is done with the stream.
    func process(_ stream: ResponseStream) async throws {
        self.stream.fill(.success(stream.newReference()))
        try await stream.waitUntilOver()
    }
}
