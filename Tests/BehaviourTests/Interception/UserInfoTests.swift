// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The caller's data about a request, in all code that sees the request.
@Suite(.bounded) struct UserInfoTests {
    private enum Permission: HTTPRequest.UserInfo.Key { static let defaultValue = "none" }

    private struct Missing: Error, Equatable {}

    /// Records what each method sees in the request and in its context.
    private struct Observer: Interceptor, ResponseValidator {
        let seen: Recorder<String>

        private func note(_ place: String, _ request: HTTPRequest?, _ info: HTTPRequest.UserInfo) {
            let inRequest = request.map { $0.options.userInfo[Permission.self] } ?? "no request"
            seen.record("\(place): \(inRequest) \(info[Permission.self])")
        }

        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            note("adapt", request, context.userInfo)
        }

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            note("intercept", request, context.userInfo)
            return try await next(request)
        }

        func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws {
            note("transform", context.request, context.userInfo)
        }

        func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
            note("retry", context.request, context.userInfo)
            note("error", error.request, context.userInfo)
            return .pass
        }

        func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> ValidationResult {
            note("validate", context.request, context.userInfo)
            return .accept
        }
    }

    /// Sends tokens only with requests whose user info permits it.
    private struct Guard: Authenticator {
        func apply(_ token: String, to request: inout HTTPRequest, context: InterceptorChain.Context) throws {
            guard context.userInfo[Permission.self] == "write" else { throw Missing() }
            #expect(request.options.userInfo[Permission.self] == "write")
            request.headers.set(.authorization(.bearer(token)))
        }

        func refresh(_ token: String?) async throws -> String { "token" }
    }

    private static let base = URL(string: "https://api.example.com")!

    @Test func userInfoIsVisibleInAllStages() async throws {
        let seen = Recorder<String>()
        let observer = Observer(seen: seen)
        let answers = Locked([StubResponse.redirect(to: "/b"), .status(.serviceUnavailable)][...])
        let transport = InMemoryTransport { _ in answers.withLock { $0.popFirst() } ?? .text("ok") }
        let client = HTTPClient(baseURL: Self.base, transport: transport) {
            $0.interceptors = [observer]
            $0.validators = [observer]
        }

        let request = Get<Data>("a").userInfo(Permission.self, "write").retry(RetryPolicy(limit: 1, backoff: .none))
        let response = try await client.send(request)

        let places = ["adapt", "intercept", "transform", "validate", "retry", "error"]
        #expect(Set(seen.elements) == Set(places.map { "\($0): write write" }))
        #expect(response.transfers.map { $0.request.options.userInfo[Permission.self] } == ["write", "write", "write"])
        // The options themselves belong to the operation.
        #expect(response.transfers.allSatisfy { $0.request.options.retry == nil })
    }

    @Test func authenticatorCanRejectByUserInfo() async throws {
        let transport = InMemoryTransport { _ in .text("ok") }
        let client = HTTPClient(baseURL: Self.base, transport: transport) {
            $0.interceptors = [AuthenticationInterceptor(Guard(), credential: "token")]
        }

        _ = try await client.fetch(Post<Data>("notes").userInfo(Permission.self, "write"))
        #expect(transport.requests.first?.headers[.authorization] == "Bearer token")

        let error = await #expect(throws: RequestError.self) { try await client.fetch(Post<Data>("notes")) }
        #expect(error?.underlying as? Missing == Missing() && transport.requests.count == 1)
    }

    /// A request of a custom type rather than an `HTTPRequest`.
    @Test func customRequestUserInfoIsVisible() async throws {
        let seen = Recorder<String>()
        let queue = TestQueue { $0.interceptors = [Observer(seen: seen)] }
        var options = RequestOptions()
        options.userInfo[Permission.self] = "read"

        await queue.addRequest(WireRequest(options: options)).end()

        #expect(seen.elements.first == "adapt: read read")
    }

    @Test func requestSentByInterceptorHasSeparateUserInfo() async throws {
        let seen = Recorder<String>()
        let transport = InMemoryTransport { _ in .text("ok") }
        let sender = ClosureInterceptor(adapt: { request, context in
            guard request.url.path == "/a" else { return }
            _ = try await context.send(request)
            _ = try await context.send(HTTPRequest("b").userInfo(Permission.self, "read"))
            _ = try await context.send(HTTPRequest("c"))
        })
        let client = HTTPClient(baseURL: Self.base, transport: transport) {
            $0.interceptors = [
                sender.scoped { $0.url.path == "/a" },
                ClosureInterceptor(adapt: { request, context in
                    let both = [request.options.userInfo, context.userInfo].map { $0[Permission.self] }
                    seen.record("\(request.url.path) \(both.joined(separator: " "))")
                }),
            ]
        }

        _ = try await client.fetch(Get<Data>("a").userInfo(Permission.self, "write"))

        #expect(seen.elements == ["/a write write", "/b read read", "/c none none", "/a write write"])
    }

    @Test func interceptorCannotChangeUserInfo() async throws {
        let seen = Recorder<String>()
        let client = HTTPClient(baseURL: Self.base, transport: InMemoryTransport { _ in .text("ok") }) {
            $0.interceptors = [
                .adapting { $0.options.userInfo[Permission.self] = "all" }, Observer(seen: seen),
                .adapting { $0 = HTTPRequest(url: $0.url) }, Observer(seen: seen),
                .intercepting { request, next in try await next(HTTPRequest(url: request.url)) }, Observer(seen: seen),
            ]
        }

        _ = try await client.fetch(Get<Data>("a").userInfo(Permission.self, "write"))

        #expect(seen.elements.count > 5 && seen.elements.allSatisfy { $0.hasSuffix("write write") })
    }
}
