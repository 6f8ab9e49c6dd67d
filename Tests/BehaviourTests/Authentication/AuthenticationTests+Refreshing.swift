// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Tests of requests and credential changes during a refresh.
extension AuthenticationTests {
    @Test func refreshAppliesRequestSpecModifiers() async throws {
        struct Renewal: RequestSpec, ModifiableRequest {
            var options = RequestOptions()
            var request: Post<[String]> { Post("token") }
        }
        let sent = Recorder<String?>()
        let client = RefreshClient { request in
            sent.record(request.headers["X-Device"])
            return HTTPResponse(head: HTTPResponseHead(status: .ok), body: Data("[\"new\"]".utf8))
        }

        let value = try await client.fetch(Renewal().header("X-Device", "7"))

        #expect(value == ["new"] && sent.elements == ["7"])
    }

    @Test func refreshClientBypassesQueueAndCredential() async throws {
        struct Login: Authenticator {
            func apply(_ token: String, to request: inout HTTPRequest) {
                request.headers.set(.authorization(.bearer(token)))
            }
            func refresh(_ token: String?, using client: RefreshClient) async throws -> String {
                // The client must also work outside the task of the refresh.
                let request = Post<[String]>("token").body(.text(token ?? ""))
                let value = try await Task.detached { try await client.fetch(request) }.value
                return try #require(value.first)
            }
        }
        let transport = InMemoryTransport { request in
            switch (request.url.path, request.headers[.authorization]) {
            case ("/v1/token", nil): .json("[\"new\"]")
            case ("/v1/token", _): .status(.badRequest)
            case (_, "Bearer new"): .status(.ok, body: Data("in".utf8))
            default: .status(.unauthorized)
            }
        }
        // Requests that wait for the refresh occupy every slot.
        let queue = TestQueue(transport, width: 1) {
            $0.baseURL = URL(string: "https://example.com/v1")
            $0.interceptors = [AuthenticationInterceptor(Login(), credential: "old", origins: sampleOrigins)]
        }

        let probes = (0..<5).map { _ in Probe(adding: WireRequest(http: HTTPRequest("recipes")), to: queue) }
        var values: [String?] = []
        for probe in probes { values.append(await probe.ended().first?.value) }

        #expect(values == Array(repeating: "in", count: 5))
        let logins = transport.requests.filter { $0.url.path == "/v1/token" }
        #expect(logins.count == 1 && logins.first?.method == .post)
        #expect(logins.first?.text == "old")
    }

    @Test func refreshRequestErrorIsUnderlyingError() async {
        struct Login: Authenticator {
            func apply(_ token: String, to request: inout HTTPRequest) {}
            func refresh(_ token: String?, using client: RefreshClient) async throws -> String {
                try await client.send(HTTPRequest("https://example.com/token")).text()
            }
        }
        let queue = TestQueue(InMemoryTransport { _ in .status(.forbidden) }) {
            $0.interceptors = [AuthenticationInterceptor(Login(), origins: sampleOrigins)]
        }

        let error = await Probe(adding: WireRequest(), to: queue).ended().first?.error

        #expect(error?.code == .authenticationFailed)
        #expect((error?.underlying as? RequestError)?.response?.status == .forbidden)
    }

    @Test func defaultRefreshFailsAsUnsupported() async {
        struct Sealed: Authenticator {
            func apply(_ token: String, to request: inout HTTPRequest) {}
        }
        let queue = TestQueue { $0.interceptors = [AuthenticationInterceptor(Sealed(), origins: sampleOrigins)] }

        let error = await Probe(adding: WireRequest(), to: queue).ended().first?.error

        #expect((error?.underlying as? RequestError)?.code == .unsupported)
    }

    @Test func refreshCanSendThroughWaitingQueue() async {
        let waiting = Locked<TestQueue?>(nil)
        let authenticator = TokenAuthenticator { _ in
            let queue = try #require(waiting.withLock { $0 })
            return try await queue.fetch(WireRequest(http: HTTPRequest("https://example.com/token")))
        }
        let transport = InMemoryTransport { request in
            switch (request.url.path, request.headers[.authorization]) {
            case ("/token", nil), (_, "Bearer new"): .status(.ok, body: Data("new".utf8))
            default: .status(.unauthorized)
            }
        }
        let queue = TestQueue(transport, width: 8) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }
        waiting.withLock { $0 = queue }

        let results = await results(4, on: queue)

        #expect(results.allSatisfy { $0.value == "new" })
        #expect(transport.requests.count { $0.url.path == "/token" } == 1)
        waiting.withLock { $0 = nil }
    }

    @Test func rejectedRefreshRequestFailsRefresh() async {
        let waiting = Locked<TestQueue?>(nil)
        let authenticator = TokenAuthenticator { _ in
            let queue = try #require(waiting.withLock { $0 })
            return try await queue.fetch(WireRequest(http: HTTPRequest("https://example.com/token")))
        }
        let queue = TestQueue(InMemoryTransport { _ in .status(.unauthorized) }, width: 8) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }
        waiting.withLock { $0 = queue }

        let error = await results(1, on: queue).first?.error

        #expect(error?.code == .authenticationFailed && error?.request?.url == home)
        #expect((error?.underlying as? RequestError)?.request?.url.path == "/token")
        waiting.withLock { $0 = nil }
    }

    @Test func loginFailureNamesTriggeringRequest() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let authenticator = TokenAuthenticator { _ in throw SampleError() }
        let queue = TestQueue(transport) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, origins: sampleOrigins)]
        }

        let error = await results(1, on: queue).first?.error

        #expect(
            error?.description
                == "authenticationFailed while building for GET https://example.com/recipes/1: SampleError"
        )
        #expect(error?.transfers.isEmpty == true && transport.requests.isEmpty)
    }

    // A refresh that shared the transfer of a waiting request would wait for itself.
    @Test func refreshDoesNotCoalesceWithWaiter() async {
        let waiting = Locked<TestQueue?>(nil)
        let authenticator = TokenAuthenticator { _ in
            let queue = try #require(waiting.withLock { $0 })
            return try await queue.addRequest(TextRequest(), coalescing: true).value()
        }
        let queue = TestQueue(width: 8) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, origins: sampleOrigins)]
        }
        waiting.withLock { $0 = queue }

        let probe = Probe(adding: TextRequest(), to: queue, coalescing: true)

        #expect(await probe.ended().first?.value == "hello")
        waiting.withLock { $0 = nil }
    }

    // Each refresh sends a request that needs the credential of the other.
    @Test func mutuallyDependentRefreshesFail() async {
        struct Named: Authenticator {
            let name: HTTPField.Name
            let renew: @Sendable () async throws -> Void
            func apply(_ key: String, to request: inout HTTPRequest) { request.headers.set(key, for: name) }
            func refresh(_ key: String?) async throws -> String {
                try await renew()
                return "new"
            }
        }
        let (queues, begun) = (Locked<[TestQueue]>([]), Recorder<Void>())
        let renew: @Sendable (Int) async throws -> Void = { other in
            begun.record(())
            await begun.first(2)
            let queue = try #require(queues.withLock { $0.dropFirst(other).first })
            _ = try await queue.fetch(TextRequest())
        }
        let interceptors = [
            AuthenticationInterceptor(Named(name: "X-A", renew: { try await renew(1) }), origins: sampleOrigins),
            AuthenticationInterceptor(Named(name: "X-B", renew: { try await renew(0) }), origins: sampleOrigins),
        ]
        let both = interceptors.map { interceptor in TestQueue(width: 4) { $0.interceptors = [interceptor] } }
        queues.withLock { $0 = both }
        let probes = both.map { Probe(adding: TextRequest(), to: $0) }

        var codes: [RequestError.Code?] = []
        for probe in probes { codes += await probe.ended().map { $0.error?.code } }

        #expect(codes.contains(.authenticationFailed))
        queues.withLock { $0 = [] }
    }

    @Test func cancelledWaiterDoesNotCancelRefresh() async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let queue = TestQueue(server(accepting: "new", sent, rejectingAfter: 2), width: 2) {
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, credential: "old", origins: sampleOrigins)]
        }
        let probes = [Probe(adding: TextRequest(), to: queue), Probe(adding: TextRequest(), to: queue)]
        await sent.first(2)
        await desk.calls.first(1)

        probes[0].operation.cancel()
        #expect(await probes[0].ended().first?.error?.code == .cancelled)
        await desk.end(with: .success("new"))

        #expect(await probes[1].ended().first?.value == "in")
        #expect(desk.calls.count == 1)
    }

    @Test func cancelledWaiterIsDeallocatedDuringRefresh() async {
        let (desk, census, waits) = (RefreshDesk(), Census(), Recorder<Bool>())
        let queue = TestQueue(server(accepting: "new"), width: 2) {
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, origins: sampleOrigins)]
            $0.monitors = [
                .events { event, _ in
                    switch event {
                    case .authenticationStarted: waits.record(true)
                    case .authenticationEnded: waits.record(false)
                    default: break
                    }
                }
            ]
        }
        let first = Probe(adding: TextRequest(), to: queue)
        await waits.first(1)
        await desk.calls.first(1)
        do {
            let waiter = queue.addRequest(TextRequest(life: census.life()))
            await waits.first(2)

            waiter.cancel()
            await waiter.end()
        }

        await census.extinction()
        #expect(!first.operation.isFinished)
        await desk.end(with: .success("new"))
        #expect(await first.ended().first?.value == "in")
    }

    @Test func rejectionAfterLogoutDoesNotRefresh() async throws {
        let (transport, refreshed) = (ManualTransport(), Recorder<String?>())
        let authenticator = TokenAuthenticator { token in
            refreshed.record(token)
            throw SampleError()
        }
        let interceptor = AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)
        let probe = Probe(adding: TextRequest(), to: TestQueue(transport) { $0.interceptors = [interceptor] })
        let transfer = try await transport.awaitTransfer()

        interceptor.setCredential(nil)
        transfer.receive(.head(HTTPResponseHead(status: .unauthorized)))
        transfer.receive(.end(nil))

        #expect(await probe.ended().map(\.error?.code) == [.unacceptableStatus])
        #expect(refreshed.count == 0)
    }

    @Test func logoutFailsWaitersAndDiscardsRefresh() async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let interceptor = AuthenticationInterceptor(desk.authenticator, credential: "old", origins: sampleOrigins)
        let queue = TestQueue(server(accepting: "new", sent), width: 2) { $0.interceptors = [interceptor] }
        let rejected = Probe(adding: TextRequest(), to: queue)
        await desk.calls.first(1)

        interceptor.setCredential(nil)
        await desk.end(with: .success("new"))

        let error = await rejected.ended().first?.error
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .unauthorized)
        #expect(interceptor.credential == nil && sent.count == 1)
    }

    @Test func logoutFailsUnsentRequests() async {
        let desk = RefreshDesk()
        let interceptor = AuthenticationInterceptor(desk.authenticator, origins: sampleOrigins)
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) { $0.interceptors = [interceptor] }
        let probe = Probe(adding: TextRequest(), to: queue)
        await desk.calls.first(1)

        interceptor.setCredential(nil)

        #expect(await probe.ended().first?.error?.code == .authenticationFailed)
        #expect(transport.requests.isEmpty)
        await desk.end(with: .success("late"))
        #expect(interceptor.credential == nil)
    }

    @Test func credentialSetDuringRefreshIsRefreshedNext() async {
        let desk = RefreshDesk()
        let sent = Recorder<String?>()
        let authentication = AuthenticationInterceptor(desk.authenticator, credential: "old", origins: sampleOrigins)
        let queue = TestQueue(server(accepting: "new", sent)) { $0.interceptors = [authentication] }
        let first = Probe(adding: TextRequest(identifier: "1"), to: queue)
        await desk.calls.first(1)

        authentication.setCredential("set")
        await sent.first(2)
        let second = Probe(adding: TextRequest(identifier: "2"), to: queue)
        await sent.first(3)
        let callsDuringTheFirst = desk.calls.elements
        await desk.end(1, with: .success("late"))
        await desk.calls.first(2)
        await desk.end(2, with: .success("new"))

        #expect(callsDuringTheFirst == ["old"] && desk.calls.elements == ["old", "set"])
        #expect(await second.ended().first?.value == "in")
        #expect(await first.ended().count == 1)
    }

    @Test func loginDuringRefreshResumesWaiters() async {
        let desk = RefreshDesk()
        let interceptor = AuthenticationInterceptor(desk.authenticator, credential: "old", origins: sampleOrigins)
        let queue = TestQueue(server(accepting: "login")) { $0.interceptors = [interceptor] }
        let probe = Probe(adding: TextRequest(), to: queue)
        await desk.calls.first(1)

        interceptor.setCredential("login")

        #expect(await probe.ended().first?.value == "in")
        await desk.end(with: .failure(SampleError()))
        #expect(await results(1, on: queue).first?.value == "in")
    }
}
