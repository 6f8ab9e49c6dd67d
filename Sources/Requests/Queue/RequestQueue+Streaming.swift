// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestQueue {
    /// Runs a request on this queue, and returns its content as it arrives.
    ///
    /// ```swift
    /// let stream = try await client.stream(HTTPRequest("https://example.com/log"))
    /// for try await chunk in stream { … }
    /// ```
    ///
    /// The operation keeps its place in the queue until the stream is consumed to its end, or deallocated, which
    /// cancels the transfer. Cancelling the task that waits for the head cancels it too.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - bufferSize: The number of unconsumed bytes above which the transfer pauses; 256 KiB by default.
    /// - Returns: The stream of a good response, when its head was received.
    /// - Throws: The failure of the request; for a status that isn't accepted, it has the content.
    public func stream(
        _ request: some NetworkRequest,
        session: (any HTTPTransport)? = nil,
        bufferSize: Int = 256 * 1024
    ) async throws(RequestError) -> ResponseStream {
        let handover = StreamHandover()
        let operation = makeOperation(
            for: HandedOverRequest(request: request, bufferSize: bufferSize, handover: handover),
            session: session
        )
        operation.observe { handover.finish($0) }
        place(operation)
        let result = await withTaskCancellationHandler {
            await handover.result()
        } onCancel: {
            operation.cancel()
        }
        return try result.get()
    }
}

/// Any request, whose stream is passed to the waiting caller.
private struct HandedOverRequest<Base: NetworkRequest>: StreamRequest, NamedRequestType {
    typealias Success = Void
    typealias Failure = RequestError

    // Connections for events are named by their request alone.
    static var typeName: String {
        Base.self is any EventSource.Type ? Base.shownTypeName : "\(Base.shownTypeName) (stream)"
    }

    let request: Base
    let bufferSize: Int
    let handover: StreamHandover

    var identifier: String { request.identifier }
    var options: RequestOptions { request.resolvedOptions }
    var validHTTPStatusCodes: [Int] { request.validStatusCodes }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        request.makeURLRequest(completion: completion)
    }

    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        request.makeHTTPRequest(in: environment, completion: completion)
    }

    func process(_ stream: ResponseStream) async throws {
        await handover.give(stream)
    }
}

/// Passes a stream from the operation to the caller, and notifies the operation when the caller is done with it.
private final class StreamHandover: Sendable {
    private let promise = Promise<Result<ResponseStream, RequestError>>()

    func result() async -> Result<ResponseStream, RequestError> { await promise.take() }

    /// Passes the stream, and returns when it is over.
    func give(_ stream: ResponseStream) async {
        promise.keep(.success(stream.handedOver()))
        await stream.over()
    }

    func finish(_ outcome: Result<Void, RequestError>) {
        if case .failure(let error) = outcome { promise.keep(.failure(error)) }
    }
}
