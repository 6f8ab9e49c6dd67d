// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Sends a request on behalf of another, over the same transport and in the same environment.
typealias Sender = @Sendable (HTTPRequest) async throws -> HTTPResponse<Data>

/// The owner of a call's transfers: an operation, or several that share a transfer.
protocol TransferOwner: AnyObject, Sendable {
    /// The identifier of the request, computed now.
    var requestIdentifier: String { get }
    /// Whether the content is collected in memory, where a cache may provide it and validators see it.
    var keepsContentInMemory: Bool { get }
    /// Whether the content may have no end, as that of a feed.
    var isOpenEnded: Bool { get }
    /// The priority of the request: its own, or the highest of those that share it.
    var urgency: Int { get }
    /// Sends requests on behalf of this one; it doesn't retain the operation.
    var sender: Sender { get }

    /// Records that a transfer begins; returns false if there is already a result, so that it must not begin.
    func beginTransfer() -> Bool
    /// Whether a transfer that has begun may still be sent, since there is no result.
    var maySend: Bool { get }
    /// Records that a transfer has ended.
    func endTransfer()

    /// Whether the content of a response with this head is received by something other than memory.
    func claims(_ head: HTTPResponseHead) -> Bool
    /// Makes the receiver of a response's content; `nil` for memory.
    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws
        -> (any ContentReceiver)?
    /// Judges the end of a transfer with a receiver of its own, before the usual judgement.
    func review(_ error: RequestError?, isDelivered: Bool) -> TransferReview
}

/// The operation of a call: it provides all that depends on the type of the request.
protocol CallOperation: TransferOwner {
    /// Whether a failed request may be sent again.
    var mayTryAgain: Bool { get }

    /// Makes the request, with its completion handler.
    func makeRequest() async throws -> HTTPRequest
    /// Lets the class of the operation change the request.
    func prepare(_ request: inout HTTPRequest) throws

    /// Makes the value of a good, complete response, and finishes.
    func conclude(
        _ response: HTTPResponse<ResponseContent>,
        of request: HTTPRequest,
        in attempt: CallAttempt
    ) async throws(CallFailure)
    /// Finishes with a failure.
    func fail(_ failure: CallFailure)
}

/// The judgement about the end of a transfer with a receiver of its own.
enum TransferReview: Sendable {
    /// The same as for every transfer.
    case usual
    /// The request is to be sent again at once.
    case again(RequestError)
    /// A failure, whatever the transport reports.
    case failure(RequestError)
}

/// The settings of a call, from the request and its environment, read once.
final class CallPlan: Sendable {
    let options: RequestOptions
    let conditions: [any RequestCondition]
    let interceptors: [any Interceptor]
    /// The position of each interceptor among all.
    let positions: [Int]
    let validators: [any ResponseValidator]
    /// The statuses that the request accepts.
    let validStatusCodes: [Int]

    /// Reads the settings; interceptors aren't applied to their own requests, which the scope names.
    init(_ options: RequestOptions, _ validStatusCodes: [Int], of call: Call, isOnBehalf: Bool) {
        self.options = options
        self.validStatusCodes = options.validStatusCodes ?? validStatusCodes
        guard !options.isProbe else {
            (conditions, interceptors, positions, validators) = ([], [], [], [])
            return
        }
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

    /// The plan of a transfer for several calls with different limits.
    init(_ plan: CallPlan, _ limits: CoalescingLimits) {
        var options = plan.options
        (options.maximumHeadSize, options.maximumBodySize) = (limits.head, limits.content)
        self.options = options
        (conditions, validators, validStatusCodes) = ([], [], [])
        // Its position in the chain is behind the interceptors, and counts with them.
        (interceptors, positions) = (plan.interceptors, plan.positions)
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
