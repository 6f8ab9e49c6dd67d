// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The settings of a run, from the request and its environment, read once.
final class RunPlan: Sendable {
    let options: RequestOptions
    let conditions: [any RequestCondition]
    let interceptors: [PlacedInterceptor]
    let validators: [any ResponseValidator]
    /// The statuses that the request accepts.
    let validStatusCodes: [Int]

    /// The plan of most requests: without settings of their own, in an environment without policies.
    private static let plain = RunPlan(RequestOptions(), validStatusCodes: successfulStatusCodes)

    private init(_ options: RequestOptions, validStatusCodes: [Int] = []) {
        self.options = options
        self.validStatusCodes = validStatusCodes
        (conditions, interceptors, validators) = ([], [], [])
    }

    /// The plan of a request with these options and statuses.
    static func make(
        _ options: RequestOptions,
        _ statuses: [Int],
        in environment: RequestEnvironment,
        scope: RunScope?
    ) -> RunPlan {
        let isPlain =
            environment.conditions.isEmpty && environment.interceptors.isEmpty && environment.validators.isEmpty
            && options == plain.options && statuses == plain.validStatusCodes
        return isPlain ? plain : RunPlan(options, statuses, in: environment, scope: scope)
    }

    /// Reads the settings; interceptors aren't applied to their own requests, which the scope names.
    ///
    /// - Parameters:
    ///   - options: The options of the request.
    ///   - statuses: The statuses that the request accepts, unless its options have others.
    ///   - environment: The environment of the operation.
    ///   - scope: The work on whose behalf the request is sent, if any.
    ///   - isOnBehalf: Whether that work is of a run in the same environment.
    init(
        _ options: RequestOptions,
        _ statuses: [Int],
        in environment: RequestEnvironment,
        scope: RunScope?,
        isOnBehalf: Bool = false
    ) {
        self.options = options
        validStatusCodes = options.validStatusCodes ?? statuses
        conditions = environment.conditions.followed(by: options.conditions)
        validators = environment.validators.followed(by: options.validators)
        let placed = environment.interceptors.followed(by: options.interceptors).enumerated().map {
            PlacedInterceptor(interceptor: $1, position: $0)
        }
        interceptors =
            scope == nil && !options.bypassesInterceptors
            ? placed
            : placed.filter { placed in
                scope?.serves(placed.interceptor, at: placed.position, inOneEnvironment: isOnBehalf) != true
                    && !options.bypasses(placed.interceptor)
            }
    }
}

extension RunPlan {
    /// The plan of a run that continues another one: the others judge its answer.
    ///
    /// - Parameters:
    ///   - plan: The plan of the other run.
    ///   - limits: The maximum sizes of the answer; `nil` for those of the other run.
    convenience init(continuing plan: RunPlan, _ limits: CoalescingLimits?) {
        var options = plan.options
        options.maximumHeadSize = limits?.head ?? options.maximumHeadSize
        options.maximumBodySize = limits?.content ?? options.maximumBodySize
        (options.retry, options.deadline, options.validatesStatus) = (.never, nil, false)
        // Those that wait for it have their turns.
        options.exclusivity = []
        self.init(options)
    }
}

extension RequestOptions {
    fileprivate var bypassesInterceptors: Bool { isUnauthenticated || !bypassedInterceptors.isEmpty }

    /// Whether the request bypasses an interceptor, which may be limited to some requests.
    fileprivate func bypasses(_ interceptor: any Interceptor) -> Bool {
        if bypassedInterceptors.contains(where: { $0 == type(of: interceptor) }) { return true }
        if let scoped = interceptor as? any InterceptorWrapper { return bypasses(scoped.wrapped) }
        return isUnauthenticated && (interceptor is any ChallengeAnswering || interceptor is any HopAuthenticating)
    }
}

// Made once: the default is needed for every response.
let successfulStatusCodes = Array(200..<300)

extension Array {
    // Most requests have none of their own: then nothing is copied.
    func followed(by others: [Element]) -> [Element] {
        others.isEmpty ? self : isEmpty ? others : self + others
    }
}

/// Receives the content of one response, instead of memory: a file, a stream.
///
/// One thread at a time calls it, in the order of the content, and `end` last.
protocol ContentReceiver: AnyObject, Sendable {
    /// The byte count of the whole so far, with the bytes that were there before; `nil` if it doesn't want any.
    var count: Int64? { get }

    /// Receives a piece.
    ///
    /// - Throws: An error that fails the operation.
    func receive(_ data: Data) throws

    /// Ends the content, because the transfer is over; without an error, the content is complete.
    func end(_ error: RequestError?)
}
