// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// When a failed request is tried again, how often, and after how long.
///
/// ```swift
/// environment.retry = .default
/// environment.retry = RetryPolicy(limit: 5, backoff: .exponential(from: .seconds(1)))
/// ```
///
/// It retries what may well succeed the next time and does no harm if the first try succeeded after all:
///
/// | status | retried by default |
/// |---|---|
/// | 408 Request Timeout | yes: the server gave up waiting for the request |
/// | 425 Too Early | yes: the server wants it on a finished handshake |
/// | 429 Too Many Requests | yes: that is what its `Retry-After` is for |
/// | 500 Internal Server Error | yes: it may have been this one worker |
/// | 502, 503, 504 | yes: a gateway found nobody, or nobody in time |
/// | 501, 505 and other 5xx | no: the server says that it can't at all |
/// | 401, 407 | no: the same credentials fare no better; an ``AuthenticationInterceptor`` gets new ones |
/// | 409, 412, 423 and other 4xx | no: something has to change first |
///
/// | error | retried by default |
/// |---|---|
/// | `timedOut`, `cannotConnect`, `connectionLost`, `offline` | yes: networks come and go |
/// | `cancelled`, `deadlineExceeded` | no: nobody waits any more |
/// | `untrusted` | no: a machine in the middle doesn't leave, and insisting helps it |
/// | `badResponse`, `headTooLarge`, `bodyTooLarge`, `decoding` and others that the answer itself causes | no: it would come again |
/// | `tooManyRedirects`, `badRedirect`, `redirectRefused` | no: they would lead the same way |
/// | `invalidRequest`, `encoding`, `unsupported`, `bodyNotReplayable` | no: the request itself is at fault |
///
/// Methods that are idempotent are retried, and requests with an `Idempotency-Key`, by which the server knows them again:
/// ``Interceptor/idempotencyKeys(for:makeKey:)`` gives them one. Any other request is retried only if it wasn't sent, because no connection could be
/// made: ``RequestError/wasNotSent``. A POST that got no answer may have been carried out. Only bodies that can be sent
/// again are. An interceptor's own decision comes first.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of retries, where those that interceptors and validators requested count.
    ///
    /// It limits this policy alone. Interceptors and the strategies of validators have limits of their own, which may be
    /// higher.
    public var limit: Int
    /// How long to wait before each.
    public var backoff: Backoff
    /// The methods that are retried, besides all requests with an `Idempotency-Key` and all that weren't sent; nil for
    /// every method, which only a caller that knows the server can want.
    public var methods: Set<HTTPMethod>?
    /// The statuses that are retried, those with which the request is content excepted.
    public var statuses: Set<HTTPStatus> = transientStatuses
    /// The errors that are retried.
    public var codes: Set<RequestError.Code> = transientErrors
    /// How long a wait the server may ask for with `Retry-After`; a minute by default.
    ///
    /// If it asks for more, the failure stands: a retry before that time would be in vain.
    public var maximumRetryAfter: Duration = .seconds(60)

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - limit: How many retries there are at most.
    ///   - backoff: How long to wait before each.
    ///   - methods: The methods that are retried; by default those that are idempotent. Nil is all of them.
    public init(
        limit: Int = 2,
        backoff: Backoff = .exponential(),
        methods: Set<HTTPMethod>? = idempotentMethods
    ) {
        self.limit = max(0, limit)
        self.backoff = backoff
        self.methods = methods
    }

    /// Two retries, after up to half a second and up to a second.
    public static let `default` = RetryPolicy()

    /// No retry.
    public static let never = RetryPolicy(limit: 0)

    /// Methods that may be sent twice and have the effect of once (RFC 9110, 9.2.2).
    public static let idempotentMethods: Set<HTTPMethod> = [.get, .head, .put, .delete, .options, .trace]

    /// Statuses that may be others the next time.
    public static let transientStatuses: Set<HTTPStatus> = [
        .requestTimeout, .tooEarly, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable,
        .gatewayTimeout,
    ]

    /// Errors of the network, which comes and goes.
    public static let transientErrors: Set<RequestError.Code> = [
        .timedOut, .cannotConnect, .connectionLost, .offline,
    ]

    /// Decides about a failure.
    ///
    /// - Parameters:
    ///   - error: What happened; with the request that was sent last, and the response, if one came.
    ///   - request: The request that would be sent again, whatever redirects it went through; nil is the error's.
    ///   - attempt: The number of the attempt that failed; 1 is the first.
    ///   - now: The present, for a `Retry-After` that names a time.
    ///   - random: What the jitter is taken from.
    /// - Returns: A retry after a wait, or `pass`.
    public func decision(
        about error: RequestError,
        of request: HTTPRequest? = nil,
        attempt: Int,
        now: Date = Date(),
        random: RandomSource = .system
    ) -> RetryDecision {
        guard let request = request ?? error.request, request.body.isReplayable,
            let delay = delay(after: error, of: request, attempt: attempt, now: now, random: random)
        else { return .pass }
        return .retry(after: delay)
    }

    /// Returns the wait before another attempt, or nil if there is to be none; for a body that can be sent again.
    func delay(
        after error: RequestError,
        of request: HTTPRequest,
        attempt: Int,
        now: Date,
        random: RandomSource
    ) -> Duration? {
        guard attempt <= limit, isTransient(error),
            methods?.contains(request.method) ?? true || request.headers.contains(.idempotencyKey) || error.wasNotSent
        else { return nil }
        let wait = backoff.delay(before: attempt, random: random)
        guard let asked = error.retryAfter(from: now) else { return wait }
        return asked <= maximumRetryAfter ? max(asked, wait) : nil
    }

    private func isTransient(_ error: RequestError) -> Bool {
        guard error.code == .unacceptableStatus else { return codes.contains(error.code) }
        return error.response.map { statuses.contains($0.status) } ?? false
    }
}

extension RequestError {
    /// How long the server asks to wait before the next try (RFC 9110, 10.2.3); nil where it doesn't.
    public func retryAfter(from now: Date = Date()) -> Duration? {
        response?[.retryAfter].flatMap { HTTPField.RetryAfter(parsing: $0, now: now) }?.delay(from: now)
    }
}

/// What to do about a failure.
public enum RetryDecision: Sendable {
    /// Let the next interceptor decide; when the last one passes, the failure stands.
    case pass
    /// Fail now: with another error that says more about it, or, where that is nil, with the failure as it is.
    case fail(with: (any Error)?)
    /// Try again after a wait. The operation keeps its place in the queue meanwhile, and a cancel ends the wait.
    case retry(after: Duration)

    /// Let the failure stand.
    public static let fail = RetryDecision.fail(with: nil)

    /// Try again at once.
    public static let retry = RetryDecision.retry(after: .zero)
}

/// How a validator has a request tried again: how often, after how long, and what to do before.
///
/// ```swift
/// environment.validators.append(.closure { response, context in
///     response.status == .accepted ? .retry(.delayed(.seconds(1), limit: 30)) : .accept
/// })
/// ```
///
/// Unlike a ``RetryPolicy`` it asks neither for the method nor for the status: the validator has looked. Only bodies
/// that can be sent again are.
public struct RetryStrategy: Sendable {
    /// What is done before the next try.
    public typealias Preparation = @Sendable (InterceptorContext) async throws -> Void

    /// How long to wait before each retry.
    public let backoff: Backoff
    /// How many retries there are at most, other retries of the operation included.
    ///
    /// When they are used up, the request fails, with a response that is good otherwise with the code
    /// `retryLimitReached`.
    public let limit: Int
    let prepare: Preparation?

    /// Makes a strategy.
    ///
    /// - Parameters:
    ///   - backoff: How long to wait before each retry.
    ///   - limit: How many retries there are at most.
    ///   - prepare: What is done before the wait, such as getting a new token; none by default. What it throws is the
    ///     failure of the operation.
    public init(backoff: Backoff, limit: Int = 1, prepare: Preparation? = nil) {
        self.backoff = backoff
        self.limit = limit
        self.prepare = prepare
    }

    /// At once.
    public static let immediate = immediate(limit: 1)

    /// At once.
    public static func immediate(limit: Int) -> RetryStrategy {
        RetryStrategy(backoff: .none, limit: limit)
    }

    /// After a wait that is always the same.
    public static func delayed(_ wait: Duration, limit: Int = 1) -> RetryStrategy {
        RetryStrategy(backoff: .constant(wait).jitter(.none), limit: limit)
    }

    /// After waits that double, with full jitter.
    public static func exponential(from base: Duration = .milliseconds(500), limit: Int = 3) -> RetryStrategy {
        RetryStrategy(backoff: .exponential(from: base), limit: limit)
    }

    /// After waits of 1, 1, 2, 3, 5 … units.
    public static func fibonacci(_ unit: Duration = .seconds(1), limit: Int = 3) -> RetryStrategy {
        RetryStrategy(backoff: .fibonacci(unit).jitter(.none), limit: limit)
    }

    /// After a task, such as a log-in, and a wait, none by default.
    ///
    /// Every operation runs its own task; where one has to serve all that wait, that is an
    /// ``AuthenticationInterceptor``.
    public static func after(
        _ task: @escaping Preparation,
        delay: Duration = .zero,
        limit: Int = 1
    ) -> RetryStrategy {
        RetryStrategy(backoff: .constant(delay).jitter(.none), limit: limit, prepare: task)
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// Gives each operation an `Idempotency-Key`, by which a server recognizes a request that it receives twice.
    ///
    /// ```swift
    /// environment.interceptors.append(.idempotencyKeys())
    /// environment.retry = .default
    /// ```
    ///
    /// A POST without a response may have been carried out. A server that supports the field carries it out once, however
    /// often it receives it; so a ``RetryPolicy`` retries requests that have a key whatever their method. All attempts of
    /// an operation have the same key, which no other operation has. A request that has a key already keeps it.
    ///
    /// Use it only for servers that are known to support the field: others ignore it, and carry a retry out again.
    ///
    /// - Parameters:
    ///   - methods: The methods whose requests get a key; POST and PATCH by default, since a server may receive the other
    ///     common ones twice anyway.
    ///   - makeKey: Makes the key of an operation, unique among all; by default a random UUID. A key that isn't valid in a
    ///     header field fails the request.
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

/// An identity for the notes of an interceptor that is a value.
private final class NoteAuthor: Sendable {}
