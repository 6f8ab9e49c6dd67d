// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The rules for retrying failed requests: which ones, how often, and after which wait.
///
/// ```swift
/// environment.retry = .default
/// environment.retry = RetryPolicy(limit: 5, backoff: .exponential(from: .seconds(1)))
/// ```
///
/// It retries failures that may not occur again, if a retry does no harm after a first attempt that succeeded after
/// all:
///
/// | status | retried by default |
/// |---|---|
/// | 408 Request Timeout | yes: the server gave up waiting for the request |
/// | 425 Too Early | yes: the server wants it after the handshake |
/// | 429 Too Many Requests | yes: that is the purpose of its `Retry-After` |
/// | 500 Internal Server Error | yes: it may have been a single worker |
/// | 502, 503, 504 | yes: a gateway got no answer, or not in time |
/// | 501, 505 and other 5xx | no: the server states that it can't do it at all |
/// | 401, 407 | no: the same credentials would fail again; an ``AuthenticationInterceptor`` gets new ones |
/// | 409, 412, 423 and other 4xx | no: something has to change first |
///
/// | error | retried by default |
/// |---|---|
/// | `timedOut`, `cannotConnect`, `connectionLost`, `offline` | yes: network failures are often temporary |
/// | `cancelled`, `deadlineExceeded` | no: the result isn't needed any more |
/// | `untrusted` | no: an attacker in the middle would stay, and repeating helps it |
/// | `badResponse`, `headTooLarge`, `bodyTooLarge`, `decoding` and others that the response itself causes | no: it would come again |
/// | `tooManyRedirects`, `badRedirect`, `redirectRefused` | no: they would lead the same way |
/// | `invalidRequest`, `encoding`, `unsupported`, `bodyNotReplayable` | no: the request itself is invalid |
///
/// Methods that are idempotent are retried, and requests with an `Idempotency-Key`, by which the server knows them
/// again: ``Interceptor/idempotencyKeys(for:makeKey:)`` gives them one. Any other request is retried only if it wasn't
/// sent, because no connection could be made: ``RequestError/wasNotSent``. A POST that got no answer may have been
/// carried out. Only bodies that can be sent again are. An interceptor's own decision comes first.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of retries, including those that interceptors and validators requested.
    ///
    /// It limits this policy alone. Interceptors and the strategies of validators have limits of their own, which may
    /// be higher.
    public var limit: Int
    /// The waits before retries.
    public var backoff: RetryPolicy.Backoff
    /// The methods that are retried, besides all requests with an `Idempotency-Key` and all that weren't sent.
    ///
    /// `nil` is for every method, which only suits a server that is known to allow it.
    public var methods: Set<HTTPMethod>?
    /// The statuses that are retried, except those that the request accepts.
    public var statuses: Set<HTTPStatus> = transientStatuses
    /// The errors that are retried.
    ///
    /// An error of the caller, such as `invalidRequest` or `cancelled`, and one that would occur again, such as
    /// `tooManyRedirects` or `bodyTooLarge`, is never retried.
    public var codes: Set<RequestError.Code> = transientErrors
    /// The maximum wait that the server may ask for with `Retry-After`; a minute by default.
    ///
    /// If it asks for more, the request fails: an earlier retry would have no effect.
    public var maximumRetryAfter: Duration = .seconds(60)
    /// Methods whose requests are sent again by somebody else, such as a stream of events that reconnects.
    var excludedMethods: Set<HTTPMethod> = []

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of retries.
    ///   - backoff: The waits before them.
    ///   - methods: The methods that are retried; by default the idempotent ones. `nil` is all of them.
    public init(
        limit: Int = 2,
        backoff: RetryPolicy.Backoff = .exponential(),
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

    /// Retries only 429, up to three times and for any method, because the server didn't process the request.
    ///
    /// The wait is that of `Retry-After`, or else that of ``default``. A POST that fails in another way, and
    /// may have been processed, isn't sent again.
    public static let rateLimited: RetryPolicy = {
        var policy = RetryPolicy(limit: 3, methods: nil)
        (policy.statuses, policy.codes) = ([.tooManyRequests], [])
        return policy
    }()

    /// Another name of ``never``, which an optional policy would take for `nil`, and so for the inherited policy.
    @available(*, unavailable, renamed: "never")
    public static var none: RetryPolicy { never }

    /// Methods that have the same effect if they are sent twice (RFC 9110, 9.2.2).
    public static let idempotentMethods: Set<HTTPMethod> = [.get, .head, .put, .delete, .options, .trace]

    /// Statuses that may not occur again.
    public static let transientStatuses: Set<HTTPStatus> = [
        .requestTimeout, .tooEarly, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable,
        .gatewayTimeout,
    ]

    /// Errors of the network, which are often temporary.
    public static let transientErrors: Set<RequestError.Code> = [
        .timedOut, .cannotConnect, .connectionLost, .offline,
    ]

    /// Decides about a failure.
    ///
    /// - Parameters:
    ///   - error: The failure; with the request that was sent last, and the response, if there was one.
    ///   - request: The request that would be sent again, whatever redirects it went through; `nil` is the error's.
    ///   - attempt: The number of the attempt that failed; 1 is the first.
    ///   - now: The current time, for a `Retry-After` that is a date.
    ///   - random: The source of the jitter.
    /// - Returns: A retry after a wait, or `pass`.
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

    /// Returns the wait before another attempt, or `nil` for no retry; the body must be replayable.
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
        guard let asked = error.retryAfter(from: now) else { return wait }
        return asked <= maximumRetryAfter ? max(asked, wait) : nil
    }

    private func isTransient(_ error: RequestError) -> Bool {
        guard error.code == .unacceptableStatus else { return codes.contains(error.code) }
        return error.response.map { statuses.contains($0.status) } ?? false
    }
}

extension RequestError {
    /// The wait that the server asks for before a retry, in `Retry-After-Ms` or `Retry-After` (RFC 9110, 10.2.3); `nil`
    /// if it doesn't.
    public func retryAfter(from now: Date = Date()) -> Duration? {
        response?["Retry-After-Ms"].flatMap(Duration.init(retryAfterMilliseconds:))
            ?? response?[.retryAfter].flatMap { Duration(retryAfter: $0, now: now) }
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
    /// A POST without a response may have been carried out. A server that supports the field carries it out once,
    /// however often it receives it; so a ``RetryPolicy`` retries requests that have a key whatever their method. All
    /// attempts of an operation have the same key, which no other operation has. A request that has a key already keeps
    /// it.
    ///
    /// Use it only for servers that are known to support the field: others ignore it, and carry a retry out again.
    ///
    /// - Parameters:
    ///   - methods: The methods whose requests get a key; POST and PATCH by default, since a server may receive the
    ///     other common ones twice anyway.
    ///   - makeKey: Makes the key of an operation, unique among all; by default a random UUID. A key that isn't valid
    ///     in a header field fails the request.
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
