// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The response handling of operations that are created by queues.
protocol NetworkHandling: ResponseHandling where Owner: NetworkOperation<Request> {
    associatedtype Request: NetworkRequest
}

extension NetworkHandling {
    func makeRequest() async throws -> HTTPRequest {
        guard let request = operation.request else { throw CancellationError() }
        return try await request.makeHTTPRequest(operation.configuration)
    }

    func resolve() throws -> RunConfiguration? { try operation.resolve() }
    func fail(_ failure: RunFailure) { operation.fail(failure) }
    func didDeliver() { operation.releaseSource() }
}
