// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What one request overrides of the environment that it runs in; nil takes the environment's.
public struct RequestOptions: Sendable, Hashable {
    /// How long the transfer may stay silent.
    public var timeout: Duration?
    /// How long the operation may take in all, counted from its making: waiting in the queue, retries and back-off
    /// included.
    ///
    /// For a request that is made from the results of other operations, it counts from when the request is.
    public var deadline: Duration?
    /// What becomes of redirects.
    public var redirect: RedirectPolicy?
    /// Whom the connection trusts.
    public var trust: TrustPolicy?
    /// When the request is tried again.
    public var retry: RetryPolicy?
    /// How many bytes of content are read into memory at most, after decoding.
    public var maximumBodySize: Int?
    /// How many bytes the head of the response may have at most.
    public var maximumHeadSize: Int?
    /// Whether cookies are sent and those of the response are kept, the environment's as well as those that a
    /// `URLSession` has; true by default.
    public var usesCookies = true
    /// How the request uses the cache of the environment; by default as HTTP says.
    ///
    /// With `.none`, a cache that the transport has isn't used either.
    public var caching = ResponseCache.Policy.standard
    /// Whether a status that isn't among the valid ones is a failure; true by default.
    ///
    /// Without it the request sees every response in `process`.
    public var validatesStatus = true
    /// The statuses that are answers, in the place of the request's own; nil takes those.
    public var validStatusCodes: [Int]?
    /// Whether the request joins the unfinished transfer of an equal one; false by default.
    ///
    /// `addRequest` tells what equal means, and when it joins.
    public var coalesce = false

    /// The categories of which the operation has to be the only one that runs, whichever queues the others are on; none by
    /// default.
    ///
    /// They count where the operation is added by ``RequestQueue``, by a client or by a group. One that `OperationQueue`'s
    /// own `addOperation` was given fails, and so does a request that is made from results: there the call that adds it
    /// says them.
    public var exclusivity: Set<ExclusiveCategory> = []
    /// How soon the operation starts, among those that could; nil leaves that to whoever adds it.
    public var priority: Operation.QueuePriority?
    /// A name for people, which monitors and pictures of a queue show.
    public var tag: String?

    /// How urgent the transfer is among those of one connection, from 0 to 1; nil leaves it to the transport.
    ///
    /// A `URLSession` takes it as the priority of its task, libcurl as the weight of a stream of HTTP/2. It is a hint.
    public var httpPriority: Double?
    /// Whether the interceptors that add credentials are passed by, and an `Authorization` field of the environment is left
    /// out; false by default.
    public var isUnauthenticated = false

    /// Header fields whose values are secrets, besides those that everybody knows for such and those of the
    /// environment: no description shows them, and no other origin receives them.
    public var secretHeaders: Set<HTTPField.Name> = []

    private var policies = Policies()

    /// Makes options that override nothing.
    public init() {}
}

extension RequestOptions {
    // None of these can be compared. Copies of one set of them are equal, which is what coalescing asks.
    private struct Policies: Sendable, Hashable {
        var conditions: Identified<[any RequestCondition]>?
        var interceptors: Identified<[any Interceptor]>?
        var validators: Identified<[any ResponseValidator]>?
        var monitors: Identified<[any EventMonitor]>?
        var bypassed: Identified<[any Interceptor.Type]>?
        var userInfo: Identified<UserInfo>?
        var configureTask: Identified<@Sendable (URLSessionTask) -> Void>?
        var changes: Identified<[@Sendable (inout HTTPRequest) -> Void]>?
    }

    /// What has to hold before the operation does anything, after the conditions of the environment.
    public var conditions: [any RequestCondition] {
        get { policies.conditions?.value ?? [] }
        set { policies.conditions = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// What changes the request and the response, and decides about retries, after the interceptors of the environment.
    public var interceptors: [any Interceptor] {
        get { policies.interceptors?.value ?? [] }
        set { policies.interceptors = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// What judges the response, after the validators of the environment.
    public var validators: [any ResponseValidator] {
        get { policies.validators?.value ?? [] }
        set { policies.validators = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// What watches the operation, besides the monitors of the environment.
    public var monitors: [any EventMonitor] {
        get { policies.monitors?.value ?? [] }
        set { policies.monitors = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// The kinds of interceptors that the request is sent past.
    public var bypassedInterceptors: [any Interceptor.Type] {
        get { policies.bypassed?.value ?? [] }
        set { policies.bypassed = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// What your own interceptors, validators and monitors are told about the request.
    public var userInfo: UserInfo {
        get { policies.userInfo?.value ?? UserInfo() }
        set { policies.userInfo = Identified(newValue) }
    }

    /// Changes the task of a `URLSession` before it is resumed.
    ///
    /// For what only Foundation has, such as the number of bytes that are expected. Other transports don't call it.
    /// Called once for each transfer, on no thread in particular.
    public var configureTask: (@Sendable (URLSessionTask) -> Void)? {
        get { policies.configureTask?.value }
        set { policies.configureTask = newValue.map(Identified.init) }
    }

    /// The changes that modifiers have made to what is sent, in their order, for requests that don't store that.
    var changes: [@Sendable (inout HTTPRequest) -> Void] {
        get { policies.changes?.value ?? [] }
        set { policies.changes = newValue.isEmpty ? nil : Identified(newValue) }
    }
}

// MARK: - In a request

extension HTTPRequest {
    /// What to override of the environment where this request is the operation's own.
    public var options: RequestOptions {
        get { (attachment as? Box<RequestOptions>)?.value ?? RequestOptions() }
        set { attachment = Box(newValue) }
    }

    /// Takes the options out of the request.
    mutating func detachOptions() -> RequestOptions {
        guard attachment != nil else { return RequestOptions() }
        defer { attachment = nil }
        return options
    }
}

extension RequestOptions {
    /// These options, and those of what the request is made of where these say nothing.
    func over(_ base: RequestOptions) -> RequestOptions {
        var options = self
        options.timeout = timeout ?? base.timeout
        options.deadline = deadline ?? base.deadline
        options.redirect = redirect ?? base.redirect
        options.trust = trust ?? base.trust
        options.retry = retry ?? base.retry
        options.maximumBodySize = maximumBodySize ?? base.maximumBodySize
        options.maximumHeadSize = maximumHeadSize ?? base.maximumHeadSize
        options.validStatusCodes = validStatusCodes ?? base.validStatusCodes
        options.priority = priority ?? base.priority
        options.httpPriority = httpPriority ?? base.httpPriority
        options.tag = tag ?? base.tag
        options.caching = caching == .standard ? base.caching : caching
        options.configureTask = configureTask ?? base.configureTask
        options.usesCookies = usesCookies && base.usesCookies
        options.validatesStatus = validatesStatus && base.validatesStatus
        options.coalesce = coalesce || base.coalesce
        options.isUnauthenticated = isUnauthenticated || base.isUnauthenticated
        options.exclusivity.formUnion(base.exclusivity)
        options.secretHeaders.formUnion(base.secretHeaders)
        options.conditions = base.conditions + conditions
        options.interceptors = base.interceptors + interceptors
        options.validators = base.validators + validators
        options.monitors = base.monitors + monitors
        options.bypassedInterceptors = base.bypassedInterceptors + bypassedInterceptors
        options.changes = base.changes + changes
        if base.policies.userInfo != nil { options.userInfo = userInfo.over(base.userInfo) }
        return options
    }

    /// Whether modifiers have recorded changes.
    var hasChanges: Bool { policies.changes != nil }

    /// Has a request pass by a cache that the transport has, if that is wanted.
    func apply(to request: inout HTTPRequest) {
        guard caching == .none else { return }
        switch request.cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .reloadRevalidatingCacheData:
            request.cachePolicy = .reloadIgnoringLocalCacheData
        default: break  // These pass by the cache already, or forbid to send.
        }
    }

    /// Makes the changes that modifiers have recorded.
    func change(_ request: inout HTTPRequest) {
        for change in changes { change(&request) }
    }
}
