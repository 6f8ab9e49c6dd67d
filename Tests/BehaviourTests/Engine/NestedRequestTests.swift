// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Interceptors, conditions and strategies that await the client whose requests they process.
@Suite(.bounded) struct NestedRequestTests {
    /// A server that requires a token, which `/login` returns.
    private let server = InMemoryTransport(recordsRequests: false) { request in
        if request.url.path == "/login" { return .status(.ok, body: Data("secret".utf8)) }
        return request.headers["X-Token"] == "secret"
            ? .status(.ok, body: Data("in".utf8)) : .status(.unauthorized)
    }

    /// A reference that gives a client's policies access to the client, set after its creation.
    private final class Reference: Sendable {
        private let client = Locked<HTTPClient?>(nil)

        func set(_ client: HTTPClient) { self.client.withLock { $0 = client } }

        func login() async throws -> String {
            guard let client = client.withLock({ $0 }) else { throw SampleError() }
            return try await client.fetch(Get<String>("login"))
        }
    }

    private func client(
        _ width: Int,
        _ configure: (inout RequestEnvironment, Reference) -> Void
    ) -> (client: HTTPClient, reference: Reference) {
        let reference = Reference()
        let client = HTTPClient(
            baseURL: URL(string: "https://example.com"),
            maxConcurrentRequests: width,
            transport: server
        ) { configure(&$0, reference) }
        reference.set(client)
        return (client, reference)
    }

    private func fetchForty(_ client: HTTPClient) async -> [String?] {
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<40 { group.addTask { try? await client.fetch(Get<String>("me")) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(arguments: [1, 4]) func validatorRetryCanLogInThroughClient(width: Int) async {
        let token = Locked<String?>(nil)
        let (client, reference) = client(width) { environment, reference in
            environment.interceptors = [
                .adapting { request in request.headers["X-Token"] = token.withLock { $0 } }
            ]
            environment.validators = [
                .closure { response, _ in
                    guard response.status == .unauthorized else { return .accept }
                    return .retry(
                        .after { _ in
                            let new = try await reference.login()
                            token.withLock { $0 = new }
                        }
                    )
                }
            ]
        }

        #expect(await fetchForty(client) == Array(repeating: "in", count: 40))
        withExtendedLifetime(reference) {}
    }

    @Test(arguments: [1, 4]) func interceptorCanLogInThroughItsClient(width: Int) async {
        final class Login: Interceptor {
            let reference: Reference
            let token = Locked<String?>(nil)

            init(_ reference: Reference) {
                self.reference = reference
            }

            func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
                request.headers["X-Token"] = token.withLock { $0 }
            }

            func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
                guard error.response?.status == .unauthorized, context.attempt == 1 else { return .pass }
                do {
                    let new = try await reference.login()
                    token.withLock { $0 = new }
                    return .retry
                } catch {
                    return .fail(with: error)
                }
            }
        }
        let (client, _) = client(width) { environment, reference in environment.interceptors = [Login(reference)] }

        #expect(await fetchForty(client) == Array(repeating: "in", count: 40))
    }

    @Test(arguments: [1, 4]) func conditionAndAdapterCanAwaitClient(width: Int) async {
        let (client, _) = client(width) { environment, reference in
            environment.conditions = [
                .condition { context in
                    if context.identifier.contains("/me") { _ = try await reference.login() }
                }
            ]
            environment.interceptors = [
                .adapting { request in
                    if !request.url.path.hasSuffix("login") {
                        request.headers["X-Token"] = try await reference.login()
                    }
                }
            ]
        }

        #expect(await fetchForty(client) == Array(repeating: "in", count: 40))
    }

    @Test(arguments: [1, 4]) func contextSendIgnoresConcurrencyLimit(width: Int) async {
        struct Login: Interceptor {
            func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
                // The interceptor isn't applied to its own request.
                request.headers["X-Token"] = try await context.send(HTTPRequest("login")).text()
            }
        }
        let (client, _) = client(width) { environment, _ in environment.interceptors = [Login()] }

        #expect(await fetchForty(client) == Array(repeating: "in", count: 40))
    }

    @Test func endlessNestingFailsWithInterceptorNames() async {
        struct Endless: Interceptor {
            let reference: Reference

            func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
                _ = try await reference.login()
            }
        }
        let (client, _) = client(1) { environment, reference in
            environment.interceptors = [Endless(reference: reference)]
        }

        let operation = client.addRequest(Get<String>("me"))
        await operation.end()

        let error = operation.result?.error
        #expect(error?.code == .nestingLimitReached)
        #expect(error?.reason?.contains("Endless → Endless") == true)
    }

    @Test func taskOutlivingInterceptorIsNotNested() async throws {
        let (born, gate) = (Gate(), Gate())
        let orphan = Locked<Task<Void, Never>?>(nil)
        let order = Recorder<String>()
        let (client, _) = client(1) { environment, reference in
            environment.interceptors = [
                .adapting { request in
                    guard request.url.path == "/me" else { return }
                    request.headers["X-Token"] = "secret"
                    orphan.withLock { orphan in
                        guard orphan == nil else { return }
                        orphan = Task {
                            try? await gate.wait()
                            _ = try? await reference.login()
                            order.record("login")
                        }
                    }
                    born.open()
                }
            ]
        }
        _ = try await client.fetch(Get<String>("me"))
        try await born.wait()

        client.isSuspended = true
        gate.open()
        try await eventually { !client.operations.isEmpty }
        order.record("resumed")
        client.isSuspended = false
        await orphan.withLock { $0 }?.value

        // The login waited with all other requests for the queue to run.
        #expect(order.elements == ["resumed", "login"])
    }
}
