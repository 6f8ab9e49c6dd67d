// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One attempt of a call: makes the request, sends it through the chain, and judges the answer.
///
/// Interceptors see it as their context, and it passes requests from one link of the chain to the next.
final class CallAttempt: Sendable {
    /// The number of the attempt, from 1; redirects and further parts of a download don't count.
    let number: Int
    /// Whether it is the first time that the request is sent.
    let isFirst: Bool
    let call: Call
    let operation: any TransferOwner
    let plan: CallPlan
    /// The seat that shares the transfers of equal calls.
    let seat: CoalescingSeat?

    init(
        _ number: Int,
        isFirst: Bool = true,
        of call: Call,
        for operation: any TransferOwner,
        _ plan: CallPlan,
        seat: CoalescingSeat? = nil
    ) {
        self.number = number
        self.isFirst = isFirst
        self.call = call
        self.operation = operation
        self.plan = plan
        self.seat = seat
    }

    var environment: RequestEnvironment {
        _read { yield call.environment }
    }

    var options: RequestOptions {
        _read { yield plan.options }
    }

    /// The maximum time without data, if the request has none of its own.
    var timeout: Duration? { options.timeout ?? environment.timeout }

    // MARK: Before the request

    /// Whether there are conditions to check before the operation starts its work.
    var isConditional: Bool { call.scope != nil || !plan.conditions.isEmpty }

    /// Checks the conditions for the operation's work.
    func checkConditions() async throws(CallFailure) {
        do {
            try call.scope?.checkDepth()
        } catch {
            throw CallFailure(error, in: .building)
        }
        do {
            for condition in plan.conditions {
                try await CallScope.run(condition, within: call.scope) {
                    try await condition.check(InterceptorContext(self))
                }
            }
        } catch let error as RequestError where error.request == nil {
            // The condition's own error, such as `offline`, rather than the failure of a request that it has sent.
            throw CallFailure(error, in: .building)
        } catch {
            throw CallFailure(RequestError(.conditionFailed, phase: .building, underlying: error), in: .building)
        }
    }

    // MARK: Build

    /// Makes the request: builds it, adds inherited settings, authenticates it, and lets the interceptors adapt it.
    func makeRequest(of operation: any CallOperation) async throws(CallFailure) -> HTTPRequest {
        do {
            var draft = try RequestDraft(try await operation.makeRequest(), for: self)
            try draft.authenticate(by: operation)
            for (position, interceptor) in zip(plan.positions, plan.interceptors) {
                let context = InterceptorContext(self)
                draft.request = try await adapt(draft.request, by: interceptor, at: position, draft.own, context)
            }
            return try draft.finish()
        } catch {
            throw CallFailure(error, in: .building)
        }
    }

    /// Lets an interceptor adapt a request; secrets that were there before aren't sent to another origin.
    private func adapt(
        _ request: HTTPRequest,
        by interceptor: any Interceptor,
        at position: Int,
        _ own: OwnFields,
        _ context: InterceptorContext
    ) async throws -> HTTPRequest {
        var adapted = try await CallScope.run(interceptor, at: position, within: call.scope) {
            var changed = request
            try await interceptor.adapt(&changed, context: context)
            return changed
        }
        adapted.keepSecrets(of: FormerRequest(request), own: own, baseURL: environment.baseURL)
        return adapted
    }

    // MARK: Send

    /// Sends a request through the chain.
    func sendThroughChain(_ request: HTTPRequest) async throws(CallFailure) -> HTTPResponse<ResponseContent> {
        if !isFirst { call.record { $0.beginAttempt() } }
        do {
            let answer = try await send(request, from: ChainPlace(cause: isFirst ? .initial : .retry))
            // Only a transfer can have delivered its content.
            if case .delivered = answer.body, !call.record.transmissions.contains(where: \.isDelivered) {
                let reason = "an interceptor returned content as delivered that no transfer has delivered"
                throw CallFailure(RequestError(.badResponse, phase: .receiving, reason: reason), in: .receiving)
            }
            return answer
        } catch {
            throw CallFailure.sending(error)
        }
    }

    // MARK: Judge

    /// Lets the interceptors transform an answer, and the validators judge it.
    ///
    /// Content that was delivered elsewhere can't be judged. Its head was, before the delivery.
    func judge(
        _ answer: HTTPResponse<ResponseContent>,
        to request: HTTPRequest
    ) throws(CallFailure) -> HTTPResponse<ResponseContent> {
        var answer = answer
        answer.makeDecoder = environment.ownDecoder
        guard case .data(let content) = answer.body else { return answer }
        var response = answer.map { _ in content }
        let asked = answer.asked?.value ?? request
        let context = validationContext(asked)
        let verdict: Verdict
        do {
            try transform(&response, to: asked)
            verdict = try self.verdict(on: &response, in: context)
        } catch {
            throw refusal(error, of: response, in: context)
        }
        switch verdict {
        case .accept: break
        case .fail(let error): throw refusal(error, of: response, in: context)
        case .retry(let strategy):
            let error = RequestError(.rejected, phase: .validating, reason: "a validator requests another attempt")
            let limit: RequestError.Code =
                context.accepts(response.status) ? .retryLimitReached : .unacceptableStatus
            throw CallFailure(error, in: .validating, response: response, recourse: .strategy(strategy, limit: limit))
        }
        // Content that was refused by its head isn't at its destination, whatever the rest is like.
        if !operation.keepsContentInMemory, operation.claims(response.head),
            let error = headRefusal(of: response.head, to: asked)
        {
            throw refusal(error, of: response, in: context)
        }
        let head = response.head
        call.record { $0.judge(head) }
        return response.map { .data($0) }
    }

    private func transform(_ response: inout HTTPResponse<Data>, to asked: HTTPRequest) throws {
        guard !plan.interceptors.isEmpty else { return }
        let original = response
        let context = InterceptorContext(self, request: asked)
        for interceptor in plan.interceptors {
            try interceptor.transform(&response, context: context)
            response.inherit(original)
        }
    }

    /// Returns the verdict of the validators, and replaces the response if they do.
    ///
    /// The statuses of the request are checked last.
    private func verdict(on response: inout HTTPResponse<Data>, in context: ValidationContext) throws -> Verdict {
        for validator in plan.validators {
            switch try validator.validate(response, context: context) {
            case .accept(nil): continue
            case .accept(var replacement?):
                replacement.inherit(response)
                response = replacement
            case let verdict: return verdict
            }
        }
        guard context.accepts(response.status) else { throw RequestError(.unacceptableStatus, phase: .validating) }
        return .accept
    }

    /// Returns why a validator refuses the content of a response because of its head; `nil` if none does.
    func headRefusal(of head: HTTPResponseHead, to asked: HTTPRequest) -> RequestError? {
        guard !plan.validators.isEmpty else { return nil }
        let context = validationContext(asked)
        do {
            for validator in plan.validators { try validator.validate(head: head, context: context) }
            return nil
        } catch {
            return error as? RequestError ?? RequestError(.rejected, phase: .validating, underlying: error)
        }
    }

    /// Returns a failure that contains the response, whatever error a validator threw.
    private func refusal(
        _ error: any Error,
        of response: HTTPResponse<Data>,
        in context: ValidationContext
    ) -> CallFailure {
        let code: RequestError.Code = context.accepts(response.status) ? .rejected : .unacceptableStatus
        let wrapped = error as? RequestError ?? RequestError(code, phase: .validating, underlying: error)
        return CallFailure(wrapped, in: .validating, response: response, recourse: .policies)
    }

    private func validationContext(_ asked: HTTPRequest) -> ValidationContext {
        ValidationContext(
            request: asked,
            attempt: number,
            validStatusCodes: options.validatesStatus ? plan.validStatusCodes : nil,
            userInfo: options.userInfo
        ) { self.identifier }
    }
}

// MARK: - The context of interceptors

extension CallAttempt: ContextSource {
    var identifier: String { operation.requestIdentifier }
    var attempt: Int { number }
    var baseURL: URL? { environment.baseURL }
    var userInfo: UserInfo { options.userInfo }
    var scope: CallScope? { call.scope }
    var makeEncoder: (@Sendable () -> JSONEncoder)? { environment.makeEncoder }
    var notes: InterceptorNotes { call.notes }
    var urgency: Int { operation.urgency }
    var proxyRoute: ProxyRoute? {
        call.transport.capabilities.contains(.proxyAuthorization) ? ProxyRoute(over: call.transport) : nil
    }

    func report(_ report: AuthenticationReport) { call.feed?.report(report) }

    func recordAnswer(to request: HTTPRequest) { call.record { $0.answer(request) } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        try await operation.sender(request)
    }

    func detach(_ request: HTTPRequest, completion: @escaping DetachedWork.Completion) -> Bool {
        let scope = CallScope.current?.detached()
        let key = DetachedWork.Key(
            method: request.method,
            url: request.url,
            author: scope?.author,
            revision: environment.revision
        )
        let work = environment.detachedWork ?? .shared
        return work.begin(key, completion) { [sender = operation.sender] in
            guard let scope else { return try await sender(request) }
            defer { scope.end() }
            return try await scope.run { try await sender(request) }
        }
    }

    func detach(
        _ name: String,
        _ request: HTTPRequest,
        through next: Next,
        _ work: @escaping @Sendable (Next) async throws -> HTTPResponse<ResponseContent>
    ) {
        let key = DetachedWork.Key(
            method: request.method,
            url: request.url,
            author: nil,
            revision: environment.revision,
            name: name
        )
        let call = DetachedCall(of: self)
        _ = (environment.detachedWork ?? .shared).begin(key) { try await call.run(through: next, work) }
    }

    func adapt(
        _ request: HTTPRequest,
        again interceptor: any Interceptor,
        at position: Int
    ) async throws -> HTTPRequest {
        let own = OwnFields(described: [], inherited: environment.headers)
        let context = InterceptorContext(self, request: request)
        var adapted = try await adapt(request, by: interceptor, at: position, own, context)
        markSecrets(of: &adapted)
        try adapted.validate()
        return adapted
    }
}
