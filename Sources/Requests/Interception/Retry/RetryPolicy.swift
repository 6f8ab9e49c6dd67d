// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The rules for retrying failed requests: which requests, how often, and after which delay.
///
/// ```swift
/// environment.retry = .default
/// environment.retry = RetryPolicy(limit: 5, backoff: .exponential(from: .seconds(1)))
/// ```
///
/// A policy retries after transient failures, for which a retry may succeed, if a retry is harmless even when the
/// server has already processed the first attempt.
///
/// | status | retried by default |
/// |---|---|
/// | 408 Request Timeout | yes: the server gave up waiting for the request |
/// | 425 Too Early | yes: the server wants the request only after the handshake |
/// | 429 Too Many Requests | yes: the server allows a retry after the delay in `Retry-After` |
/// | 500 Internal Server Error | yes: only one of the server's workers may have failed |
/// | 502, 503, 504 | yes: a gateway got no response, or none in time |
/// | 501, 505 and other 5xx | no: the server states that it can't handle the request at all |
/// | 401, 407 | no: the same credentials would fail again; an ``AuthenticationInterceptor`` gets new ones |
/// | 409, 412, 423 and other 4xx | no: something must change first |
///
/// | error | retried by default |
/// |---|---|
/// | `timedOut`, `cannotConnect`, `connectionLost`, `offline` | yes: network failures are often temporary |
/// | `cancelled`, `deadlineExceeded` | no: the result is no longer needed |
/// | `untrusted` | no: a man-in-the-middle attack would continue, and a retry would help the attacker |
/// | `badResponse`, `headTooLarge`, `bodyTooLarge`, `decoding` and similar | no: the response would be the same |
/// | `tooManyRedirects`, `badRedirect`, `redirectRefused` | no: the redirects would be the same |
/// | `invalidRequest`, `encoding`, `unsupported`, `bodyNotReplayable` | no: the request itself is invalid |
///
/// Requests with an idempotent method are retried, and so are requests with an `Idempotency-Key`, which lets the server
/// recognize them. Add the key with ``Interceptor/idempotencyKeys(for:makeKey:)``. Any other request is retried only if
/// it wasn't sent because there was no connection (see ``RequestError/wasNotSent``). A POST without a response may have
/// been processed. Requests whose body can't be sent again are never retried. An interceptor's decision takes
/// precedence over the policy.
public struct RetryPolicy: Sendable, Hashable {
    /// The number of retries after which the policy stops retrying, counting those requested by interceptors and
    /// validators.
    ///
    /// Interceptors and validators aren't bound by this limit. An interceptor decides for itself how often it retries,
    /// and a validator's strategy has its own limit, which may be higher.
    public var limit: Int
    /// The delays before retries.
    public var backoff: RetryPolicy.Backoff
    /// The methods that are retried, in addition to requests with an `Idempotency-Key` and requests that weren't sent.
    ///
    /// `nil` means every method, which is suitable only for a server that is known to allow repeated requests.
    public var methods: Set<HTTPMethod>?
    /// The statuses that are retried, except those that the request accepts.
    public var statuses: Set<HTTPStatus> = transientStatuses
    /// The errors that are retried.
    ///
    /// The policy never retries an error that the caller caused, such as `invalidRequest` or `cancelled`, or an error
    /// that would occur again, such as `tooManyRedirects` or `bodyTooLarge`.
    public var codes: Set<RequestError.Code> = transientErrors
    /// The maximum delay that the server may request with `Retry-After`; one minute by default.
    ///
    /// If the server requests a longer delay, the request fails, because an earlier retry would be useless.
    public var maximumRetryAfter: Duration = .seconds(60)
    /// The methods that this policy doesn't retry, because something else resends their requests, such as an event
    /// stream that reconnects.
    var excludedMethods: Set<HTTPMethod> = []

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of retries.
    ///   - backoff: The delays before retries.
    ///   - methods: The methods that are retried; by default, the idempotent methods. `nil` means all methods.
    public init(
        limit: Int = 2,
        backoff: RetryPolicy.Backoff = .exponential(),
        methods: Set<HTTPMethod>? = idempotentMethods
    ) {
        self.limit = max(0, limit)
        self.backoff = backoff
        self.methods = methods
    }

    /// A policy that retries twice, after delays of up to half a second and up to one second.
    public static let `default` = RetryPolicy()

    /// A policy that never retries.
    public static let never = RetryPolicy(limit: 0)

    /// A policy that retries only after a 429, which means that the server didn't process the request.
    ///
    /// It retries up to three times, whatever the method. The delay is that of `Retry-After` or, without that field,
    /// that of ``default``. A POST that fails in another way isn't sent again, because it may have been processed.
    public static let rateLimited: RetryPolicy = {
        var policy = RetryPolicy(limit: 3, methods: nil)
        (policy.statuses, policy.codes) = ([.tooManyRequests], [])
        return policy
    }()

    /// Unavailable; use ``never``.
    ///
    /// For an optional policy, `.none` would mean `nil`, and so select the inherited policy.
    @available(*, unavailable, renamed: "never")
    public static var none: RetryPolicy { never }

    /// The methods that have the same effect if a request is sent twice (RFC 9110, 9.2.2).
    public static let idempotentMethods: Set<HTTPMethod> = [.get, .head, .put, .delete, .options, .trace]

    /// The statuses of transient failures, for which a retry may succeed.
    public static let transientStatuses: Set<HTTPStatus> = [
        .requestTimeout, .tooEarly, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable,
        .gatewayTimeout,
    ]

    /// The network errors, which are often temporary.
    public static let transientErrors: Set<RequestError.Code> = [
        .timedOut, .cannotConnect, .connectionLost, .offline,
    ]

    /// Decides whether to retry after a failure.
    ///
    /// - Parameters:
    ///   - error: The failure, with the request that was sent last and the response, if any.
    ///   - request: The request that would be sent again, as it was before redirects. `nil` means the error's request.
    ///   - attempt: The number of the failed attempt, starting at 1.
    ///   - now: The current time, for a `Retry-After` with a date.
    ///   - random: The source of the jitter.
    /// - Returns: A retry after a delay, or `pass`.
    public func decision(
        about error: RequestError,
        of request: HTTPRequest? = nil,
        attempt: Int,
        now: Date = Date(),
        random: RandomSource = .system
    ) -> RetryPolicy.Decision {
        guard let request = request ?? error.request, request.body.isReplayable,
            let delay = delay(after: error, of: request, attempt: attempt, now: now, random: random)
        else { return .pass }
        return .retry(after: delay)
    }

    /// Returns the delay before the next attempt, or `nil` for no retry; the body must be replayable.
    func delay(
        after error: RequestError,
        of request: HTTPRequest,
        attempt: Int,
        now: Date,
        random: RandomSource
    ) -> Duration? {
        guard attempt <= limit, isTransient(error), !excludedMethods.contains(request.method),
            methods?.contains(request.method) ?? true || request.headers.contains(.idempotencyKey) || error.wasNotSent
        else { return nil }
        let wait = backoff.delay(before: attempt, random: random)
        guard let requestedWait = error.retryAfter(from: now) else { return wait }
        return requestedWait <= maximumRetryAfter ? max(requestedWait, wait) : nil
    }

    private func isTransient(_ error: RequestError) -> Bool {
        guard error.code == .unacceptableStatus else { return codes.contains(error.code) }
        return error.response.map { statuses.contains($0.status) } ?? false
    }
}

extension RequestError {
    /// Returns the delay that the server requests with `Retry-After-Ms` or `Retry-After` (RFC 9110, 10.2.3); `nil` if
    /// there is no such field.
    public func retryAfter(from now: Date = Date()) -> Duration? {
        response?["Retry-After-Ms"].flatMap(Duration.init(retryAfterMilliseconds:))
            ?? response?[.retryAfter].flatMap { Duration(retryAfter: $0, now: now) }
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// Returns an interceptor that adds an `Idempotency-Key` to each operation, so that the server recognizes repeated
    /// requests.
    ///
    /// ```swift
    /// environment.interceptors.append(.idempotencyKeys())
    /// environment.retry = .default
    /// ```
    ///
    /// A POST without a response may have been processed. A server that supports the field processes the request only
    /// once, even if the request arrives several times. So a ``RetryPolicy`` retries requests with a key, whatever
    /// their method. All attempts of an operation have the same key, which no other operation has. If a request already
    /// has a key, the interceptor doesn't change it.
    ///
    /// Use this interceptor only for servers that are known to support the field. Other servers ignore the field, and
    /// process a retried request again.
    ///
    /// - Parameters:
    ///   - methods: The methods whose requests get a key; POST and PATCH by default, because the other common methods
    ///     are idempotent.
    ///   - makeKey: Creates a unique key for an operation; by default, a random UUID. If the key isn't valid in a
    ///     header field, the request fails.
    /// - Returns: The interceptor.
    public static func idempotencyKeys(
        for methods: Set<HTTPMethod> = [.post, .patch],
        makeKey: @escaping @Sendable () -> String = { UUID().uuidString }
    ) -> ClosureInterceptor {
        let author = NoteAuthor()
        return ClosureInterceptor(adapt: { request, context in
            guard methods.contains(request.method), !request.headers.contains(.idempotencyKey) else { return }
            let key: String = context.notes.note(of: ObjectIdentifier(author)) ?? makeKey()
            context.notes.write(key, of: ObjectIdentifier(author))
            request.headers.set(.idempotencyKey(key))
        })
    }
}

/// An object that identifies the notes of an interceptor that itself has no identity.
private final class NoteAuthor: Sendable {}
