// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The transfers that a request may join: never one whose response may differ.
@Suite(.bounded) struct CoalescingIdentityTests {
    private let transport = ManualTransport()

    private func client(_ configure: (inout RequestEnvironment) -> Void = { _ in }) -> HTTPClient {
        HTTPClient(baseURL: server, transport: transport, configure)
    }

    /// Responds to each transfer with the credentials and the host that it was sent with.
    private func answer(_ count: Int) async throws {
        try await transport.awaitTransfer(count: count)
        for transfer in transport.transfers {
            let request = transfer.request
            let text = "\(request.headers[.authorization] ?? "anonymous") at \(request.url.host ?? "")"
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            transfer.receive(.data(Data(text.utf8)))
            transfer.receive(.end(nil))
        }
    }

    private func join(_ client: HTTPClient) -> DataOperation<HTTPRequest> {
        client.addRequest(HTTPRequest("me"), coalescing: true)
    }

    private func text(of operation: DataOperation<HTTPRequest>) async throws -> String {
        String(decoding: try await operation.value(), as: UTF8.self)
    }

    @Test func differentCredentialsPreventSharing() async throws {
        let client = client { $0.headers[.authorization] = "Bearer ada" }

        let first = join(client)
        client.configure { $0.headers[.authorization] = "Bearer bob" }
        let (second, third) = (join(client), join(client))
        try await answer(2)

        #expect(try await text(of: first) == "Bearer ada at api.example.com")
        #expect(try await text(of: second) == "Bearer bob at api.example.com")
        #expect(try await text(of: third) == "Bearer bob at api.example.com" && transport.transfers.count == 2)
    }

    @Test func changedInterceptorsPreventSharing() async throws {
        let client = client()

        let first = join(client)
        client.environment.interceptors = [.adapting { $0.headers[.authorization] = "Bearer bob" }]
        let second = join(client)
        try await answer(2)

        #expect(try await text(of: first) == "anonymous at api.example.com")
        #expect(try await text(of: second) == "Bearer bob at api.example.com")
    }

    @Test func changedBaseURLPreventsSharing() async throws {
        let client = client()

        let first = join(client)
        client.configure { $0.baseURL = URL(string: "https://staging.example") }
        let second = join(client)
        try await answer(2)

        #expect(try await text(of: first) == "anonymous at api.example.com")
        #expect(try await text(of: second) == "anonymous at staging.example")
    }

    @Test(arguments: [false, true]) func changedInterceptorCredentialPreventsSharing(
        isScoped: Bool
    ) async throws {
        let interceptor = AuthenticationInterceptor(
            TokenAuthenticator { _ in "new" },
            credential: "ada",
            origins: sampleOrigins
        )
        let client = client { $0.interceptors = isScoped ? [interceptor.scoped { _ in true }] : [interceptor] }

        let first = join(client)
        try await transport.awaitTransfer()
        interceptor.setCredential("bob")
        let second = join(client)
        try await answer(2)

        #expect(try await text(of: first) == "Bearer ada at api.example.com")
        #expect(try await text(of: second) == "Bearer bob at api.example.com")
    }

    @Test func changedQueueEnvironmentPreventsSharing() async throws {
        final class UserQueue: RequestQueue {
            let client: HTTPClient
            let user = Locked("ada")
            init(_ client: HTTPClient) { self.client = client }
            var operations: [Operation] { client.operations }
            var transport: any HTTPTransport { client.transport }
            var environment: RequestEnvironment {
                var environment = client.environment
                environment.headers.set(.authorization(.bearer(user.withLock { $0 })))
                return environment
            }
            func addOperation(_ operation: Operation) { client.addOperation(operation) }
        }
        let queue = UserQueue(client())

        let first = queue.addRequest(HTTPRequest("me"), coalescing: true)
        queue.user.withLock { $0 = "bob" }
        let second = queue.addRequest(HTTPRequest("me"), coalescing: true)
        try await answer(2)

        #expect(try await text(of: first) == "Bearer ada at api.example.com")
        #expect(try await text(of: second) == "Bearer bob at api.example.com")
    }

    // MARK: Services and derived clients

    private struct Service: NetworkService {
        let client: HTTPClient
        var baseURL: URL? = URL(string: "https://service.example")
    }

    @Test func serviceRequestsShareTransfer() async throws {
        let client = client()
        let service = Service(client: client)
        var options = RequestOptions()
        options.coalesce = true
        let request = WireRequest(options: options, http: HTTPRequest("me"))
        client.isSuspended = true

        let operations = [service.addRequest(request), service.addRequest(request)]
        let elsewhere = Service(client: client, baseURL: URL(string: "https://other.example")).addRequest(request)
        client.isSuspended = false
        try await answer(2)

        for operation in operations { #expect(try await operation.value() == "anonymous at service.example") }
        #expect(try await elsewhere.value() == "anonymous at other.example" && transport.transfers.count == 2)
    }

    @Test func modifiedDerivedClientDoesNotShare() async throws {
        let client = client { $0.headers[.authorization] = "Bearer ada" }
        let other = client.inheriting { $0.interceptors = [.adapting { $0.headers[.authorization] = "Bearer bob" }] }

        let (first, second) = (join(client), join(other))
        try await answer(2)

        #expect(try await text(of: first) == "Bearer ada at api.example.com")
        #expect(try await text(of: second) == "Bearer bob at api.example.com")
    }

    @Test func uncachedRequestDoesNotJoinCachedOnes() async throws {
        let cache = ResponseCache()
        let client = client { $0.cache = cache }
        let first = client.addRequest(HTTPRequest("me").caching(.none), coalescing: true)
        let others = [join(client), join(client)]

        try await transport.awaitTransfer(count: 2)
        for transfer in transport.transfers {
            transfer.receive(.head(HTTPResponseHead(status: .ok, headers: [.cacheControl: "max-age=60"])))
            transfer.receive(.end(nil))
        }
        for operation in others + [first] { _ = try await operation.value() }

        #expect(transport.transfers.count == 2)
        let address = try #require(first.urlRequest?.url)
        #expect(cache.responses(for: address).count == 1)
    }

    // MARK: Redirects

    @Test(
        arguments: [RedirectPolicy.refuse, .follow(limit: 0), .follow().modifying { _, _ in nil }]
    )
    func differentRedirectPolicyGetsOwnResponse(_ policy: RedirectPolicy) async throws {
        let content = Data(repeating: 1, count: 40_000)
        let transport = InMemoryTransport { request in
            guard request.url.path != "/v1/new" else { return .status(.ok, body: Data("new".utf8)) }
            return .status(.found, headers: [.location: "/v1/new"], body: content)
        }
        let client = HTTPClient(baseURL: server, transport: transport)
        client.isSuspended = true
        let leader = client.addRequest(HTTPRequest("old"), coalescing: true)
        let follower = client.addRequest(
            HTTPRequest("old").redirect(policy).accepting(statusCodes: [302]),
            coalescing: true
        )
        client.isSuspended = false

        #expect(try await leader.value() == Data("new".utf8))
        guard policy.limit == 0 else { return #expect(try await follower.value() == content) }
        await #expect(throws: RequestError.self) { try await follower.value() }
    }
}
