// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension AnyRequestOperation: InterceptedRun {
    final var settings: InterceptedSettings {
        let configuration = configuration
        return InterceptedSettings(
            baseURL: configuration.environment.baseURL,
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

    final func recordAnswer(to request: HTTPRequest) { record { $0.answer(request) } }

    final func exchange(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        let nested = SubrequestOperation(nested: request, over: ownTransport, in: configuration.environment)
        // Other operations may wait for a refresh, so it doesn't end with this one.
        guard NestingContext.current?.isRefresh != true else { return try await nested.exchange() }
        return try await NestedRequests.exchange(nested, within: self)
    }

    final func detach(
        _ name: String,
        _ request: HTTPRequest,
        through next: InterceptorChain,
        _ work: @escaping @Sendable (InterceptorChain) async throws -> RawResponse
    ) {
        // The continued run has the options of this one, but no interceptors, validators and retries, because only
        // `work` waits for its response. It must not retain this operation, which may finish long before.
        let continuation = ContinuationInterceptor(
            configuration: configuration,
            chain: Array(next.remaining),
            transport: ownTransport,
            monitored: monitored,
            urgency: urgency
        )
        let (environment, cause) = (configuration.environment, next.cause)
        let key = DetachedWork.Key(request, in: environment, name: name)
        _ = DetachedWork.of(environment).begin(key) {
            let chain = InterceptorChain([continuation], of: UnsentRun(), attempt: 1, because: cause)
            return try await work(chain).map { $0.data ?? Data() }
        }
    }

    /// The operation as monitors know it; `nil` without monitors.
    final var monitored: OperationInfo? { observer(EventEmitter.self)?.operation }
}

/// Sends each request in an operation of its own, which continues the chain of another one.
private struct ContinuationInterceptor: Interceptor {
    let configuration: RunConfiguration
    /// The interceptors of that operation that the request has yet to pass.
    let chain: [any Interceptor]
    let transport: (any HTTPTransport)?
    let monitored: OperationInfo?
    let urgency: Int

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: InterceptorChain
    ) async throws -> RawResponse {
        let continued = RunConfiguration(continuing: configuration, through: chain, heads: next.heads)
        let urgency = urgency
        let operation = SubrequestOperation(request, continued, over: transport, as: monitored?.another()) { urgency }
        return try await operation.exchange().map { .data($0) }
    }
}

extension InterceptorContext {
    /// Sends a request that outlives the operation, one at a time for a resource.
    ///
    /// Use it for work beyond this one request: to validate a stored response while a stale one is used, or to prefetch
    /// a configuration. It runs as with ``send(_:)``, but the operation doesn't wait for it, and cancelling the operation
    /// doesn't cancel it. It ends with the client of the operation, and all clients derived from that.
    ///
    /// - Parameters:
    ///   - request: The request; a relative address is resolved against the operation's base URL.
    ///   - completion: Called once with the outcome, on no particular thread; not called if the method returns `false`.
    /// - Returns: `false`, without sending the request, while a request of the same interceptor with the same method
    ///   and address is running, or if the client was deallocated.
    @discardableResult
    public func detached(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void = { _ in }
    ) -> Bool {
        guard let operation = run as? AnyRequestOperation else { return false }
        let (environment, transport) = (operation.configuration.environment, operation.ownTransport)
        let scope = NestingContext.current?.detached()
        let key = DetachedWork.Key(request, in: environment, by: scope?.author)
        return DetachedWork.of(environment).begin(key, completion) {
            let send = { () async throws -> HTTPResponse<Data> in
                try await SubrequestOperation(nested: request, over: transport, in: environment).exchange()
            }
            guard let scope else { return try await send() }
            defer { scope.end() }
            return try await scope.run(send)
        }
    }
}

extension Attempt {
    /// Returns the route to the proxy of the transport; `nil` if credentials can't be sent to one.
    func proxyRoute() -> ProxyRoute? {
        guard let transport = operation.ownTransport else { return nil }
        return transport.capabilities.contains(.proxyAuthorization) ? ProxyRoute(over: transport) : nil
    }
}
