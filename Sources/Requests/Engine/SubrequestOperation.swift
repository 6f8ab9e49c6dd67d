// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a request that the library sends itself, on behalf of others: a refresh, a validation in the
/// background, a transfer that several operations share.
///
/// It stands in no queue, whose places may all be taken by operations that wait for it. Its owner starts and cancels
/// it.
// Sendable: Operation requires restating it; the only additions here are constants.
final class SubrequestOperation: AnyRequestOperation, @unchecked Sendable {
    typealias Outcome = Result<HTTPResponse<Data>, RequestError>

    fileprivate let request: HTTPRequest
    fileprivate let sharedUrgency: (@Sendable () -> Int)?

    /// Makes the operation of a request that continues another run.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - configuration: The settings of the run.
    ///   - transport: The transport.
    ///   - monitored: The operation for monitors; `nil` reports nothing.
    ///   - scope: The work for which it is sent, if any.
    ///   - urgency: Returns the priority of the request; `nil` for its own.
    init(
        _ request: HTTPRequest,
        _ configuration: RunConfiguration,
        over transport: (any HTTPTransport)?,
        as monitored: OperationInfo?,
        scope: NestingContext? = nil,
        urgency: (@Sendable () -> Int)? = nil
    ) {
        self.request = request
        sharedUrgency = urgency
        super.init(configuration, over: transport, scope: scope, SubrequestHandling.self)
        if let monitored { EventEmitter.attach(to: self, configuration.environment.monitors) { monitored } }
    }

    /// Makes the operation of a request that is sent on behalf of a run, as a part of the current task's scope.
    convenience init(
        nested request: HTTPRequest,
        over transport: (any HTTPTransport)?,
        in environment: RequestEnvironment
    ) {
        let scope = NestingContext.current
        let configuration = RunConfiguration(
            request.options.userInfoAlone ?? RequestOptions(),
            successfulStatusCodes,
            in: environment,
            scope: scope,
            isNested: true
        )
        let name = OperationInfo(identifier: "nested: \(request)", requestType: "HTTPRequest (nested)")
        let monitored = environment.monitors.isEmpty ? nil : name
        self.init(request, configuration, over: transport, as: monitored, scope: scope)
    }

    override var identifier: String? { "nested: \(request)" }

    /// Sends the request, and waits for its response; cancelling the task cancels the operation.
    func exchange() async throws(RequestError) -> HTTPResponse<Data> {
        let result = await withTaskCancellationHandler {
            start()
            return await withUnsafeContinuation { whenThereIsAResult(.resume($0)) }
        } onCancel: {
            cancel()
        }
        return try Self.unboxed(result).get()
    }

    static func unboxed(_ result: OperationCore.AnyResult) -> Outcome {
        unsafeDowncast(result, to: Box<Outcome>.self).value
    }

    override func makeCancellationResult() -> OperationCore.AnyResult? {
        Box(Outcome.failure(makeCancellation()))
    }

    override class func failure(in result: OperationCore.AnyResult) -> (any Error)? {
        if case .failure(let error) = unboxed(result) { error } else { nil }
    }
}

/// Delivers the response of a subrequest unchanged.
private struct SubrequestHandling: ResponseHandling {
    let operation: SubrequestOperation

    var urgency: Int { operation.sharedUrgency?() ?? operation.queuePriority.rawValue }

    func makeRequest() async throws -> HTTPRequest { operation.request }

    func conclude(_ response: RawResponse, of request: HTTPRequest) async throws(RunFailure) {
        operation.settle(with: Box(SubrequestOperation.Outcome.success(response.map { $0.data ?? Data() })))
    }

    func fail(_ failure: RunFailure) {
        operation.settle { Box(SubrequestOperation.Outcome.failure(operation.settled(failure))) }
    }
}
