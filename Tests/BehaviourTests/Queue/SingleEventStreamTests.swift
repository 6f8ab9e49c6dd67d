// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// How often an event stream is requested: a GET until the server ends it, any other request once.
@Suite(.bounded) struct SingleEventStreamTests {
    /// The events and errors that a caller sees, and the methods that the server has received.
    private struct Outcome {
        var events: [String] = []
        var error: RequestError?
        var methods: [HTTPMethod] = []
    }

    static let ended = StubResponse.chunked([Data("data: a\n\n".utf8)], headers: [.contentType: "text/event-stream"])
    static let broken = ended.reset(after: 9)
    static let busy = StubResponse.status(.tooManyRequests, headers: [.retryAfter: "1"])

    /// Reads a stream to its end, while the clock advances past each wait.
    private func read(
        _ request: some NetworkRequest,
        _ responses: [StubResponse],
        reconnection: ServerSentEvent.Reconnection = .default,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) async -> Outcome {
        let clock = ManualClock()
        let transport = InMemoryTransport.answering(responses)
        let client = HTTPClient(transport: transport) {
            $0.clock = clock
            configure(&$0)
        }
        let passing = Task {
            while (try? await clock.waitForSleepers()) != nil { clock.advance(by: .seconds(30)) }
        }
        defer { passing.cancel() }
        var outcome = Outcome()
        do throws(any Error) {
            for try await event in client.serverSentEvents(request, reconnection: reconnection) {
                outcome.events.append(event.data)
                // A repeated stream would never end.
                if outcome.events.count == 5 { break }
            }
        } catch {
            outcome.error = error as? RequestError
        }
        outcome.methods = transport.requests.map(\.method)
        return outcome
    }

    private static func request(_ method: HTTPMethod) -> HTTPRequest {
        HTTPRequest(url: home, method: method, body: .text("hello"))
    }

    static let unsafe: [HTTPMethod] = [.post, .put, .patch, .delete, "REPORT"]

    @Test(arguments: unsafe) func completedPostEndsEvents(_ method: HTTPMethod) async {
        let outcome = await read(Self.request(method), [Self.ended])

        #expect(outcome.events == ["a"] && outcome.error == nil && outcome.methods == [method])
    }

    @Test(arguments: unsafe) func interruptedPostFailsAfterItsEvents(_ method: HTTPMethod) async {
        let outcome = await read(Self.request(method), [Self.broken])

        #expect(outcome.events == ["a"] && outcome.methods == [method])
        #expect(outcome.error?.code == .connectionLost && outcome.error?.response?.status == .ok)
    }

    /// An idempotency key protects the data from a repetition, but the repetition still costs money.
    @Test(arguments: [ended, broken], [RetryPolicy.never, .default])
    func idempotencyKeyDoesNotRepeatEventStream(_ response: StubResponse, retry: RetryPolicy) async {
        let request = Self.request(.post).header("Idempotency-Key", "1")

        let outcome = await read(request, [response]) { $0.retry = retry }

        #expect(outcome.events == ["a"] && outcome.methods == [.post])
    }

    @Test func retryPolicyDoesNotRepeatEventStream() async {
        let everything = RetryPolicy(limit: 5, methods: nil)

        let outcome = await read(Self.request(.post), [Self.broken]) { $0.retry = everything }

        #expect(outcome.events == ["a"] && outcome.methods == [.post] && outcome.error?.code == .connectionLost)
    }

    @Test(
        arguments: [
            (.never, 1), (.default, 1), (RetryPolicy(limit: 1, methods: nil), 2),
            (RetryPolicy(limit: 3, methods: nil), 3),
        ] as [(RetryPolicy, Int)]
    )
    func retryPolicyAppliesToBusyServer(_ retry: RetryPolicy, count: Int) async {
        let answers = [Self.busy, Self.busy, Self.ended]

        let outcome = await read(Self.request(.post), answers) { $0.retry = retry }
        let own = await read(Self.request(.post).retry(retry), answers)

        for outcome in [outcome, own] {
            #expect(outcome.methods.count == count)
            #expect(outcome.error?.code == (count == 3 ? nil : .unacceptableStatus))
            #expect(outcome.events == (count == 3 ? ["a"] : []))
        }
    }

    @Test func idempotencyKeyAllowsRetryAfter503() async {
        let request = Self.request(.post).header("Idempotency-Key", "1")

        let outcome = await read(request, [Self.busy, Self.ended]) { $0.retry = .default }

        #expect(outcome.events == ["a"] && outcome.methods.count == 2)
    }

    @Test func retryPolicyAppliesToRefusedConnection() async {
        let refused = StubResponse.failure(RequestError(.cannotConnect, phase: .sending))

        let once = await read(Self.request(.post), [refused, Self.ended])
        let retried = await read(Self.request(.post), [refused, Self.ended]) { $0.retry = .default }

        #expect(once.error?.code == .cannotConnect && once.methods.count == 1)
        #expect(retried.events == ["a"] && retried.methods.count == 2)
    }

    @Test func expiredTokenIsRefreshedForPOST() async {
        let authenticator = TokenAuthenticator { _ in "new" }

        let outcome = await read(Self.request(.post), [.status(.unauthorized), Self.ended]) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }

        #expect(outcome.events == ["a"] && outcome.error == nil && outcome.methods.count == 2)
    }

    /// The method of the original request decides, not that of the redirected one.
    @Test(arguments: [(.seeOther, .get), (.temporaryRedirect, .post)] as [(HTTPStatus, HTTPMethod)])
    func redirectedPostHasSingleEventStream(_ status: HTTPStatus, method: HTTPMethod) async {
        let outcome = await read(Self.request(.post), [.redirect(to: "/events", status: status), Self.ended])

        #expect(outcome.events == ["a"] && outcome.error == nil && outcome.methods == [.post, method])
    }

    @Test func postFromURLRequestHasSingleEventStream() async {
        var foundation = URLRequest(url: home)
        foundation.httpMethod = "POST"
        let request = UntypedRequest { [foundation] in $0(.success(foundation)) }

        #expect(await read(request, [Self.ended]).methods == [.post])
        #expect(await read(request, [Self.broken]).methods == [.post])
    }

    /// An interceptor can turn a GET into a POST.
    @Test func methodSetByInterceptorDecidesReconnection() async {
        let outcome = await read(HTTPRequest(url: home), [Self.ended]) {
            $0.interceptors = [.adapting { $0.method = .post }]
        }

        #expect(outcome.events == ["a"] && outcome.methods == [.post])
    }

    private struct Closed: RequestCondition {
        func check(_ context: InterceptorChain.Context) async throws { throw RequestError(.offline, phase: .waiting) }
    }

    @Test func unmetConditionFailsPostImmediately() async {
        let outcome = await read(Self.request(.post), [Self.ended]) { $0.conditions = [Closed()] }

        #expect(outcome.error?.code == .offline && outcome.methods.isEmpty)
    }

    /// Whether such a request is safe is unknown until it is built.
    @Test func unmetConditionFailsURLRequestImmediately() async {
        var foundation = URLRequest(url: home)
        foundation.httpMethod = "POST"
        let checks = Locked(0)
        struct Counted: RequestCondition {
            let checks: Locked<Int>
            func check(_ context: InterceptorChain.Context) async throws {
                checks.withLock { $0 += 1 }
                throw RequestError(.offline, phase: .waiting)
            }
        }

        let outcome = await read(UntypedRequest { [foundation] in $0(.success(foundation)) }, [Self.ended]) {
            $0.conditions = [Counted(checks: checks)]
        }

        #expect(outcome.error?.code == .offline && checks.withLock { $0 } == 1)
    }

    /// Interceptors may change the method, or be bypassed.
    @Test func interceptorsDoNotRepeatEventStream() async {
        var bypassing = Self.request(.post)
        bypassing = bypassing.bypassing(ClosureInterceptor.self)
        let bypassed = await read(bypassing, [Self.ended])
        let changed = await read(HTTPRequest(url: home), [Self.ended]) {
            $0.interceptors = [
                .intercepting { request, next in try await next(request.method(.post)) }
            ]
        }

        #expect(bypassed.methods == [.post] && changed.methods == [.post])
        #expect(bypassed.events == ["a"] && changed.events == ["a"])
    }

    @Test func postBuildFailureIsNotRetried() async {
        let builds = Locked(0)
        let request = UntypedRequest {
            builds.withLock { $0 += 1 }
            $0(.failure(SampleError()))
        }

        let outcome = await read(request, [Self.ended])

        #expect(outcome.error?.underlying is SampleError && builds.withLock { $0 } == 1)
    }

    /// Without a length, only an incomplete last event distinguishes an interruption from the end.
    @Test(arguments: [("data: a\n\n", nil), ("data: a\n\ndata: b", .connectionLost)] as [(String, RequestError.Code?)])
    func connectionClosedWithinEventFails(_ text: String, code: RequestError.Code?) async throws {
        let wire = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + text
        let server = try MockServer { _ in .raw(wire) }
        var events: [String] = []
        var error: RequestError?
        do {
            for try await event in HTTPClient(baseURL: server.url).serverSentEvents(Post<Data>("chat")) {
                events.append(event.data)
            }
        } catch let failure as RequestError {
            error = failure
        }

        #expect(events == ["a"] && error?.code == code && server.requests.count == 1)
    }

    // MARK: Without reconnection

    @Test func normalEndWithoutReconnectionSucceeds() async {
        let outcome = await read(HTTPRequest(url: home), [Self.ended], reconnection: .never)

        #expect(outcome.events == ["a"] && outcome.error == nil && outcome.methods == [.get])
    }

    @Test func interruptionWithoutReconnectionFails() async {
        let outcome = await read(HTTPRequest(url: home), [Self.broken], reconnection: .never)

        #expect(outcome.events == ["a"] && outcome.error?.code == .connectionLost && outcome.methods == [.get])
    }

    @Test func retryPolicyAppliesWithoutReconnection() async {
        let request = HTTPRequest(url: home)

        let once = await read(request, [Self.busy, Self.ended], reconnection: .never)
        let retried = await read(request, [Self.busy, Self.ended], reconnection: .never) { $0.retry = .default }

        #expect(once.error?.response?.status == .tooManyRequests && once.methods.count == 1)
        #expect(retried.events == ["a"] && retried.methods.count == 2)
    }

    @Test(arguments: [HTTPMethod.get, .post], [ServerSentEvent.Reconnection.default, .never])
    func noContentEndsEvents(_ method: HTTPMethod, reconnection: ServerSentEvent.Reconnection) async {
        let request = HTTPRequest(url: home, method: method)

        let outcome = await read(request, [.status(.noContent)], reconnection: reconnection)

        #expect(outcome.events.isEmpty && outcome.error == nil && outcome.methods == [method])
    }

    @Test func noContentEndsEventsEvenIfUnacceptable() async {
        let outcome = await read(TextRequest(validHTTPStatusCodes: [200]), [.status(.noContent)])

        #expect(outcome.error == nil && outcome.methods.count == 1)
    }

    // MARK: Reconnection of a GET

    @Test(arguments: [HTTPMethod.get, .head]) func safeRequestReconnects(_ method: HTTPMethod) async {
        let outcome = await read(
            HTTPRequest(url: home, method: method),
            [Self.ended, Self.broken, .status(.noContent)]
        )

        #expect(outcome.error == nil && outcome.methods == [method, method, method])
    }
}
