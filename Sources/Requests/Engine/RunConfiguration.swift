// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The settings of a run: the request's settings, or the environment's where the request has none.
///
/// Only this type applies that rule. Requests without individual settings share one configuration. Their client creates
/// it with ``RequestEnvironment/shareConfiguration()`` whenever its environment changes.
final class RunConfiguration: Sendable {
    let environment: RequestEnvironment
    /// The options of the request.
    ///
    /// Only options that an environment doesn't have should be read here.
    let options: RequestOptions
    /// The maximum time of the operation.
    let deadline: Duration?
    /// The maximum time without data, unless the sent request has its own timeout.
    let timeout: Duration?
    let redirect: RedirectPolicy
    let trust: TrustPolicy
    let retry: RetryPolicy
    /// The maximum sizes of a response in memory.
    let limits: ResponseLimits
    /// The cookie storage; `nil` if the request uses no cookies.
    let cookies: (any CookieStorage)?
    let headerMarks: HeaderMarks
    let conditions: [any RequestCondition]
    let interceptors: [PlacedInterceptor]
    let validators: [any ResponseValidator]
    /// The statuses that the request accepts.
    let validStatusCodes: [Int]
    /// The interceptors that the request passes through, unless it shares a transfer.
    let chain: [any Interceptor]
    /// Whether the run takes over from another run partway through that run's chain, in which case the request is
    /// already complete.
    let isContinuation: Bool

    /// Resolves the settings.
    ///
    /// An interceptor isn't applied to the requests that it sends itself, which the scope identifies.
    ///
    /// - Parameters:
    ///   - options: The options of the request.
    ///   - statuses: The statuses that the request accepts, unless its options replace them.
    ///   - environment: The environment of the operation.
    ///   - content: Where the content of the response goes.
    ///   - scope: The nested work for which the request is sent, if any.
    ///   - isNested: Whether a run in the same environment does that work.
    init(
        _ options: RequestOptions,
        _ statuses: [Int],
        in environment: RequestEnvironment,
        _ content: ContentDelivery = .inMemory,
        scope: NestingContext? = nil,
        isNested: Bool = false
    ) {
        (self.environment, self.options) = (environment, options)
        deadline = options.deadline ?? environment.deadline
        timeout = options.timeout ?? environment.timeout
        redirect = options.redirect ?? environment.redirect
        trust = options.trust ?? environment.trust
        retry = options.retry ?? environment.retry
        limits = ResponseLimits(
            head: options.maximumHeadSize ?? environment.maximumHeadSize,
            content: options.maximumBodySize ?? environment.maximumBodySize
        )
        cookies = options.usesCookies ? environment.cookies : nil
        headerMarks = environment.marks(options)
        conditions = environment.conditions.followed(by: options.conditions)
        validators = environment.validators.followed(by: options.validators)
        validStatusCodes = options.validStatusCodes ?? statuses
        let all = environment.interceptors.followed(by: options.interceptors)
        interceptors = all.isEmpty ? [] : Self.applicableInterceptors(all, options, scope, isNested)
        chain = Chain.interceptors(
            interceptors,
            redirect: redirect,
            cookies: cookies,
            caching: options.caching,
            content: content,
            isShared: false,
            in: environment
        )
        isContinuation = false
    }

    /// Returns the interceptors that are applied to the request, with their positions.
    private static func applicableInterceptors(
        _ interceptors: [any Interceptor],
        _ options: RequestOptions,
        _ scope: NestingContext?,
        _ isNested: Bool
    ) -> [PlacedInterceptor] {
        let placed = interceptors.enumerated().map { PlacedInterceptor(interceptor: $1, position: $0) }
        guard scope != nil || options.bypassesInterceptors else { return placed }
        return placed.filter { placed in
            scope?.hasAuthor(placed.interceptor, at: placed.position, inOneEnvironment: isNested) != true
                && !options.bypasses(placed.interceptor)
        }
    }

    /// Creates the configuration of a run that takes over from another run partway through that run's chain.
    ///
    /// The other run applies the deadline, and validates the response.
    ///
    /// - Parameters:
    ///   - other: The configuration of the other run.
    ///   - chain: The remaining interceptors.
    ///   - limits: The maximum sizes of the response; `nil` uses the limits of the other run.
    init(
        continuing other: RunConfiguration,
        through chain: [any Interceptor],
        _ limits: ResponseLimits? = nil
    ) {
        var options = other.options
        // The operations that wait for this run already hold their exclusive categories.
        (options.validatesStatus, options.exclusivity) = (false, [])
        (environment, self.options) = (other.environment, options)
        (deadline, retry, self.limits) = (nil, .never, limits ?? other.limits)
        (timeout, redirect, trust) = (other.timeout, other.redirect, other.trust)
        (cookies, headerMarks) = (other.cookies, other.headerMarks)
        (conditions, interceptors, validators, validStatusCodes) = ([], [], [], [])
        (self.chain, isContinuation) = (chain, true)
    }

    /// Returns whether the request accepts the status of a response.
    func acceptsStatus(of head: HTTPResponseHead) -> Bool {
        !options.validatesStatus || validStatusCodes.contains(head.status.code)
    }

    /// The interceptors that the request passes through if it shares the transfer of an equal request.
    var coalescingChain: [any Interceptor] {
        Chain.interceptors(
            interceptors,
            redirect: redirect,
            cookies: cookies,
            caching: options.caching,
            content: .inMemory,
            isShared: true,
            in: environment
        )
    }
}

extension RunConfiguration {
    private static let noOptions = RequestOptions()

    /// The configuration of an operation that sends nothing.
    static var withoutRequest: RunConfiguration { of(noOptions, successfulStatusCodes, in: .unchanged) }

    /// Returns the configuration of a request; requests without individual settings share one configuration.
    static func of(
        _ options: RequestOptions,
        _ statuses: [Int],
        in environment: RequestEnvironment,
        _ content: ContentDelivery = .inMemory,
        scope: NestingContext? = nil
    ) -> RunConfiguration {
        if let shared = environment.sharedConfiguration, content == .inMemory,
            scope == nil || shared.interceptors.isEmpty, statuses == successfulStatusCodes, options == noOptions
        {
            return shared
        }
        return RunConfiguration(options, statuses, in: environment, content, scope: scope)
    }

    /// Returns the configuration of a deferred request, or this configuration if the request has no individual
    /// settings.
    func resolved(
        _ options: RequestOptions,
        _ statuses: [Int],
        _ content: ContentDelivery,
        scope: NestingContext?
    ) -> RunConfiguration {
        if statuses == successfulStatusCodes, options == Self.noOptions { return self }
        return RunConfiguration(options, statuses, in: environment, content, scope: scope)
    }

    /// Creates the configuration that all requests without individual settings share in an environment.
    static func shared(in environment: RequestEnvironment) -> RunConfiguration {
        RunConfiguration(noOptions, successfulStatusCodes, in: environment)
    }
}

/// The maximum byte counts of a response in memory.
struct ResponseLimits: Sendable, Hashable {
    let head: Int
    let content: Int

    func covers(_ other: ResponseLimits) -> Bool {
        head >= other.head && content >= other.content
    }

    func union(_ other: ResponseLimits) -> ResponseLimits {
        ResponseLimits(head: max(head, other.head), content: max(content, other.content))
    }
}

extension RequestOptions {
    fileprivate var bypassesInterceptors: Bool { isUnauthenticated || !bypassedInterceptors.isEmpty }

    /// Returns whether the request bypasses an interceptor, or the interceptor that a scoped interceptor wraps.
    fileprivate func bypasses(_ interceptor: any Interceptor) -> Bool {
        if bypassedInterceptors.contains(where: { $0 == type(of: interceptor) }) { return true }
        if let scoped = interceptor as? any InterceptorWrapper { return bypasses(scoped.wrapped) }
        return isUnauthenticated && (interceptor is any RejectionHandling || interceptor is any HopAuthenticating)
    }
}

// Created once, because every response needs the default.
let successfulStatusCodes = Array(200..<300)

extension Array {
    // Avoids a copy in the usual case, in which a request adds nothing.
    func followed(by others: [Element]) -> [Element] {
        others.isEmpty ? self : isEmpty ? others : self + others
    }
}
