// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension AnyRequestOperation: InterceptedRun {
    final var settings: InterceptedSettings {
        let configuration = configuration
        return InterceptedSettings(
            baseURL: configuration.environment.base?.url,
            userInfo: configuration.options.userInfo,
            timeout: configuration.timeout,
            makeEncoder: configuration.environment.makeEncoder,
            scope: scope
        )
    }

    final func report(_ step: Authorization.Step, isGranted: Bool?) {
        if let isGranted {
            report(.authenticationEnded(step, isGranted: isGranted))
        } else {
            report(.authenticationStarted(step))
        }
    }

    final func recordCachedResponse(to request: HTTPRequest) { record { $0.recordCachedResponse(request) } }

    final func exchange(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        let scope = NestingContext.current
        let subrequest = SubrequestOperation(request, onBehalfOf: self, in: scope)
        // Other operations may wait for the same refresh, so the refresh must continue when this operation ends.
        guard scope?.isRefresh != true else { return try await subrequest.outcome().get() }
        add(SubrequestOwner())
        guard let owner = observer(SubrequestOwner.self) else { return try await subrequest.outcome().get() }
        return try await owner.exchange(subrequest)
    }

    final func sendDetached(
        _ name: String,
        _ request: HTTPRequest,
        through interceptor: any Interceptor,
        before next: InterceptorChain
    ) {
        let environment = configuration.environment
        let purpose = SubrequestOwner.Purpose(request, in: environment, name: name)
        _ = SubrequestOwner.outliving(operationsIn: environment).start(purpose) {
            // The subrequest has the options of this operation, but neither validators nor retries, because nobody
            // waits for its response. The closure must not retain this operation, which may finish long before the
            // subrequest.
            let continued = RunConfiguration(continuing: configuration, through: [interceptor] + next.remaining)
            let urgency = urgency
            return SubrequestOperation(request, continued, over: ownTransport, as: monitorInfo?.another()) { urgency }
        }
    }

    /// The description of the operation for monitors; `nil` without monitors.
    final var monitorInfo: OperationEvent.Info? { observer(EventEmitter.self)?.operation }
}

extension InterceptorChain.Context {
    /// Sends a request that outlives the operation.
    ///
    /// Use it for work beyond this one request, for example to revalidate a stale response while it is already in use,
    /// or to prefetch a configuration. The request runs as with ``send(_:)``, but the operation doesn't wait for it,
    /// and cancelling the operation doesn't cancel it. When the operation's client and all clients derived from it have
    /// been deallocated, the request is cancelled. Only one such request for each resource runs at a time.
    ///
    /// - Parameters:
    ///   - request: The request; a relative address is resolved against the operation's base URL.
    ///   - completion: Called once with the outcome, on an arbitrary thread; not called if the method returns `false`.
    /// - Returns: `false` if the request wasn't sent, because the same interceptor already has a running request with
    ///   this method and URL, or because the client was deallocated.
    @discardableResult
    public func detached(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void = { _ in }
    ) -> Bool {
        guard let operation = run as? AnyRequestOperation else { return false }
        let environment = operation.configuration.environment
        let scope = NestingContext.current?.detached()
        let purpose = SubrequestOwner.Purpose(request, in: environment, by: scope?.author)
        let ended: SubrequestOwner.Completion = { outcome in
            scope?.end()
            completion(outcome)
        }
        return SubrequestOwner.outliving(operationsIn: environment).start(purpose, ended) {
            SubrequestOperation(request, onBehalfOf: operation, in: scope)
        }
    }
}

extension Attempt {
    /// Returns the transport's route to the proxy; `nil` if the transport can't send credentials to a proxy.
    func proxyRoute() -> ProxyRoute? {
        guard let transport = operation.ownTransport else { return nil }
        return transport.capabilities.contains(.proxyAuthorization) ? ProxyRoute(over: transport) : nil
    }
}
