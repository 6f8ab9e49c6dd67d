// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Modifiers of the options. The modifiers of the sent request are in `ModifiableRequest.swift`.

extension ModifiableRequest {
    /// Returns a copy with a deadline, which is the maximum time of the operation, including retries.
    public func deadline(_ deadline: Duration) -> Self { options { $0.deadline = deadline } }

    /// Returns a copy with a different redirect policy.
    public func redirect(_ policy: RedirectPolicy) -> Self { options { $0.redirect = policy } }

    /// Returns a copy with a different trust policy for its connection.
    public func trust(_ policy: TrustPolicy) -> Self { options { $0.trust = policy } }

    /// Returns a copy with a different retry policy.
    public func retry(_ policy: RetryPolicy) -> Self { options { $0.retry = policy } }

    /// Returns a copy that is retried up to `limit` times, after failures that another attempt may resolve.
    public func retry(limit: Int) -> Self { retry(RetryPolicy(limit: limit)) }

    /// Returns a copy with an additional validator of its response, after the existing validators.
    public func validating(with validator: any ResponseValidator) -> Self {
        options { $0.validators.append(validator) }
    }

    /// Returns a copy with a closure as an additional validator; if the closure throws an error, the request fails.
    public func validating(_ body: @escaping @Sendable (HTTPResponse<Data>) throws -> Void) -> Self {
        validating { response, _ in
            try body(response)
            return .accept
        }
    }

    /// Returns a copy with a closure as an additional validator, which may also replace the response or request a
    /// retry.
    public func validating(
        _ judge: @escaping @Sendable (HTTPResponse<Data>, ValidationContext) throws -> ValidationResult
    ) -> Self {
        validating(with: ClosureValidator(judge))
    }

    /// Returns a copy with an additional interceptor, after the existing interceptors.
    public func intercepted(by interceptor: any Interceptor) -> Self { options { $0.interceptors.append(interceptor) } }

    /// Returns a copy with a closure that modifies the request as a `URLRequest` before it is sent.
    public func modifyingURLRequest(_ modify: @escaping @Sendable (inout URLRequest) async throws -> Void) -> Self {
        intercepted(by: .modifyingURLRequest(modify))
    }

    /// Returns a copy with an additional condition that must be met before the request is sent.
    public func condition(_ condition: any RequestCondition) -> Self { options { $0.conditions.append(condition) } }

    /// Returns a copy with a different maximum size of content in memory, in bytes after decoding.
    public func maximumBodySize(_ bytes: Int) -> Self { options { $0.maximumBodySize = bytes } }

    /// Returns a copy with a different maximum size of the response head, in bytes.
    public func maximumHeadSize(_ bytes: Int) -> Self { options { $0.maximumHeadSize = bytes } }

    /// Returns a copy that accepts every status.
    public func acceptingAnyStatus() -> Self { options { $0.validatesStatus = false } }

    /// Returns a copy with a different policy for the client's cache, if there is one.
    ///
    /// With `.none`, the transport's own cache isn't used either.
    public func caching(_ policy: ResponseCache.Policy) -> Self { options { $0.caching = policy } }

    /// Returns a copy that runs only while no other operation in these categories runs, on any queue.
    public func exclusive(_ categories: RequestOptions.ExclusiveCategory...) -> Self {
        options { $0.exclusivity.formUnion(categories) }
    }

    /// Returns a copy that shares the unfinished transfer of an equal request.
    public func coalescing(_ coalesces: Bool = true) -> Self { options { $0.coalesce = coalesces } }

    /// Returns a copy with a different priority of its operation in the queue.
    public func priority(_ priority: Operation.QueuePriority) -> Self { options { $0.priority = priority } }

    /// Returns a copy with a display name, which monitors and graphs show.
    public func tag(_ tag: String) -> Self { options { $0.tag = tag } }

    /// Returns a copy that accepts the given statuses instead of 200 to 299.
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
    /// The copy bypasses every ``AuthenticationInterceptor``, ``ChallengeInterceptor`` and ``RecoveryInterceptor``, but
    /// not your own interceptors that add credentials. The copy doesn't wait for a refresh, and a rejection by the
    /// server is an ordinary failure. An `Authorization` field of the environment is also omitted. Credentials of the
    /// request itself stay, such as the credentials of ``authenticated(with:)``.
    public func unauthenticated() -> Self { options { $0.isUnauthenticated = true } }

    /// Returns a copy without a field that the environment sets for every request, such as `User-Agent`.
    ///
    /// A transport may send its own default field instead.
    public func omittingHeader(_ name: HTTPField.Name) -> Self { options { $0.omittedHeaders.insert(name) } }

    /// Returns a copy with a monitor, in addition to the monitors of the environment.
    public func monitored(by monitor: any EventMonitor) -> Self { options { $0.monitors.append(monitor) } }

    /// Returns a copy with a value for your own interceptors, validators and monitors; see ``HTTPRequest/UserInfo``.
    public func userInfo<Key: HTTPRequest.UserInfo.Key>(_ key: Key.Type, _ value: Key.Value) -> Self {
        options { $0.userInfo[key] = value }
    }

    /// Returns a copy with a different priority among the transfers of one connection, from 0 to 1; see
    /// ``RequestOptions/httpPriority``.
    public func httpPriority(_ priority: Double) -> Self { options { $0.httpPriority = priority } }

    /// Returns a copy with a closure that configures its `URLSession` task before it is resumed; see
    /// ``RequestOptions/configureTask``.
    public func configuringTask(_ configure: @escaping @Sendable (URLSessionTask) -> Void) -> Self {
        options { $0.configureTask = configure }
    }
}
