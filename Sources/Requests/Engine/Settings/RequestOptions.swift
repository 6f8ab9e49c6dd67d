// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The settings of one request that override those of its environment; `nil` keeps the environment's.
///
/// Most requests have none, and a copy of those takes no time.
public struct RequestOptions: Sendable {
    // An array of one, which is copied on write; empty without options. The properties read it themselves, because
    // `values` copies all of them.
    private var storage: [Values] = []

    /// The stored properties.
    private struct Values: Sendable, Hashable {
        var timeout: Duration?
        var deadline: Duration?
        var redirect: RedirectPolicy?
        var trust: TrustPolicy?
        var retry: RetryPolicy?
        var maximumBodySize: Int?
        var maximumHeadSize: Int?
        var usesCookies = true
        var validatesStatus = true
        var validStatusCodes: [Int]?
        var coalesce = false
        var exclusivity: Set<ExclusiveCategory> = []
        var priority: Operation.QueuePriority?
        var tag: String?
        var httpPriority: Double?
        var isUnauthenticated = false
        var sensitiveHeaders: Set<HTTPField.Name> = []
        var omittedHeaders: Set<HTTPField.Name> = []
        var crossOriginHeaders: Set<HTTPField.Name> = []
        // `standard` overrides the policy of an underlying request.
        var ownCaching: ResponseCache.Policy?
        var policies = Policies()
    }

    private static let defaults = Values()

    private var values: Values {
        _read { if storage.isEmpty { yield Self.defaults } else { yield storage[0] } }
        _modify {
            if storage.isEmpty { storage = [Self.defaults] }
            yield &storage[0]
        }
    }

    /// Creates options that override nothing.
    public init() {}
}

extension RequestOptions: Hashable {
    /// Whether both override the same settings by the same values.
    public static func == (one: RequestOptions, other: RequestOptions) -> Bool {
        one.storage.isEmpty && other.storage.isEmpty || one.values == other.values
    }

    /// Hashes the settings.
    public func hash(into hasher: inout Hasher) { values.hash(into: &hasher) }
}

extension RequestOptions: CustomReflectable {
    /// A mirror of the options.
    public var customMirror: Mirror {
        Mirror(self, children: Mirror(reflecting: values).children, displayStyle: .struct)
    }
}

extension RequestOptions {
    /// The maximum time without data.
    public var timeout: Duration? {
        get { storage.isEmpty ? nil : storage[0].timeout }
        set { values.timeout = newValue }
    }

    /// The maximum time of the operation, from its creation: including the time in the queue, retries and back-off.
    ///
    /// For a request that is made from the results of other operations, it counts from the creation of the request.
    public var deadline: Duration? {
        get { storage.isEmpty ? nil : storage[0].deadline }
        set { values.deadline = newValue }
    }

    /// The handling of redirects.
    public var redirect: RedirectPolicy? {
        get { storage.isEmpty ? nil : storage[0].redirect }
        set { values.redirect = newValue }
    }

    /// The trust policy for the connection.
    public var trust: TrustPolicy? {
        get { storage.isEmpty ? nil : storage[0].trust }
        set { values.trust = newValue }
    }

    /// The policy for retrying the request.
    public var retry: RetryPolicy? {
        get { storage.isEmpty ? nil : storage[0].retry }
        set { values.retry = newValue }
    }

    /// The maximum byte count of content in memory, after decoding.
    public var maximumBodySize: Int? {
        get { storage.isEmpty ? nil : storage[0].maximumBodySize }
        set { values.maximumBodySize = newValue }
    }

    /// The maximum byte count of the response's head.
    public var maximumHeadSize: Int? {
        get { storage.isEmpty ? nil : storage[0].maximumHeadSize }
        set { values.maximumHeadSize = newValue }
    }

    /// Whether cookies are sent and those of the response are stored, in the environment's storage as well as in that
    /// of a `URLSession`; true by default.
    public var usesCookies: Bool {
        get { storage.isEmpty || storage[0].usesCookies }
        set { values.usesCookies = newValue }
    }

    /// Whether a status that isn't accepted is a failure; true by default.
    ///
    /// If false, the request gets every response in `process`.
    public var validatesStatus: Bool {
        get { storage.isEmpty || storage[0].validatesStatus }
        set { values.validatesStatus = newValue }
    }

    /// The accepted statuses, which replace the request's own; `nil` keeps those.
    public var validStatusCodes: [Int]? {
        get { storage.isEmpty ? nil : storage[0].validStatusCodes }
        set { values.validStatusCodes = newValue }
    }

    /// Whether the request joins the unfinished transfer of an equal one; false by default.
    ///
    /// Requests that change their task with ``configureTask`` are equal only if one is a copy of the other.
    /// `addRequest` explains which requests are equal, and when one joins.
    public var coalesce: Bool {
        get { !storage.isEmpty && storage[0].coalesce }
        set { values.coalesce = newValue }
    }

    /// The categories of which only one operation may run at a time, on all queues together; none by default.
    ///
    /// They take effect if the operation is added by ``RequestQueue``, by a client or by a group. An operation that was
    /// added with `addOperation` of `OperationQueue` fails, and so does a request that is made from results: name them
    /// in the call that adds it.
    public var exclusivity: Set<ExclusiveCategory> {
        get { storage.isEmpty ? [] : storage[0].exclusivity }
        set { values.exclusivity = newValue }
    }

    /// The priority of the operation in its queue; `nil` leaves it to the code that adds the operation.
    public var priority: Operation.QueuePriority? {
        get { storage.isEmpty ? nil : storage[0].priority }
        set { values.priority = newValue }
    }

    /// A name for display, which monitors and graphs show.
    public var tag: String? {
        get { storage.isEmpty ? nil : storage[0].tag }
        set { values.tag = newValue }
    }

    /// The priority of the transfer among those of one connection, from 0 to 1; `nil` lets the transport decide.
    ///
    /// A `URLSession` uses it as the priority of its task, libcurl as the weight of an HTTP/2 stream. It is a hint.
    public var httpPriority: Double? {
        get { storage.isEmpty ? nil : storage[0].httpPriority }
        set { values.httpPriority = newValue }
    }

    /// Whether the request bypasses the interceptors that add credentials, and leaves out an `Authorization` field of
    /// the environment; false by default.
    public var isUnauthenticated: Bool {
        get { !storage.isEmpty && storage[0].isUnauthenticated }
        set { values.isUnauthenticated = newValue }
    }

    /// Header fields whose values are secrets, besides well-known ones and those of the environment.
    ///
    /// No description shows them.
    public var sensitiveHeaders: Set<HTTPField.Name> {
        get { storage.isEmpty ? [] : storage[0].sensitiveHeaders }
        set { values.sensitiveHeaders = newValue }
    }

    /// Header fields of the environment that the request leaves out; none by default.
    public var omittedHeaders: Set<HTTPField.Name> {
        get { storage.isEmpty ? [] : storage[0].omittedHeaders }
        set { values.omittedHeaders = newValue }
    }

    /// Header fields that follow the request to another origin, besides harmless ones and those of the environment.
    ///
    /// ``RequestEnvironment/Settings/crossOriginHeaders`` has the details.
    public var crossOriginHeaders: Set<HTTPField.Name> {
        get { storage.isEmpty ? [] : storage[0].crossOriginHeaders }
        set { values.crossOriginHeaders = newValue }
    }

    /// The request's use of the environment's cache; by default as HTTP defines it.
    ///
    /// With `.none`, a cache of the transport isn't used either.
    public var caching: ResponseCache.Policy {
        get { storage.isEmpty ? .standard : storage[0].ownCaching ?? .standard }
        set { values.ownCaching = newValue }
    }
}

extension RequestOptions {
    // None of these can be compared. Copies of one set of them are equal, which is sufficient for coalescing.
    private struct Policies: Sendable, Hashable {
        var conditions: Identified<[any RequestCondition]>?
        var interceptors: Identified<[any Interceptor]>?
        var validators: Identified<[any ResponseValidator]>?
        var monitors: Identified<[any EventMonitor]>?
        var bypassed: Identified<[any Interceptor.Type]>?
        var userInfo: Identified<HTTPRequest.UserInfo>?
        var configureTask: Identified<@Sendable (URLSessionTask) -> Void>?
        var changes: Identified<[@Sendable (inout HTTPRequest) -> Void]>?
    }

    /// The conditions for starting the operation's work, checked after those of the environment.
    public var conditions: [any RequestCondition] {
        get { storage.isEmpty ? [] : storage[0].policies.conditions?.value ?? [] }
        set { values.policies.conditions = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// The interceptors, which change the request and the response, and decide about retries, after those of the
    /// environment.
    public var interceptors: [any Interceptor] {
        get { storage.isEmpty ? [] : storage[0].policies.interceptors?.value ?? [] }
        set { values.policies.interceptors = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// The validators, which judge the response, after those of the environment.
    public var validators: [any ResponseValidator] {
        get { storage.isEmpty ? [] : storage[0].policies.validators?.value ?? [] }
        set { values.policies.validators = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// The monitors of the operation, besides those of the environment.
    public var monitors: [any EventMonitor] {
        get { storage.isEmpty ? [] : storage[0].policies.monitors?.value ?? [] }
        set { values.policies.monitors = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// The types of interceptors that the request bypasses.
    public var bypassedInterceptors: [any Interceptor.Type] {
        get { storage.isEmpty ? [] : storage[0].policies.bypassed?.value ?? [] }
        set { values.policies.bypassed = newValue.isEmpty ? nil : Identified(newValue) }
    }

    /// Your data about the request, for your own interceptors, validators and monitors.
    public var userInfo: HTTPRequest.UserInfo {
        get { storage.isEmpty ? HTTPRequest.UserInfo() : storage[0].policies.userInfo?.value ?? HTTPRequest.UserInfo() }
        set { values.policies.userInfo = Identified(newValue) }
    }

    /// Options with the same data about the request, and nothing else; `nil` if there is none.
    var userInfoAlone: RequestOptions? {
        guard !storage.isEmpty, storage[0].policies.userInfo != nil else { return nil }
        var options = RequestOptions()
        options.values.policies.userInfo = storage[0].policies.userInfo
        return options
    }

    /// Changes the task of a `URLSession` before it is resumed.
    ///
    /// It is for features that only Foundation has, such as the expected byte count. Other transports don't call it.
    /// Called once for each transfer, on no particular thread.
    public var configureTask: (@Sendable (URLSessionTask) -> Void)? {
        get { storage.isEmpty ? nil : storage[0].policies.configureTask?.value }
        set { values.policies.configureTask = newValue.map(Identified.init) }
    }

    /// The change of a session's task, as a value that can be compared.
    var taskConfiguration: Identified<@Sendable (URLSessionTask) -> Void>? {
        storage.isEmpty ? nil : storage[0].policies.configureTask
    }

    /// The changes of modifiers to the sent request, in their order, for requests that don't store it.
    var changes: [@Sendable (inout HTTPRequest) -> Void] {
        get { storage.isEmpty ? [] : storage[0].policies.changes?.value ?? [] }
        set { values.policies.changes = newValue.isEmpty ? nil : Identified(newValue) }
    }
}

// MARK: - In a request

extension HTTPRequest {
    /// The options that override the environment, if this request is the operation's own.
    public var options: RequestOptions {
        get { fields.attachment as? RequestOptions ?? RequestOptions() }
        set { fields.attachment = newValue }
    }

    /// Keeps the data of the operation's request, which an interceptor can't change.
    mutating func keepUserInfo(of request: HTTPRequest) {
        guard request.fields.attachment != nil || fields.attachment != nil else { return }
        fields.attachment = request.fields.attachment
    }

    /// Removes the options from the request.
    mutating func detachOptions() -> RequestOptions {
        guard fields.attachment != nil else { return RequestOptions() }
        defer { fields.attachment = nil }
        return options
    }
}

extension RequestOptions {
    /// These options, completed with those of the underlying request.
    func over(_ base: RequestOptions) -> RequestOptions {
        guard !base.storage.isEmpty else { return self }
        guard !storage.isEmpty else { return base }
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
        options.values.ownCaching = values.ownCaching ?? base.values.ownCaching
        options.values.policies.configureTask = values.policies.configureTask ?? base.values.policies.configureTask
        options.usesCookies = usesCookies && base.usesCookies
        options.validatesStatus = validatesStatus && base.validatesStatus
        options.coalesce = coalesce || base.coalesce
        options.isUnauthenticated = isUnauthenticated || base.isUnauthenticated
        options.exclusivity.formUnion(base.exclusivity)
        options.sensitiveHeaders.formUnion(base.sensitiveHeaders)
        options.crossOriginHeaders.formUnion(base.crossOriginHeaders)
        options.omittedHeaders.formUnion(base.omittedHeaders)
        options.conditions = base.conditions + conditions
        options.interceptors = base.interceptors + interceptors
        options.validators = base.validators + validators
        options.monitors = base.monitors + monitors
        options.bypassedInterceptors = base.bypassedInterceptors + bypassedInterceptors
        options.changes = base.changes + changes
        if base.values.policies.userInfo != nil { options.userInfo = userInfo.over(base.userInfo) }
        return options
    }

    /// Whether modifiers have recorded changes.
    var hasChanges: Bool { !storage.isEmpty && storage[0].policies.changes != nil }

    /// Makes a request bypass a cache of the transport, if these options say so.
    func apply(to request: inout HTTPRequest) {
        guard caching == .none else { return }
        switch request.cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .reloadRevalidatingCacheData:
            request.cachePolicy = .reloadIgnoringLocalCacheData
        default: break  // These pass by the cache already, or forbid to send.
        }
    }

    /// Applies the changes that modifiers have recorded.
    func change(_ request: inout HTTPRequest) {
        for change in changes { change(&request) }
    }
}
