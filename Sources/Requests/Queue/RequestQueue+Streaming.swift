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
    public func stream<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        bufferSize: Int = 256 * 1024
    ) async throws(RequestError) -> ResponseStream {
        let stream = OneShot<Result<ResponseStream, RequestError>>()
        let handedOver = HandedOverRequest(request: request, bufferSize: bufferSize, stream: stream)
        var operation: AnyRequestOperation? = makeOperation(for: handedOver, session: session)
        let cancellation = Cancellation(of: operation)
        operation?.whenThereIsAResult { result in
            guard case .failure(let error) = RequestOperation<HandedOverRequest<R>>.unboxed(result) else { return }
            stream.fill(.failure(error))
        }
        add(&operation)
        return try await withTaskCancellationHandler {
            await stream.value()
        } onCancel: {
            cancellation()
        }.get()
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
    let stream: OneShot<Result<ResponseStream, RequestError>>

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

    // The operation is finished when the caller is done with the stream.
    func process(_ stream: ResponseStream) async throws {
        self.stream.fill(.success(stream.handedOver()))
        await stream.over()
    }
}
