// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A ready-made request: what to send, what to make of the answer, and what to override of the environment.
///
/// It is seldom written by this name. ``Get`` to ``Options`` are typed requests for one method each, and a
/// ``RequestProviding`` type makes those of an API:
///
/// ```swift
/// let request = Get<User>("users", "1")
///     .headers { Accept(.json) }
///     .query(["include": "profile"])
///     .timeout(.seconds(10))
/// let user = try await queue.fetch(request)
/// ```
///
/// A value: every modifier makes a changed copy. `Tag` tells kinds of requests apart, so that extensions can be for
/// one of them only.
public struct TypedRequest<Tag, Success: Sendable>: RequestConvertible, ModifiableRequest {
    /// The library's own error.
    public typealias Failure = RequestError

    /// What to send.
    public var http: HTTPRequest
    /// What to make of the answer.
    public var responseDecoder: ResponseDecoder<Success>
    /// What to override of the environment.
    public var options: RequestOptions
    /// The statuses that are answers; 200 to 299 by default.
    public var validHTTPStatusCodes: [Int]

    /// Makes a request of its parts.
    public init(_ http: HTTPRequest, decoding responseDecoder: ResponseDecoder<Success>) {
        self.http = http
        self.responseDecoder = responseDecoder
        options = RequestOptions()
        validHTTPStatusCodes = successfulStatusCodes
    }
}

extension TypedRequest {
    /// The same request, with another way to make a value of the answer.
    public func decoding<Value>(_ decoder: ResponseDecoder<Value>) -> TypedRequest<Tag, Value> {
        var request = TypedRequest<Tag, Value>(http, decoding: decoder)
        request.options = options
        request.validHTTPStatusCodes = validHTTPStatusCodes
        return request
    }

    /// The same request, with other statuses that are answers.
    public func accepting(statusCodes: some Sequence<Int>) -> Self {
        modified { $0.validHTTPStatusCodes = Array(statusCodes) }
    }
}

extension TypedRequest: CustomStringConvertible {
    /// The method and the address, without credentials and query: nothing in it is a secret.
    public var description: String { http.description }
}

// MARK: - Options

extension TypedRequest {
    /// A copy with other options, as a closure changes them.
    public func options(_ change: (inout RequestOptions) -> Void) -> Self {
        modified { change(&$0.options) }
    }

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

    /// A copy that is tried again as this policy says.
    public func retry(_ policy: RetryPolicy) -> Self {
        options { $0.retry = policy }
    }

    /// A copy that is tried again up to so many times, where that may help.
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

    /// A copy whose body is compressed, where it has so many bytes and becomes smaller; see ``BodyCompression``.
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
    public func maximumHeaderSize(_ bytes: Int) -> Self {
        options { $0.maximumHeaderSize = bytes }
    }

    /// A copy for which every status is an answer.
    public func acceptingAnyStatus() -> Self {
        options { $0.validatesStatus = false }
    }

    /// A copy that joins the unfinished transfer of an equal request.
    public func coalescing(_ coalesces: Bool = true) -> Self {
        options { $0.coalesce = coalesces }
    }

    /// A copy that uses the cache of its client otherwise; with `.none`, a transport's own isn't used either.
    public func caching(_ policy: CachingPolicy) -> Self {
        let copy = options { $0.caching = policy }
        return policy == .none ? copy.cachePolicy(.reloadIgnoringLocalCacheData) : copy
    }

    /// A copy that starts sooner or later, among those that could.
    public func priority(_ priority: Operation.QueuePriority) -> Self {
        options { $0.priority = priority }
    }

    /// A copy with a name for people, which monitors and pictures of a queue show.
    public func tag(_ tag: String) -> Self {
        options { $0.tag = tag }
    }
}
