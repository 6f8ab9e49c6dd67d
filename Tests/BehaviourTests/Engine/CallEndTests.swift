// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// A request's promises to its callers, whatever happens to its queue, its threads and its environment.
@Suite(.bounded) struct CallEndTests {
    // MARK: Identity and options

    /// A request that counts how often its identifier is computed and its options are read.
    private struct CountedRequest: DataRequest {
        typealias Success = Data
        typealias Failure = RequestError

        let identifiers: Recorder<Void>
        var reads = Recorder<Void>()
        var interceptors: @Sendable () -> [any Interceptor] = { [] }
        var http = HTTPRequest(url: home)

        var identifier: String {
            identifiers.record(())
            return "counted"
        }

        var options: RequestOptions {
            reads.record(())
            var options = RequestOptions()
            options.interceptors = interceptors()
            return options
        }

        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
        func makeHTTPRequest(
            in environment: RequestEnvironment,
            completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
        ) {
            completion(.success(http))
        }
    }

    @Test func identifierIsNotComputedUnlessNeeded() async {
        let (identifiers, signatures) = (Recorder<Void>(), Recorder<Void>())
        let queue = TestQueue {
            $0.interceptors = [.adapting { _ in }, ClosureInterceptor(), .signing { _ in }]
            $0.validators = [.contentType("*/*"), .closure { _, _ in .accept }]
            $0.monitors = [.events { _, _ in }]
            $0.retry = .default
        }
        var request = CountedRequest(identifiers: identifiers)
        request.http.authentication = AuthenticationProvider { _ in signatures.record(()) }
        await queue.addRequest(request).end()

        #expect(identifiers.count == 0)
        #expect(signatures.count == 1)
    }

    @Test func optionsAreReadOnce() async {
        let (reads, refreshes) = (Recorder<Void>(), Recorder<Void>())
        let transport = InMemoryTransport { request in
            request.headers[.authorization] == "Bearer new" ? .status(.ok) : .status(.unauthorized)
        }
        let request = CountedRequest(identifiers: Recorder(), reads: reads) {
            let authenticator = TokenAuthenticator { _ in
                refreshes.record(())
                return "new"
            }
            return [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }
        let queue = TestQueue(transport) { $0.baseURL = home }
        let operation = queue.addRequest(request)
        await operation.end()

        #expect(operation.result?.value != nil)
        #expect(reads.count == 1)
        #expect(refreshes.count == 1 && transport.requests.count == 2)
    }

    // MARK: Released queues and mock queues

    @Test func releasedSuspendedClientCallsCompletions() async {
        let results = Recorder<RequestError.Code?>()
        do {
            let client = HTTPClient(baseURL: home, transport: InMemoryTransport { _ in .status(.ok) })
            client.isSuspended = true
            for _ in 0..<3 { client.addRequest(Get<Data>("a")) { results.record($0.error?.code) } }
        }

        #expect(await results.first(3) == [.cancelled, .cancelled, .cancelled])
    }

    /// A queue whose handling of operations a test defines.
    private final class StandIn: RequestQueue {
        let operations: [Operation] = []
        private let body: @Sendable (Operation) -> Void

        init(_ body: @escaping @Sendable (Operation) -> Void) {
            self.body = body
        }

        func addOperation(_ operation: Operation) { body(operation) }
    }

    @Test func fetchFailsIfQueueDropsOperation() async {
        let queue = StandIn { _ in }
        await #expect(throws: RequestError.self) { try await queue.fetch(TextRequest()) }
        await #expect(throws: RequestError.self) { try await queue.send(TextRequest()) }
    }

    @Test func mockQueueCanFinishFetchAndSend() async throws {
        let queue = StandIn { operation in
            let operation = operation as? DataOperation<TextRequest>
            operation?.finish(with: HTTPResponse(head: HTTPResponseHead(status: .created), body: "fake"))
        }

        #expect(try await queue.fetch(TextRequest()) == "fake")
        let response = try await queue.send(TextRequest())
        #expect(response.status == .created && response.body == "fake")
    }

    /// A monitor that delivers the rest of a transfer while it is notified of the operation's end.
    private struct LateServer: EventMonitor {
        let transport: ManualTransport

        func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
            guard case .operationEnded = event else { return }
            for transfer in transport.transfers {
                transfer.receive(.data(Data("whole".utf8)))
                transfer.receive(.end(nil))
            }
        }
    }

    /// An interceptor that reads the response, like a cache.
    private struct Looking: Interceptor {
        let answers: Recorder<Data?>

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            do {
                let answer = try await next(request)
                answers.record(answer.body.data)
                return answer
            } catch {
                answers.record(nil)
                throw error
            }
        }
    }

    @Test func lateResponseAfterCancelIsCompleteOrAbsent() async throws {
        let (transport, answers) = (ManualTransport(), Recorder<Data?>())
        let queue = TestQueue(transport) {
            $0.monitors = [LateServer(transport: transport)]
            $0.interceptors = [Looking(answers: answers)]
        }
        let operation = queue.addRequest(TextRequest())
        let transfer = try await transport.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.data(Data("the ".utf8)))

        operation.cancel()
        await operation.end()
        let answer = await answers.first(1)

        #expect(answer == [nil] || answer == [Data("the whole".utf8)])
    }

    @Test func cancelledOperationIsNotReportedAsExecuting() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport)
        let operation = queue.addRequest(TextRequest())
        let transfer = try await transport.awaitTransfer()
        #expect(queue.requestCurrentlyExecuting(TextRequest()) === operation)

        operation.cancel()

        #expect(queue.requestCurrentlyExecuting(TextRequest()) == nil)
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))
        await operation.end()
    }

    @Test func cancelledTaskEnqueuesNothing() async {
        let queue = TestQueue(isSuspended: true)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await Result { try await queue.fetch(TextRequest()) }
        }

        #expect((await task.value.error as? RequestError)?.code == .cancelled)
        #expect(queue.operations.isEmpty)
    }

    // MARK: Threads

    private enum Traced {
        @TaskLocal static var name = "none"
    }

    @Test func interceptorsInheritFetchTaskLocals() async throws {
        let names = Recorder<String>()
        let queue = TestQueue { $0.interceptors = [.adapting { _ in names.record(Traced.name) }] }

        _ = try await Traced.$name.withValue("checkout") { try await queue.fetch(TextRequest()) }

        #expect(names.elements == ["checkout"])
    }

    @Test func blockedTaskThreadsDoNotDeadlock() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok) }) {
            $0.retry = RetryPolicy(limit: 1, backoff: .constant(.milliseconds(1)))
        }
        let count = 2 * ProcessInfo.processInfo.activeProcessorCount
        let done = Recorder<Void>()
        for _ in 0..<count {
            Task.detached {
                let operation = queue.addRequest(TextRequest())
                operation.waitForEnd()
                done.record(())
            }
        }

        #expect(await done.first(count).count == count)
    }

    @Test func deadlineFiresWhileThreadPoolIsBlocked() async {
        let release = DispatchSemaphore(value: 0)
        let blocked = Recorder<Void>()
        let count = ProcessInfo.processInfo.activeProcessorCount
        for _ in 0..<count {
            Task.detached {
                blocked.record(())
                release.waitBlocking()
            }
        }
        await blocked.first(count)
        defer { for _ in 0..<count { release.signal() } }

        var options = RequestOptions()
        options.deadline = .milliseconds(50)
        let operation = TestQueue(InMemoryTransport { _ in .never }).addRequest(TextRequest(options: options))
        operation.waitForEnd()

        #expect(operation.result?.error?.code == .deadlineExceeded)
    }

    @Test func cachedResponseIsDecodedOffMainThread() async {
        let isMain = Recorder<Bool>()
        let queue = TestQueue(
            InMemoryTransport { _ in .status(.ok, headers: [.cacheControl: "max-age=60"]) }
        ) { $0.cache = ResponseCache() }
        queue.base.underlyingQueue = .main
        let request = TextRequest(process: { data in
            isMain.record(Thread.isMainThread)
            return ""
        })
        await queue.addRequest(request).end()
        await queue.addRequest(request).end()

        #expect(isMain.elements == [false, false])
    }

    // MARK: Memory and locks

    @Test func readingResultInDeinitDoesNotDeadlock() async {
        final class Curious: Sendable {
            let look: @Sendable () -> Void

            init(_ look: @escaping @Sendable () -> Void) {
                self.look = look
            }

            deinit { look() }
        }
        let queue = TestQueue()
        let operation = Locked<DataOperation<TextRequest>?>(nil)
        let looks = Recorder<Bool>()
        do {
            let curious = Curious { looks.record(operation.withLock { $0 }?.result == nil) }
            let made = queue.makeOperation(for: TextRequest()) { _ in withExtendedLifetime(curious) {} }
            operation.withLock { $0 = made }
            queue.addOperation(made)
        }

        #expect(await looks.first(1) == [false])
        operation.withLock { $0 = nil }
    }

    @Test func recordedTransfersAreLimited() async {
        let transport = InMemoryTransport(recordsRequests: false) { _ in .status(.serviceUnavailable) }
        let queue = TestQueue(transport) { $0.retry = RetryPolicy(limit: 4000, backoff: .none) }
        let operation = queue.addRequest(TextRequest())
        await operation.end()

        #expect(operation.transfers.count == 100)
        #expect(operation.result?.error?.transfers.count == 100)
    }
}

extension Operation {
    /// Blocks the thread until the operation is finished, which callers may do.
    fileprivate func waitForEnd() { waitUntilFinished() }
}

extension DispatchSemaphore {
    /// Blocks the thread, which callers may do.
    fileprivate func waitBlocking() { wait() }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
