// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation for a request that the library or an interceptor sends on behalf of other operations.
///
/// Examples are the requests of interceptors, revalidation in the background, and transfers that several operations
/// share. The operation isn't in any queue, because operations that wait for it may occupy all slots there. A
/// ``SubrequestOwner`` or the shared transfer cancels it. The subrequest of a refresh has no owner, because several
/// operations may wait for it.
// Sendable: a subclass of `Operation` must restate the conformance; the only additions here are constants.
final class SubrequestOperation: AnyRequestOperation, @unchecked Sendable {
    typealias Outcome = Result<HTTPResponse<Data>, RequestError>

    fileprivate let request: HTTPRequest
    fileprivate let sharedUrgency: (@Sendable () -> Int)?

    /// Creates the operation of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - configuration: The configuration of the run, which may continue another run.
    ///   - transport: The transport.
    ///   - monitorInfo: The description of the operation for monitors; `nil` reports nothing.
    ///   - scope: The work for which the request is sent, if any.
    ///   - urgency: Returns the priority of the request; `nil` uses the operation's own.
    init(
        _ request: HTTPRequest,
        _ configuration: RunConfiguration,
        over transport: (any HTTPTransport)?,
        as monitorInfo: OperationEvent.Info?,
        scope: NestingContext? = nil,
        urgency: (@Sendable () -> Int)? = nil
    ) {
        self.request = request
        sharedUrgency = urgency
        super.init(configuration, over: transport, scope: scope, SubrequestHandling.self)
        if let monitorInfo { EventEmitter.attach(to: self, configuration.environment.monitors) { monitorInfo } }
    }

    /// Creates the operation of a request that an interceptor sends on behalf of another operation.
    ///
    /// - Parameters:
    ///   - request: The request, with its user info.
    ///   - operation: The other operation, whose environment and transport are used.
    ///   - scope: The work of the interceptor.
    convenience init(_ request: HTTPRequest, onBehalfOf operation: AnyRequestOperation, in scope: NestingContext?) {
        let environment = operation.configuration.environment
        let configuration = RunConfiguration(
            request.options.userInfoOnly,
            successfulStatusCodes,
            in: environment,
            scope: scope,
            isNested: true
        )
        let name = OperationEvent.Info(identifier: "nested: \(request)", requestType: "HTTPRequest (nested)")
        let monitorInfo = environment.monitors.isEmpty ? nil : name
        self.init(request, configuration, over: operation.ownTransport, as: monitorInfo, scope: scope)
    }

    override var identifier: String? { "nested: \(request)" }

    /// Sends the request, and waits for its response; cancelling the task cancels the operation.
    func outcome() async -> Outcome {
        await withTaskCancellationHandler {
            start()
            return Self.unboxed(await withUnsafeContinuation { addResultHandler(.resume($0)) })
        } onCancel: {
            cancel()
        }
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
        operation.complete(with: Box(SubrequestOperation.Outcome.success(response.map { $0.data ?? Data() })))
    }

    func fail(_ failure: RunFailure) {
        operation.complete { Box(SubrequestOperation.Outcome.failure(operation.recordFailure(failure))) }
    }
}
