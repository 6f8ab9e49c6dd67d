// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// The modifiers of the options; those of the sent request are beside the protocol.

extension ModifiableRequest {
    /// Returns a copy with a deadline: the maximum time of the operation, retries included.
    public func deadline(_ deadline: Duration) -> Self { options { $0.deadline = deadline } }

    /// Returns a copy with another handling of redirects.
    public func redirect(_ policy: RedirectPolicy) -> Self { options { $0.redirect = policy } }

    /// Returns a copy with another trust policy for its connection.
    public func trust(_ policy: TrustPolicy) -> Self { options { $0.trust = policy } }

    /// Returns a copy with another policy for retries.
    public func retry(_ policy: RetryPolicy) -> Self { options { $0.retry = policy } }

    /// Returns a copy that is retried up to `limit` times, after failures that another try may mend.
    public func retry(limit: Int) -> Self { retry(RetryPolicy(limit: limit)) }

    /// Returns a copy with another validator of its response, behind the former ones.
    public func validating(with validator: any ResponseValidator) -> Self {
        options { $0.validators.append(validator) }
    }

    /// Returns a copy whose response a closure validates too; an error that it throws is the failure of the request.
    public func validating(_ body: @escaping @Sendable (HTTPResponse<Data>) throws -> Void) -> Self {
        validating { response, _ in
            try body(response)
            return .accept
        }
    }

    /// Returns a copy whose response a closure validates too, and may replace or request again.
    public func validating(
        _ judge: @escaping @Sendable (HTTPResponse<Data>, ValidationContext) throws -> ValidationResult
    ) -> Self {
        validating(with: ClosureValidator(judge))
    }

    /// Returns a copy with another interceptor, behind the former ones.
    public func intercepted(by interceptor: any Interceptor) -> Self { options { $0.interceptors.append(interceptor) } }

    /// Returns a copy that a closure changes as Foundation's `URLRequest` before it is sent.
    public func modifyingURLRequest(_ modify: @escaping @Sendable (inout URLRequest) async throws -> Void) -> Self {
        intercepted(by: .modifyingURLRequest(modify))
    }

    /// Returns a copy with another condition that must be met before it is sent.
    public func condition(_ condition: any RequestCondition) -> Self { options { $0.conditions.append(condition) } }

    /// Returns a copy with another maximum byte count of content in memory, after decoding.
    public func maximumBodySize(_ bytes: Int) -> Self { options { $0.maximumBodySize = bytes } }

    /// Returns a copy with another maximum byte count of the response's head.
    public func maximumHeadSize(_ bytes: Int) -> Self { options { $0.maximumHeadSize = bytes } }

    /// Returns a copy for which no status is a failure.
    public func acceptingAnyStatus() -> Self { options { $0.validatesStatus = false } }

    /// Returns a copy with another use of the client's cache, if there is one.
    ///
    /// With `.none`, the transport's own cache isn't used either.
    public func caching(_ policy: ResponseCache.Policy) -> Self { options { $0.caching = policy } }

    /// Returns a copy that runs only while no other operation of these categories runs, on any queue.
    public func exclusive(_ categories: RequestOptions.ExclusiveCategory...) -> Self {
        options { $0.exclusivity.formUnion(categories) }
    }

    /// Returns a copy that joins the unfinished transfer of an equal request.
    public func coalescing(_ coalesces: Bool = true) -> Self { options { $0.coalesce = coalesces } }

    /// Returns a copy with another priority of its operation in the queue.
    public func priority(_ priority: Operation.QueuePriority) -> Self { options { $0.priority = priority } }

    /// Returns a copy with a name for display, which monitors and graphs show.
    public func tag(_ tag: String) -> Self { options { $0.tag = tag } }

    /// Returns a copy with other accepted statuses than 200 to 299.
    public func accepting(statusCodes: some Sequence<Int>) -> Self {
        options { $0.validStatusCodes = Array(statusCodes) }
    }

    /// Returns a copy that bypasses the interceptors of a type.
    ///
    /// ```swift
    /// let health = Get<Void>("health").bypassing(ChallengeInterceptor.self)
    /// ```
    public func bypassing(_ kind: (some Interceptor).Type) -> Self { options { $0.bypassedInterceptors.append(kind) } }

    /// Returns a copy without the credentials of the environment, for a login or a registration.
    ///
    /// It bypasses all interceptors that add credentials, waits for no refresh of theirs, and a rejection is its own
    /// failure. An `Authorization` field that the environment has for every request is left out too. Credentials of the
    /// request itself stay, such as those of ``authenticated(with:)``.
    public func unauthenticated() -> Self { options { $0.isUnauthenticated = true } }

    /// Returns a copy without a field that the environment has for every request, such as `User-Agent`.
    ///
    /// A transport may have a field of its own in its place.
    public func omittingHeader(_ name: HTTPField.Name) -> Self { options { $0.omittedHeaders.insert(name) } }

    /// Returns a copy with another monitor, besides those of the environment.
    public func monitored(by monitor: any EventMonitor) -> Self { options { $0.monitors.append(monitor) } }

    /// Returns a copy with a value for your own interceptors, validators and monitors; see ``HTTPRequest/UserInfo``.
    public func userInfo<Key: HTTPRequest.UserInfo.Key>(_ key: Key.Type, _ value: Key.Value) -> Self {
        options { $0.userInfo[key] = value }
    }

    /// Returns a copy with another priority of the transfer among those of one connection, from 0 to 1; see
    /// ``RequestOptions/httpPriority``.
    public func httpPriority(_ priority: Double) -> Self { options { $0.httpPriority = priority } }

    /// Returns a copy whose `URLSession` task a closure changes before it is resumed; see
    /// ``RequestOptions/configureTask``.
    public func configuringTask(_ configure: @escaping @Sendable (URLSessionTask) -> Void) -> Self {
        options { $0.configureTask = configure }
    }
}
