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
    public var maximumHeaderSize: Int?
    /// Whether cookies are sent and those of the response are kept, the environment's as well as those that a
    /// `URLSession` has; true by default.
    public var usesCookies = true
    /// Whether a status that isn't among the valid ones is a failure; true by default.
    ///
    /// Without it the request sees every response in `process`.
    public var validatesStatus = true
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
}
