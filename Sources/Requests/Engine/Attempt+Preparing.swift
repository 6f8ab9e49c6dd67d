// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Attempt {
    /// Builds the request that would be sent, without sending it.
    ///
    /// Interceptors adapt the request, and add the credentials that they know for its URL. Cookies are added last.
    ///
    /// - Throws: The failure of the operation, with the code `unsupported` if an interceptor has no effect without a
    ///   transfer.
    func prepareRequest() async throws(RunFailure) -> HTTPRequest {
        do {
            var draft = try draft(try await operation.handling.makeRequest())
            for placed in configuration.interceptors {
                let step = DefaultProbe()
                try await adapt(&draft, by: placed, noting: step)
                guard step.wasCalled, await interceptsItself(placed, draft.request) else { continue }
                let name = NestingContext.Author(placed.interceptor).type
                let cause = "it only intercepts transfers, and no transfer starts while a request is prepared"
                let remedy = "implement `adapt` in \(name), or bypass \(name)"
                let reason = "\(name) has no effect here, because \(cause): \(remedy)"
                throw RequestError(.unsupported, phase: .building, reason: reason, request: draft.request)
            }
            var request = try await addKnownCredentials(to: try draft.finish())
            request.timeout = request.timeout ?? configuration.timeout
            guard request.usesCookies, let cookies = configuration.cookies else {
                request.usesCookies = request.usesCookies && options.usesCookies
                return request
            }
            request = request.addingCookies(of: cookies)
            // A transport with a cookie storage would otherwise replace these cookies.
            request.usesCookies = false
            return request
        } catch {
            throw RunFailure(error, in: .building)
        }
    }

    /// Adds the credentials that a server has previously requested for the URL.
    private func addKnownCredentials(to request: HTTPRequest) async throws -> HTTPRequest {
        var authenticated = request
        for placed in configuration.interceptors {
            guard let interceptor = placed.interceptor as? any HopAuthenticating else { continue }
            let context = context(for: authenticated)
            // Add no proxy credentials, because code that sends the request without knowing the route to the proxy
            // would send them to the origin.
            let noProxy: () -> ProxyRoute? = { nil }
            _ = try await interceptor.authenticate(authenticated, context: context, proxy: noProxy) { request, _ in
                authenticated = request
                return HTTPResponse(head: HTTPResponseHead(status: .ok), body: .data(Data()))
            }
        }
        return authenticated
    }

    /// Returns whether an interceptor implements ``Interceptor/intercept(_:context:next:)`` itself.
    ///
    /// To find out, the function calls that method with a context and a chain that send nothing. It cancels the call as
    /// soon as the method uses the chain.
    private func interceptsItself(_ placed: PlacedInterceptor, _ request: HTTPRequest) async -> Bool {
        let (step, isOver) = (DefaultProbe(), OneShot<Void>())
        let chain = InterceptorChain { _ in
            isOver.fill(())
            throw RequestError(.cancelled, phase: .building, reason: "the request is only prepared, not sent")
        }
        let context = InterceptorChain.Context(StubRun(), attempt: 1, request: request, noting: step)
        let task = RunExecutor.task { [scope] in
            _ = try? await NestingContext.run(placed.interceptor, at: placed.position, within: scope) {
                try await placed.interceptor.intercept(request, context: context, next: chain)
            }
            isOver.fill(())
        }
        await withTaskCancellationHandler {
            await isOver.value()
        } onCancel: {
            isOver.fill(())
        }
        task.cancel()
        return !step.wasCalled
    }
}
