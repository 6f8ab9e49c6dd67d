// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Try {
    /// Makes the request as it would reach the transport, for code that sends it itself.
    ///
    /// Interceptors adapt the request, and add the credentials that they know for its address; cookies come last. No
    /// interceptor can send.
    ///
    /// - Throws: The failure of the operation; of code `unsupported` for an interceptor that has no effect without a
    ///   transfer.
    func prepareRequest() async throws(RunFailure) -> HTTPRequest {
        do {
            var draft = try draft(try await operation.makeRequest())
            for placed in plan.interceptors {
                let step = DefaultStep()
                draft.request = try await adapt(draft.request, by: placed, InterceptorContext(self, noting: step))
                guard step.isReached, await placed.interceptor.interceptsItself(draft.request) else { continue }
                let name = RunScope.Author(placed.interceptor).type
                let reason =
                    "\(name) only intercepts transfers, and nothing is sent here: implement `adapt`, or bypass it"
                throw RequestError(.unsupported, phase: .building, reason: reason, request: draft.request)
            }
            var request = try await addKnownCredentials(to: try draft.finish())
            request.timeout = request.timeout ?? timeout
            guard options.usesCookies, request.usesCookies, let cookies = environment.cookies else {
                request.usesCookies = request.usesCookies && options.usesCookies
                return request
            }
            request = request.addingCookies(of: cookies)
            // The storage of another transport would replace them.
            request.usesCookies = false
            return request
        } catch {
            throw RunFailure(error, in: .building)
        }
    }

    /// Adds the credentials that a server has asked for before at the address.
    private func addKnownCredentials(to request: HTTPRequest) async throws -> HTTPRequest {
        var request = request
        for placed in plan.interceptors {
            guard let interceptor = placed.interceptor as? any HopAuthenticating else { continue }
            let context = InterceptorContext(self, request: request)
            _ = try await interceptor.authenticate(request, context: context) { authenticated, _ in
                request = authenticated
                return HTTPResponse(head: HTTPResponseHead(status: .ok), body: .data(Data()))
            }
        }
        return request
    }
}

extension Interceptor {
    /// Whether the interceptor implements ``Interceptor/intercept(_:context:next:)`` itself.
    ///
    /// It is called to find out, with a context and a chain that send nothing.
    fileprivate func interceptsItself(_ request: HTTPRequest) async -> Bool {
        var interceptor: any Interceptor = self
        while let wrapper = interceptor as? any InterceptorWrapper { interceptor = wrapper.wrapped }
        if let closures = interceptor as? ClosureInterceptor { return closures.intercepts }
        let step = DefaultStep()
        let chain = Next { _ in
            throw RequestError(.unsupported, phase: .building, reason: "the request is only prepared here")
        }
        let context = InterceptorContext(ClosureRun(), request: request, noting: step)
        _ = try? await interceptor.intercept(request, context: context, next: chain)
        return !step.isReached
    }
}
