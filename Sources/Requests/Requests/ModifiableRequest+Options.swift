// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// The modifiers of what is overridden of the environment; those of what is sent stand beside the protocol.

extension ModifiableRequest {
    /// A copy that may take so long in all, retries included.
    public func deadline(_ deadline: Duration) -> Self {
        options { $0.deadline = deadline }
    }

    /// A copy whose redirects are treated otherwise.
    public func redirect(_ policy: RedirectPolicy) -> Self {
        options { $0.redirect = policy }
    }

    /// A copy whose connection trusts others.
    public func trust(_ policy: TrustPolicy) -> Self {
        options { $0.trust = policy }
    }

    /// A copy that is retried as this policy says.
    public func retry(_ policy: RetryPolicy) -> Self {
        options { $0.retry = policy }
    }

    /// A copy that is retried up to `limit` times, where that may help.
    public func retry(limit: Int) -> Self {
        retry(RetryPolicy(limit: limit))
    }

    /// A copy whose response one more validator judges, after those that there are.
    public func validating(with validator: any ResponseValidator) -> Self {
        options { $0.validators.append(validator) }
    }

    /// A copy whose response a closure judges too: what it throws is the failure of the request.
    public func validating(_ body: @escaping @Sendable (HTTPResponse<Data>) throws -> Void) -> Self {
        let validator = ClosureValidator { response, _ in
            try body(response)
            return .accept
        }
        return validating(with: validator)
    }

    /// A copy whose response a closure judges too, and may replace or ask for again.
    public func validating(
        _ judge: @escaping @Sendable (HTTPResponse<Data>, ValidationContext) throws -> Verdict
    ) -> Self {
        validating(with: ClosureValidator(judge))
    }

    /// A copy that one more interceptor changes, after those that there are.
    public func intercepted(by interceptor: any Interceptor) -> Self {
        options { $0.interceptors.append(interceptor) }
    }

    /// A copy whose body is compressed, from `minimumSize` bytes, if it becomes smaller; see
    /// ``Interceptor/compressingBodies(from:)``.
    public func compressingBody(from minimumSize: Int = 1) -> Self {
        intercepted(by: .compressingBodies(from: minimumSize))
    }

    /// A copy that a closure changes as Foundation's `URLRequest` before it is sent.
    public func modifyingURLRequest(_ modify: @escaping @Sendable (inout URLRequest) async throws -> Void) -> Self {
        intercepted(by: .modifyingURLRequest(modify))
    }

    /// A copy that has to meet one more condition before it starts.
    public func condition(_ condition: any RequestCondition) -> Self {
        options { $0.conditions.append(condition) }
    }

    /// A copy of which no more content is read into memory, after decoding.
    public func maximumBodySize(_ bytes: Int) -> Self {
        options { $0.maximumBodySize = bytes }
    }

    /// A copy of which no larger head of a response is taken.
    public func maximumHeadSize(_ bytes: Int) -> Self {
        options { $0.maximumHeadSize = bytes }
    }

    /// A copy for which every status is an answer.
    public func acceptingAnyStatus() -> Self {
        options { $0.validatesStatus = false }
    }

    /// A copy that uses the cache of its client otherwise; with `.none`, a transport's own isn't used either.
    public func caching(_ policy: ResponseCache.Policy) -> Self {
        options { $0.caching = policy }
    }

    /// A copy that runs only where no other operation of these categories does, whichever queues they are on.
    public func exclusive(_ categories: ExclusiveCategory...) -> Self {
        options { $0.exclusivity.formUnion(categories) }
    }

    /// A copy that joins the unfinished transfer of an equal request.
    public func coalescing(_ coalesces: Bool = true) -> Self {
        options { $0.coalesce = coalesces }
    }

    /// A copy that starts sooner or later, among those that could.
    public func priority(_ priority: Operation.QueuePriority) -> Self {
        options { $0.priority = priority }
    }

    /// A copy with a name for people, which monitors and pictures of a queue show.
    public func tag(_ tag: String) -> Self {
        options { $0.tag = tag }
    }

    /// A copy for which other statuses are answers than 200 to 299.
    public func accepting(statusCodes: some Sequence<Int>) -> Self {
        options { $0.validStatusCodes = Array(statusCodes) }
    }

    /// A copy that is sent past the interceptors of a kind.
    ///
    /// ```swift
    /// let health = Get<Void>("health").bypassing(CredentialInterceptor.self)
    /// ```
    public func bypassing(_ kind: (some Interceptor).Type) -> Self {
        options { $0.bypassedInterceptors.append(kind) }
    }

    /// A copy that goes without the credentials of the environment: a login, a registration.
    ///
    /// It is sent past all interceptors that add credentials, waits for no refresh of theirs, and a rejection is its
    /// own failure. An `Authorization` field that the environment has for every request is left out too. What is set on
    /// the request itself stays, such as ``authenticated(with:)``.
    public func unauthenticated() -> Self {
        options { $0.isUnauthenticated = true }
    }

    /// A copy that one more monitor watches, besides those of the environment.
    public func monitored(by monitor: any EventMonitor) -> Self {
        options { $0.monitors.append(monitor) }
    }

    /// A copy that tells your own interceptors, validators and monitors something; see ``UserInfo``.
    public func userInfo<Key: UserInfo.Key>(_ key: Key.Type, _ value: Key.Value) -> Self {
        options { $0.userInfo[key] = value }
    }

    /// A copy whose transfer goes before others of the same connection, from 0 to 1; see
    /// ``RequestOptions/httpPriority``.
    public func httpPriority(_ priority: Double) -> Self {
        options { $0.httpPriority = priority }
    }

    /// A copy whose `URLSession` task a closure changes before it is resumed; see ``RequestOptions/configureTask``.
    public func configuringTask(_ configure: @escaping @Sendable (URLSessionTask) -> Void) -> Self {
        options { $0.configureTask = configure }
    }
}
