// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that builds the request without sending it.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds only a constant.
final class PreparationOperation<R: NetworkRequest>: AnyRequestOperation, @unchecked Sendable {
    fileprivate let request: R

    /// Creates an operation that is never queued or started.
    init(_ request: R, over transport: any HTTPTransport, in environment: RequestEnvironment) {
        self.request = request
        let scope = NestingContext.current
        let (options, statuses) = (request.resolvedOptions, request.validStatusCodes)
        let configuration = RunConfiguration.of(options, statuses, in: environment, scope: scope)
        super.init(configuration, over: transport, scope: scope, PreparationHandling<R>.self)
    }

    /// Returns the request that would be sent; cancelling the task stops waiting for the request or a credential.
    ///
    /// - Throws: The error with which the operation of the request would fail before its first transfer.
    func prepared() async throws(RequestError) -> HTTPRequest {
        let task = RunExecutor.task { [self] in await prepareResult() }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    private func prepareResult() async -> Result<HTTPRequest, RequestError> {
        do throws(RunFailure) {
            return .success(try await Attempt(1, of: self, configuration).prepareRequest())
        } catch {
            return .failure(Task.isCancelled ? makeCancellation() : recordFailure(error))
        }
    }

    override var identifier: String? { request.identifier }

    /// Calls `prepare` of the request's operation class, which the caller may have subclassed.
    override func prepare(_ request: inout HTTPRequest) throws {
        var environment = configuration.environment
        environment.monitors = []
        let own = self.request
        // The source is deferred, because an operation with an existing request would report to that request's
        // monitors.
        let source = RequestSource.deferred(mapError: own.mapError) { own }
        let operation = R.makeOperation(
            OperationConfiguration(
                source: source,
                transport: ownTransport ?? DefaultTransport.shared,
                environment: environment
            )
        )
        _ = try operation.resolveRequest()
        try operation.prepare(&request)
    }
}

/// The response handling of an operation that builds a request and never sends it.
private struct PreparationHandling<Request: NetworkRequest>: LocalHandling {
    let operation: PreparationOperation<Request>

    func makeRequest() async throws -> HTTPRequest {
        try await operation.request.makeHTTPRequest(operation.configuration)
    }
}
