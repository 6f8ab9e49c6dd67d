// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Interceptors that follow the rules, and interceptors that don't.
@Suite(.bounded) struct ChainTests {
    private typealias Answer = HTTPResponse<ResponseContent>
    private typealias Body = @Sendable (HTTPRequest, InterceptorChain.Context, InterceptorChain) async throws -> Answer

    private struct Around: Interceptor {
        let body: Body

        init(_ body: @escaping Body) {
            self.body = body
        }

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            try await body(request, context, next)
        }
    }

    private let transport = InMemoryTransport { request in
        request.url.path == "/old"
            ? .status(.found, headers: [.location: "/new"])
            : .status(.ok, headers: [.setCookie: "a=1"], body: Data(request.url.path.utf8))
    }

    private func run(_ interceptors: Body...) async -> DataOperation<TextRequest> {
        let queue = TestQueue(transport) { $0.interceptors = interceptors.map { Around($0) } }
        let operation = queue.addRequest(TextRequest())
        await operation.end()
        return operation
    }

    // MARK: Interceptors that follow the rules

    @Test func firstInterceptorIsOutermost() async {
        let events = Recorder<String>()
        func named(_ name: String) -> Body {
            { request, _, next in
                events.record("\(name) before")
                defer { events.record("\(name) after") }
                return try await next(request)
            }
        }
        let operation = await run(named("a"), named("b"))

        #expect(operation.result?.value == "/recipes/1")
        #expect(events.elements == ["a before", "b before", "b after", "a after"])
    }

    @Test func redirectsAreFollowedInsideInterceptors() async {
        let seen = Recorder<HTTPStatus>()
        let operation = await run({ request, _, next in
            var request = request
            request.url = URL(string: "https://example.com/old")!
            let answer = try await next(request)
            seen.record(answer.status)
            return answer
        })

        #expect(operation.result?.value == "/new" && seen.elements == [.ok])
        #expect(operation.transfers.map(\.cause) == [.initial, .redirect])
    }

    @Test func interceptorCanRespondWithoutNext() async {
        let operation = await run({ _, _, _ in
            HTTPResponse(head: HTTPResponseHead(status: .ok), body: .data(Data("known".utf8)))
        })

        #expect(operation.result?.value == "known")
        #expect(transport.requests.isEmpty && operation.transfers.isEmpty)
        #expect(operation.response?.status == .ok)
    }

    @Test func interceptorsSeeUnacceptableStatus() async {
        let seen = Recorder<HTTPStatus>()
        let queue = TestQueue(InMemoryTransport { _ in .status(.notFound) }) {
            $0.interceptors = [
                Around { request, _, next in
                    let answer = try await next(request)
                    seen.record(answer.status)
                    return answer
                }
            ]
        }
        let operation = queue.addRequest(TextRequest())
        await operation.end()

        #expect(seen.elements == [.notFound])
        #expect(operation.result?.error?.code == .unacceptableStatus)
        #expect(operation.result?.error?.response?.status == .notFound)
    }

    @Test func secondNextCallIsNotAnotherAttempt() async {
        let attempts = Recorder<Int>()
        let operation = await run({ request, context, next in
            _ = try await next(request)
            attempts.record(context.attempt)
            return try await next(request)
        })

        #expect(operation.transfers.count == 2 && transport.requests.count == 2)
        #expect(attempts.elements == [1])
    }

    @Test func concurrentNextCallsYieldOneResponse() async {
        let events = Recorder<String>()
        let queue = TestQueue(transport) {
            $0.interceptors = [
                Around { request, _, next in
                    try await withThrowingTaskGroup(of: HTTPResponse<ResponseContent>.self) { group in
                        for _ in 0..<5 { group.addTask { try await next(request) } }
                        guard let first = try await group.next() else { throw SampleError() }
                        group.cancelAll()
                        return first
                    }
                }
            ]
            $0.monitors = [
                .events { event, _ in
                    switch event {
                    case .transferStarted: events.record("start")
                    case .transferEnded: events.record("end")
                    default: break
                    }
                }
            ]
        }
        let operation = queue.addRequest(TextRequest())
        await operation.end()

        #expect(operation.result?.value == "/recipes/1")
        #expect(events.elements.filter { $0 == "start" }.count == events.elements.filter { $0 == "end" }.count)
        #expect(operation.transfers.count <= 5)
    }

    @Test func headArrivesBeforeContent() async throws {
        let steps = ManualTransport()
        let heads = Recorder<HTTPStatus>()
        let queue = TestQueue(steps) {
            $0.interceptors = [
                Around { request, _, next in try await next(request) { heads.record($0.status) } }
            ]
        }
        let operation = queue.addRequest(TextRequest())
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))

        #expect(await heads.first(1) == [.ok])
        #expect(operation.result == nil)
        transfer.receive(.end(nil))
        await operation.end()
    }

    // MARK: Interceptors that break the rules

    @Test func nextAfterCompletionSendsNothing() async throws {
        let kept = Locked<InterceptorChain?>(nil)
        _ = await run({ request, _, next in
            kept.withLock { $0 = next }
            return try await next(request)
        })
        let next = try #require(kept.withLock { $0 })

        await #expect(throws: RequestError.self) { _ = try await next(HTTPRequest(url: home)) }
        #expect(transport.requests.count == 1)
    }

    /// The operation is still running: `next` fails only because its interceptor has returned.
    @Test func nextFailsAfterInterceptorReturned() async {
        let kept = Locked<InterceptorChain?>(nil)
        let errors = Recorder<RequestError?>()
        let operation = await run(
            { request, _, next in
                let answer = try await next(request)
                let error = await #expect(throws: RequestError.self) {
                    _ = try await kept.withLock { $0 }?(request)
                }
                errors.record(error)
                return answer
            },
            { request, _, next in
                kept.withLock { $0 = next }
                return try await next(request)
            }
        )

        #expect(operation.result?.value == "/recipes/1")
        #expect(errors.elements.map(\.?.phase) == [.sending])
        #expect(transport.requests.count == 1)
    }

    @Test func thrownCancellationErrorDoesNotCancel() async {
        let operation = await run({ _, _, _ in throw CancellationError() })

        #expect(operation.result?.error?.code == .other)
        #expect(!operation.isCancelled && transport.requests.isEmpty)
    }

    @Test func cancelEndsDespiteUnresponsiveInterceptor() async throws {
        let (entered, gate) = (Gate(), Gate())
        let left = Recorder<Bool>()
        let queue = TestQueue(transport) {
            $0.interceptors = [
                Around { request, _, next in
                    entered.open()
                    await gate.waitIgnoringCancel()
                    do {
                        let answer = try await next(request)
                        left.record(true)
                        return answer
                    } catch {
                        left.record(false)
                        throw error
                    }
                }
            ]
        }
        let operation = queue.addRequest(TextRequest())
        try await entered.wait()

        operation.cancel()
        await operation.end()
        #expect(operation.result?.error?.code == .cancelled)
        gate.open()

        #expect(await left.first(1) == [false])
        #expect(transport.requests.isEmpty)
    }

    @Test func deadlineFiresWhileInterceptorIsSuspended() async {
        let gate = Gate()
        var options = RequestOptions()
        options.deadline = .milliseconds(50)
        let queue = TestQueue(transport) {
            $0.interceptors = [
                Around { request, _, next in
                    await gate.waitIgnoringCancel()
                    return try await next(request)
                }
            ]
        }
        let operation = queue.addRequest(TextRequest(options: options))
        await operation.end()

        #expect(operation.result?.error?.code == .deadlineExceeded)
        gate.open()
    }

    @Test func crossOriginRewriteDropsAuthorization() async {
        let queue = TestQueue(transport) {
            $0.interceptors = [
                Around { request, _, next in
                    var request = request
                    request.url = URL(string: "https://elsewhere.example/")!
                    return try await next(request)
                }
            ]
            $0.baseURL = home
            $0.headers[.authorization] = "Bearer secret"
        }
        let operation = queue.addRequest(TextRequest())
        await operation.end()

        #expect(operation.result?.value != nil)
        #expect(transport.requests.map { $0.headers[.authorization] } == [nil])
    }

    // MARK: Content

    private struct FileRequest: DownloadRequest {
        typealias Success = Download.File
        typealias Failure = RequestError

        let destination: Download.Destination
        var identifier: String { "file" }
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
    }

    @Test func interceptorResponseIsWrittenToFile() async throws {
        let folder = TemporaryFolder()
        let queue = TestQueue(transport) {
            $0.interceptors = [
                Around { _, _, _ in
                    HTTPResponse(head: HTTPResponseHead(status: .ok), body: .data(Data("known".utf8)))
                }
            ]
        }
        let operation = queue.addRequest(FileRequest(destination: .file(folder.file("a"))))
        await operation.end()

        #expect(try operation.result?.get().length == 5)
        #expect(try Data(contentsOf: folder.file("a")) == Data("known".utf8))
    }

    @Test func rejectedDownloadStopsAtErrorBodyLimit() async throws {
        let steps = ManualTransport()
        let folder = TemporaryFolder()
        let queue = TestQueue(steps) { $0.maximumErrorBodySize = 100 }
        let operation = queue.addRequest(FileRequest(destination: .file(folder.file("a"))))
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .notFound)))
        transfer.receive(.data(Data(repeating: 0x78, count: 1000)))

        try await transfer.awaitCancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
        await operation.end()

        #expect(operation.result?.error?.code == .unacceptableStatus)
        #expect(operation.result?.error?.body.count == 100)
    }

    private struct Chunks: StreamRequest {
        typealias Success = Int
        typealias Failure = RequestError

        let errors: Recorder<String>
        var options = RequestOptions()
        var identifier: String { "chunks" }
        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }

        func process(_ stream: ResponseStream) async throws -> Int {
            do {
                var count = 0
                for try await chunk in stream { count += chunk.count }
                return count
            } catch {
                errors.record("\((error as? RequestError)?.code.name ?? "\(error)")")
                throw error
            }
        }
    }

    @Test func streamConsumerReceivesOperationError() async throws {
        let steps = ManualTransport()
        let errors = Recorder<String>()
        let clock = ManualClock()
        var options = RequestOptions()
        options.deadline = .seconds(1)
        let queue = TestQueue(steps) { $0.clock = clock }
        let operation = queue.addRequest(Chunks(errors: errors, options: options))
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        try await clock.waitForSleepers()

        clock.advance(by: .seconds(1))

        #expect(await errors.first(1) == ["deadlineExceeded"])
        transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
        await operation.end()
    }

    @Test func cookieFromFailedRevalidationIsStored() async throws {
        let isDown = Locked(false)
        let jar = CookieJar()
        let time = Locked(Date(timeIntervalSince1970: 1_000_000))
        let transport = InMemoryTransport { _ in
            isDown.withLock { $0 }
                ? .status(.serviceUnavailable, headers: [.setCookie: "seen=503"])
                : .status(
                    .ok,
                    headers: [.cacheControl: "max-age=1, stale-if-error=600", .eTag: "\"1\""],
                    body: Data("a".utf8)
                )
        }
        let queue = TestQueue(transport) {
            $0.cache = ResponseCache(now: { time.withLock { $0 } })
            $0.cookies = jar
        }
        _ = try await queue.fetch(TextRequest())
        isDown.withLock { $0 = true }
        time.withLock { $0 += 10 }

        #expect(try await queue.fetch(TextRequest()) == "a")
        #expect(jar.field(for: home)?.value == "seen=503")
    }
}

extension Gate {
    /// Waits for the gate even if its task is cancelled.
    fileprivate func waitIgnoringCancel() async {
        _ = await Task.detached { try await self.wait() }.result
    }
}
