// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One attempt of a run: builds the request, sends it through the chain, and judges the response.
struct Attempt: Sendable {
    /// The number of the attempt, from 1; redirects and further parts of a download don't count.
    let number: Int
    let operation: AnyRequestOperation
    let configuration: RunConfiguration

    init(_ number: Int, of operation: AnyRequestOperation, _ configuration: RunConfiguration) {
        (self.number, self.operation, self.configuration) = (number, operation, configuration)
    }

    var environment: RequestEnvironment {
        _read { yield configuration.environment }
    }

    var options: RequestOptions {
        _read { yield configuration.options }
    }

    var scope: NestingContext? { operation.scope }

    /// Returns the context of interceptors.
    func context(for request: HTTPRequest? = nil, noting step: DefaultProbe? = nil) -> InterceptorChain.Context {
        InterceptorChain.Context(operation, attempt: number, request: request, noting: step)
    }

    // MARK: Before the request

    /// Checks the conditions for the operation's work.
    func checkConditions() async throws(RunFailure) {
        guard scope != nil || !configuration.conditions.isEmpty else { return }
        do {
            try scope?.checkDepth()
        } catch {
            throw RunFailure(error, in: .building)
        }
        do {
            for condition in configuration.conditions {
                try await NestingContext.run(condition, within: scope) {
                    try await condition.check(context())
                }
            }
        } catch let error as RequestError where error.request == nil {
            // The condition's own error, such as `offline`, rather than the failure of a request that it has sent.
            throw RunFailure(error, in: .building)
        } catch {
            throw RunFailure(RequestError(.conditionFailed, phase: .building, underlying: error), in: .building)
        }
    }

    // MARK: Build

    /// Builds the request, adds inherited settings, authenticates it, and lets the interceptors adapt it.
    @inline(never)
    func makeRequest() async throws(RunFailure) -> HTTPRequest {
        if number > 1 { operation.throwingInterceptor = nil }
        do {
            let request = try await operation.handling.makeRequest()
            // A run that continues another one has a request that is complete.
            guard !configuration.isContinuation else { return request }
            return configuration.interceptors.isEmpty ? try draft(request).finish() : try await adapted(request)
        } catch {
            throw RunFailure(error, in: .building)
        }
    }

    // Separate functions, not inlined, to keep the stack frame of the run small: all other frames are on top of it.
    @inline(never)
    func draft(_ request: HTTPRequest) throws -> RequestDraft {
        var draft = try RequestDraft(request, for: self)
        try draft.authenticate()
        return draft
    }

    @inline(never)
    private func adapted(_ request: HTTPRequest) async throws -> HTTPRequest {
        var draft = try draft(request)
        for placed in configuration.interceptors {
            try await adapt(&draft, by: placed)
        }
        return try draft.finish()
    }

    /// Lets an interceptor adapt a request that is being made; its errors have the request.
    func adapt(_ draft: inout RequestDraft, by placed: PlacedInterceptor, noting step: DefaultProbe? = nil) async throws
    {
        do {
            draft.request = try await adapt(draft.request, by: placed, context(noting: step))
        } catch let error as RequestError {
            // Nothing was sent, so that the record has no request that the error could name.
            throw error.withContext(request: draft.request, response: nil, body: Data(), transfers: [])
        }
    }

    /// Lets an interceptor adapt a request; what was added for its origin isn't sent to another one.
    private func adapt(
        _ request: HTTPRequest,
        by placed: PlacedInterceptor,
        _ context: InterceptorChain.Context
    ) async throws -> HTTPRequest {
        var adapted = try await attributingErrors(placed) {
            try await NestingContext.run(placed.interceptor, at: placed.position, within: scope) {
                var changed = request
                try await placed.interceptor.adapt(&changed, context: context)
                return changed
            }
        }
        attributeChanges(of: &adapted, to: .interceptor, since: PreviousRequest(request))
        adapted.restoreUserInfo(of: request)
        return adapted
    }

    /// Lets an interceptor adapt a request once more, whose challenge it has answered.
    func adapt(
        _ request: HTTPRequest,
        again interceptor: any Interceptor,
        at position: Int
    ) async throws -> HTTPRequest {
        let placed = PlacedInterceptor(interceptor: interceptor, position: position)
        var adapted = try await adapt(request, by: placed, context(for: request))
        try adapted.validate()
        return adapted
    }

    /// Runs an interceptor, and records that an error is its own, unless one that it has called has thrown it.
    func attributingErrors<Value>(_ placed: PlacedInterceptor, _ work: () async throws -> Value) async throws -> Value {
        do {
            let value = try await work()
            if operation.throwingInterceptor != nil { operation.throwingInterceptor = nil }
            return value
        } catch let error as RequestError {
            // Such an error says itself what has happened, and may come from a later interceptor.
            throw error
        } catch {
            if operation.throwingInterceptor == nil { operation.throwingInterceptor = NestingContext.Author(placed.interceptor).type }
            throw error
        }
    }

    /// Records who has changed a request, and protects its fields if the change leads to another origin.
    func attributeChanges(
        of request: inout HTTPRequest,
        to source: HTTPField.Provenance.Source,
        since previous: PreviousRequest
    ) {
        let (marks, baseURL) = (configuration.headerMarks, environment.base?.url)
        request.attributeChanges(to: source, since: previous, marks: marks, baseURL: baseURL)
    }

    /// Creates the chain that sends the request, and forgets what the attempt before has received.
    ///
    /// - Throws: A ``RequestError`` of code `unsupported` for more interceptors than a chain can have.
    func makeChain(isShared: Bool) throws -> InterceptorChain {
        if number > 1 {
            operation.record { $0.beginAttempt() }
            // The content of a failed attempt isn't needed any more. A running transfer, whose task an interceptor has
            // left behind, still needs its content.
            for transfer in operation.record.transfers where transfer.isOver { transfer.forgetContent() }
        }
        let interceptors = isShared ? configuration.coalescingChain : configuration.chain
        guard interceptors.count <= UInt16.max else {
            let reason = "a chain of \(interceptors.count) interceptors is too long; the maximum is \(UInt16.max)"
            throw RequestError(.unsupported, phase: .building, reason: reason)
        }
        return InterceptorChain(
            interceptors,
            of: operation,
            attempt: number,
            because: number == 1 ? .initial : .retry
        )
    }

    // MARK: Judge

    /// Lets the interceptors transform a response, and the validators judge it.
    ///
    /// Content that was delivered elsewhere can't be judged. Its head was, before the delivery.
    func transformAndValidate(_ answer: RawResponse, to request: HTTPRequest) throws(RunFailure) -> RawResponse {
        var answer = answer
        answer.notes.makeDecoder = environment.customMakeDecoder
        guard case .data(let content) = answer.body else {
            // Only a transfer can have delivered its content.
            if operation.record.transfers.contains(where: \.isDelivered) { return answer }
            let reason = "an interceptor returned content as delivered that no transfer has delivered"
            throw RunFailure(RequestError(.badResponse, phase: .receiving, reason: reason), in: .receiving)
        }
        var response = answer.map { _ in content }
        let sentRequest = answer.notes.redirectedRequest?.value ?? request
        let context = validationContext(sentRequest)
        let result: ValidationResult
        do {
            try transform(&response, to: sentRequest)
            result = try validate(&response, in: context)
        } catch {
            throw refusal(error, of: response, in: context)
        }
        switch result {
        case .accept: break
        case .fail(let error): throw refusal(error, of: response, in: context)
        case .retry(let strategy):
            let error = RequestError(.rejected, phase: .validating, reason: "a validator requests another attempt")
            let limit: RequestError.Code =
                context.accepts(response.status) ? .retryLimitReached : .unacceptableStatus
            throw RunFailure(error, in: .validating, response: response, retryRule: .strategy(strategy, limit: limit))
        }
        // Content that was refused by its head isn't at its destination, and may have been cut: it stays refused,
        // even if a validator accepts it the second time.
        if operation.kind.content != .inMemory {
            let cut = RequestError(.rejected, phase: .validating, reason: "only the beginning of the content was read")
            let isAccepted = operation.handling.acceptsHead(response.head)
            let refused = isAccepted ? headRefusal(of: response.head, to: sentRequest) : nil
            if let refused = refused ?? (answer.notes.isTruncated ? cut : nil) {
                throw refusal(refused, of: response, in: context)
            }
        }
        if !returnsTransferResponses {
            let head = response.head
            operation.record { $0.recordValidated(head) }
        }
        return response.map { .data($0) }
    }

    /// Whether every response is that of the last transfer, unchanged.
    private var returnsTransferResponses: Bool {
        configuration.interceptors.isEmpty && configuration.validators.isEmpty && environment.cache == nil
    }

    private func transform(_ response: inout HTTPResponse<Data>, to sentRequest: HTTPRequest) throws {
        guard !configuration.interceptors.isEmpty else { return }
        let original = response
        let context = self.context(for: sentRequest)
        for placed in configuration.interceptors {
            try placed.interceptor.transform(&response, context: context)
            response.inherit(original)
        }
    }

    /// Returns the result of the validators, and replaces the response if they do.
    ///
    /// The statuses of the request are checked last.
    private func validate(
        _ response: inout HTTPResponse<Data>,
        in context: ValidationContext
    ) throws -> ValidationResult {
        for validator in configuration.validators {
            switch try validator.validate(response, context: context) {
            case .accept(nil): continue
            case .accept(var replacement?):
                replacement.inherit(response)
                response = replacement
            case let result: return result
            }
        }
        guard context.accepts(response.status) else {
            let reason = operation.handling.refusalReason(of: response.status)
            throw RequestError(.unacceptableStatus, phase: .validating, reason: reason)
        }
        return .accept
    }

    /// Returns why a validator refuses the content of a response because of its head; `nil` if none does.
    func headRefusal(of head: HTTPResponseHead, to sentRequest: HTTPRequest) -> RequestError? {
        guard !configuration.validators.isEmpty else { return nil }
        let context = validationContext(sentRequest)
        do {
            for validator in configuration.validators { try validator.validate(head: head, context: context) }
            return nil
        } catch {
            return error as? RequestError ?? RequestError(.rejected, phase: .validating, underlying: error)
        }
    }

    /// Returns a failure that contains the response, whatever error a validator or an interceptor threw.
    private func refusal(
        _ error: any Error,
        of response: HTTPResponse<Data>,
        in context: ValidationContext
    ) -> RunFailure {
        let code: RequestError.Code = context.accepts(response.status) ? .rejected : .unacceptableStatus
        let wrapped = error as? RequestError ?? RequestError(code, phase: .validating, underlying: error)
        return RunFailure(wrapped, in: .validating, response: response, retryRule: .policies)
    }

    private func validationContext(_ sentRequest: HTTPRequest) -> ValidationContext {
        let codes = options.validatesStatus ? configuration.validStatusCodes : nil
        return ValidationContext(operation, attempt: number, request: sentRequest, validStatusCodes: codes)
    }
}
