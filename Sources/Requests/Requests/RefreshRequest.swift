// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request that is made on behalf of another, such as one of a refresh: an operation on no queue, whose bound the
/// operations that wait for it may have used up.
struct RefreshRequest: DataRequest, NamedRequestType {
    static var typeName: String { "HTTPRequest (nested)" }
    typealias Success = HTTPResponse<Data>
    typealias Failure = RequestError

    let http: HTTPRequest

    var identifier: String { "nested: \(http)" }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        completion(Result { try URLRequest(http) })
    }

    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        completion(.success(http))
    }

    func processData(_ data: Data) throws -> HTTPResponse<Data> {
        throw RequestError(.unsupported, phase: .decoding, reason: "a refresh is answered by a whole response")
    }

    func process(_ response: HTTPResponse<Data>) -> HTTPResponse<Data> { response }

    /// Sends the request as a part of the refresh that the task belongs to.
    static func send(
        _ request: HTTPRequest,
        over transport: any HTTPTransport,
        in environment: RequestEnvironment
    ) async throws(RequestError) -> HTTPResponse<Data> {
        let source = RequestSource.value(RefreshRequest(http: request))
        var configuration = OperationConfiguration(source: source, transport: transport, environment: environment)
        configuration.isOnBehalf = true
        let operation = makeOperation(configuration)
        let result = await withTaskCancellationHandler {
            operation.start()
            return await operation.awaitOutcome()
        } onCancel: {
            operation.cancel()
        }
        return try result.get()
    }
}
