// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One attempt of a run: builds the request, sends it through the chain, and validates the response.
struct Attempt: Sendable {
    /// The number of the attempt, starting at 1; redirects and further parts of a download don't count.
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

    /// Returns the context that is passed to interceptors.
    func context(for request: HTTPRequest? = nil, noting step: DefaultProbe? = nil) -> InterceptorChain.Context {
        InterceptorChain.Context(operation, attempt: number, request: request, noting: step)
    }

    // MARK: Before the request

    /// Checks the conditions for starting the operation's work.
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
            // The error is the condition's own, such as `offline`, not the failure of a request that the condition has
            // sent.
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
            // A run that continues another run already has a complete request.
            guard !configuration.isContinuation else { return request }
            return configuration.interceptors.isEmpty ? try draft(request).finish() : try await adapted(request)
        } catch {
            throw RunFailure(error, in: .building)
        }
    }

    // The steps are separate functions that aren't inlined, to keep the run's stack frame small, because that frame
    // stays on the stack below all other frames.
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

    /// Lets an interceptor adapt a request that is being built, and adds the request to the interceptor's errors.
    func adapt(_ draft: inout RequestDraft, by placed: PlacedInterceptor, noting step: DefaultProbe? = nil) async throws
    {
        do {
            draft.request = try await adapt(draft.request, by: placed, context(noting: step))
        } catch let error as RequestError {
            // Nothing was sent, so the record has no request that could be added to the error later.
            throw error.withContext(request: draft.request, response: nil, body: Data(), transfers: [])
        }
    }

    /// Lets an interceptor adapt a request, and removes fields for the previous origin if the origin changes.
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

    /// Lets an interceptor that has answered the challenge to a request adapt that request again.
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

    /// Runs an interceptor, and records it as the source of an error, unless a later interceptor threw the error.
    func attributingErrors<Value>(_ placed: PlacedInterceptor, _ work: () async throws -> Value) async throws -> Value {
        do {
            let value = try await work()
            if operation.throwingInterceptor != nil { operation.throwingInterceptor = nil }
            return value
        } catch let error as RequestError {
            // A `RequestError` needs no attribution, and may come from a later interceptor.
            throw error
        } catch {
            if operation.throwingInterceptor == nil {
                operation.throwingInterceptor = NestingContext.Author(placed.interceptor).type
            }
            throw error
        }
    }

    /// Records who changed a request, and protects the request's fields if the change leads to another origin.
    func attributeChanges(
        of request: inout HTTPRequest,
        to source: HTTPField.Provenance.Source,
        since previous: PreviousRequest
    ) {
        let (marks, baseURL) = (configuration.headerMarks, environment.base?.url)
        request.attributeChanges(to: source, since: previous, marks: marks, baseURL: baseURL)
    }

    /// Creates the chain that sends the request, and releases the content of previous attempts.
    ///
    /// - Throws: A ``RequestError`` with the code `unsupported` if there are more interceptors than a chain supports.
    func makeChain(isShared: Bool) throws -> InterceptorChain {
        if number > 1 {
            operation.record { $0.beginAttempt() }
            // The content of a failed attempt isn't needed any longer. A transfer that is still running keeps its
            // content, because an interceptor may have started it in another task.
            for transfer in operation.record.transfers where transfer.isOver { transfer.releaseContent() }
        }
        let interceptors = isShared ? configuration.coalescingChain : configuration.chain
        guard interceptors.count <= UInt16.max else {
            let reason = "\(interceptors.count) interceptors exceed the maximum of \(UInt16.max)"
            throw RequestError(.unsupported, phase: .building, reason: reason)
        }
        return InterceptorChain(
            interceptors,
            of: operation,
            attempt: number,
            because: number == 1 ? .initial : .retry
        )
    }

    // MARK: Validate

    /// Lets the interceptors transform a response, and the validators validate it.
    ///
    /// Content that was delivered to a receiver can't be validated. The head of such a response was validated before
    /// the delivery.
    func transformAndValidate(_ rawResponse: RawResponse, to request: HTTPRequest) throws(RunFailure) -> RawResponse {
        var rawResponse = rawResponse
        rawResponse.notes.makeDecoder = environment.customMakeDecoder
        guard case .data(let content) = rawResponse.body else {
            // Only a transfer can deliver content to a receiver.
            if operation.record.transfers.contains(where: \.isDelivered) { return rawResponse }
            let reason = "an interceptor marked its content as delivered, but no transfer delivered any"
            throw RunFailure(RequestError(.badResponse, phase: .receiving, reason: reason), in: .receiving)
        }
        var response = rawResponse.map { _ in content }
        let sentRequest = rawResponse.notes.redirectedRequest?.value ?? request
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
            let error = RequestError(.rejected, phase: .validating, reason: "a validator requested another attempt")
            let limit: RequestError.Code =
                context.accepts(response.status) ? .retryLimitReached : .unacceptableStatus
            throw RunFailure(error, in: .validating, response: response, retryRule: .strategy(strategy, limit: limit))
        }
        // If the head was refused, the content wasn't delivered to its destination, and may be truncated. The response
        // therefore stays refused, even if a validator now accepts the same head.
        if operation.kind.content != .inMemory {
            let cut = RequestError(.rejected, phase: .validating, reason: "only the beginning of the content was read")
            let isAccepted = operation.handling.acceptsHead(response.head)
            let refused = isAccepted ? headRefusal(of: response.head, to: sentRequest) : nil
            if let refused = refused ?? (rawResponse.notes.isTruncated ? cut : nil) {
                throw refusal(refused, of: response, in: context)
            }
        }
        if !returnsTransferResponses {
            let head = response.head
            operation.record { $0.recordValidated(head) }
        }
        return response.map { .data($0) }
    }

    /// Whether every response is the unchanged response of the last transfer.
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

    /// Runs the validators, and replaces the response if a validator returns a replacement.
    ///
    /// The status is checked last.
    ///
    /// - Returns: The result of the first validator that doesn't accept the response, or `accept`.
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

    /// Returns the error of a validator that refuses the head of a response; `nil` if none does.
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

    /// Wraps any error of a validator or an interceptor in a failure that contains the response.
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
