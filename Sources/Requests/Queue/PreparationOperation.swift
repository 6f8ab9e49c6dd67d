// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Makes a request as its operation would send it, without sending it.
// Sendable: Operation requires restating it; the only addition here is a constant.
final class PreparationOperation<R: NetworkRequest>: AnyRequestOperation, @unchecked Sendable {
    private let request: R

    /// Makes the operation, which stands in no queue and is never started.
    init(_ request: R, over transport: any HTTPTransport, in environment: RequestEnvironment) {
        self.request = request
        let scope = RunScope.current
        let plan = RunPlan.make(request.resolvedOptions, request.validStatusCodes, in: environment, scope: scope)
        super.init(RunSettings(transport: transport, environment: environment, scope: scope, plan: plan))
    }

    /// Returns the request; cancelling the task ends the wait for a request or a credential.
    ///
    /// - Throws: The failure that the operation of the request would have before its first transfer.
    func prepared() async throws(RequestError) -> HTTPRequest {
        let task = RunExecutor.task { [self] in await prepareResult() }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    private func prepareResult() async -> Result<HTTPRequest, RequestError> {
        guard let plan = settings.plan else { return .failure(makeCancellation()) }
        do throws(RunFailure) {
            return .success(try await Try(1, of: self, plan, isObserved: false).prepareRequest())
        } catch {
            return .failure(Task.isCancelled ? makeCancellation() : settled(error))
        }
    }

    override var identifier: String? { request.identifier }

    override func makeRequest() async throws -> HTTPRequest {
        guard let plan else { throw CancellationError() }
        return try await request.makeHTTPRequest(in: settings.environment, changedBy: plan.options)
    }

    /// Lets the operation of the request change it, which may be a class of the caller's.
    override func prepare(_ request: inout HTTPRequest) throws {
        let transport = settings.transport ?? DefaultTransport.shared
        let operation = R.makeOperation(OperationConfiguration(source: .value(self.request), transport: transport))
        defer { operation.cancel() }
        try operation.prepare(&request)
    }
}
