// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Sends a request on behalf of another, over the same transport and in the same environment.
typealias Sender = @Sendable (HTTPRequest) async throws -> HTTPResponse<Data>

/// What the transfers of a call are for: an operation, or several that share a transfer.
protocol TransferOwner: AnyObject, Sendable {
    /// The identifier of the request, computed now.
    var requestIdentifier: String { get }
    /// Whether the content is collected in memory, where a cache may provide it and validators see it.
    var keepsContentInMemory: Bool { get }
    /// The urgency of the request: its own, or that of the most urgent one that it works for.
    var urgency: Int { get }
    /// What sends requests on behalf of this one; it doesn't hold on to the operation.
    var sender: Sender { get }

    /// Records that a transfer begins, or returns false if none may, since there is a result.
    func beginTransfer() -> Bool
    /// Records that a transfer has ended.
    func endTransfer()

    /// Whether something else than memory takes the content of a response with this head.
    func claims(_ head: HTTPResponseHead) -> Bool
    /// Makes what takes the content of a response; nil for memory.
    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws
        -> (any ContentReceiver)?
    /// Judges the end of a transfer whose content went elsewhere, before anything else does.
    func review(_ error: RequestError?, isDelivered: Bool) -> TransferReview
}

/// What a call asks its operation for: all that depends on the type of the request.
protocol CallOperation: TransferOwner {
    /// Whether a failed request may be sent again.
    var mayTryAgain: Bool { get }

    /// Has the request made, by its completion handler.
    func makeRequest() async throws -> HTTPRequest
    /// Lets the class of the operation change the request.
    func prepare(_ request: inout HTTPRequest) throws

    /// Makes the value of a good response that is complete, and finishes.
    func conclude(
        _ response: HTTPResponse<ResponseContent>,
        of request: HTTPRequest,
        in attempt: CallAttempt
    ) async throws(CallFailure)
    /// Finishes with a failure.
    func fail(_ failure: CallFailure)
}

/// What the end of a transfer means whose content went elsewhere.
enum TransferReview: Sendable {
    /// What it means for every transfer.
    case usual
    /// The request is to be sent again at once.
    case again(RequestError)
    /// It is a failure, whatever the transport says.
    case failure(RequestError)
}

/// What the request and its environment say about a call, read once.
final class CallPlan: Sendable {
    let options: RequestOptions
    let conditions: [any RequestCondition]
    let interceptors: [any Interceptor]
    /// Where each of the interceptors stands among all.
    let positions: [Int]
    let validators: [any ResponseValidator]
    /// The statuses that the request accepts.
    let validStatusCodes: [Int]

    /// Reads what there is to know; no interceptor is applied to work on its own behalf, which the scope names.
    init(_ options: RequestOptions, _ validStatusCodes: [Int], of call: Call, isOnBehalf: Bool) {
        self.options = options
        self.validStatusCodes = options.validStatusCodes ?? validStatusCodes
        conditions = call.environment.conditions.followed(by: options.conditions)
        validators = call.environment.validators.followed(by: options.validators)
        let interceptors = call.environment.interceptors.followed(by: options.interceptors)
        if !interceptors.isEmpty, call.scope != nil || options.bypassesInterceptors {
            let applied = interceptors.indices.filter {
                call.scope?.serves(interceptors[$0], at: $0, inOneEnvironment: isOnBehalf) != true
                    && !options.bypasses(interceptors[$0])
            }
            (self.interceptors, positions) = (applied.map { interceptors[$0] }, applied)
        } else {
            (self.interceptors, positions) = (interceptors, Array(interceptors.indices))
        }
    }

    /// The plan of a transfer for several calls that want different amounts of it.
    init(_ plan: CallPlan, _ limits: CoalescingLimits) {
        var options = plan.options
        (options.maximumHeadSize, options.maximumBodySize) = (limits.head, limits.content)
        self.options = options
        (conditions, validators, validStatusCodes) = ([], [], [])
        // Its place in the chain is behind the interceptors, and is counted with them.
        (interceptors, positions) = (plan.interceptors, plan.positions)
    }
}

extension RequestOptions {
    fileprivate var bypassesInterceptors: Bool { isUnauthenticated || !bypassedInterceptors.isEmpty }

    /// Whether the request is sent past an interceptor, be it limited to some requests or not.
    fileprivate func bypasses(_ interceptor: any Interceptor) -> Bool {
        if bypassedInterceptors.contains(where: { $0 == type(of: interceptor) }) { return true }
        if let scoped = interceptor as? any InterceptorWrapper { return bypasses(scoped.wrapped) }
        return isUnauthenticated && (interceptor is any ChallengeAnswering || interceptor is any HopAuthenticating)
    }
}

extension Array {
    // Most requests bring none of their own: then nothing is copied.
    func followed(by others: [Element]) -> [Element] {
        others.isEmpty ? self : isEmpty ? others : self + others
    }
}

/// Takes the content of one response, in the place of memory: a file, a stream.
///
/// One thread at a time calls it, in the order of the content, and `end` last.
protocol ContentReceiver: AnyObject, Sendable {
    /// How many bytes of the whole it has, with those that were there before; nil where it doesn't want any.
    var count: Int64? { get }

    /// Takes a piece.
    ///
    /// - Throws: What fails the operation.
    func receive(_ data: Data) throws

    /// The transfer is over; with no error, the content is complete.
    func end(_ error: RequestError?)
}
