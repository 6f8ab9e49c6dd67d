// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Operations with more than one transfer at a time.
@Suite(.bounded) struct ConcurrentTransfersTests {
    /// Sends the request immediately, and again when the gate is open.
    private struct Hedging: Interceptor {
        let maySendAgain: Gate
        let hasSentAgain: Gate

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            async let first = next(request)
            async let second: HTTPResponse<ResponseContent>? = {
                try? await maySendAgain.wait()
                defer { hasSentAgain.open() }
                return try? await next(request)
            }()
            let answer = try await first
            _ = await second
            return answer
        }
    }

    /// Drops its first transfer under its lock, and responds to the next.
    private final class Forgetful: HTTPTransport {
        private let first = Locked<(receive: (@Sendable (TransferEvent) -> Void)?, isSent: Bool)>((nil, false))

        var capabilities: TransportCapabilities { [.concurrentDelivery] }
        var isSent: Bool { first.withLock { $0.isSent } }

        func send(
            _ request: TransportRequest,
            receive: @escaping @Sendable (TransferEvent) -> Void
        ) -> any TransferHandle {
            let isFirst = first.withLock { first in
                defer { if !first.isSent { first = (receive, true) } }
                return !first.isSent
            }
            if !isFirst {
                receive(.head(HTTPResponseHead(status: .ok)))
                receive(.end(nil))
            }
            return Handle()
        }

        func forget() { first.withLock { $0.receive = nil } }

        private final class Handle: TransferHandle {
            func cancel() {}
            func pause() {}
            func resume() {}
        }
    }

    @Test func transferDroppedUnderLockIsRetried() async throws {
        let transport = Forgetful()
        let queue = TestQueue(transport) { $0.retry = RetryPolicy(limit: 1, backoff: .none) }
        let operation = queue.addRequest(TextRequest())
        try await eventually { transport.isSent }

        transport.forget()

        #expect(try await operation.value() == "")
    }

    @Test func failedSourceFailsBothOperations() async throws {
        let source = RequestSource<TextRequest>.deferred(
            mapError: { RequestError($0) },
            make: { throw SampleError() }
        )
        let transport = InMemoryTransport { _ in .status(.ok) }
        let operations = (0..<2).map { _ in
            DataOperation(OperationConfiguration(source: source, transport: transport))
        }
        for operation in operations { OperationQueue().addOperation(operation) }

        for operation in operations { await operation.end() }

        #expect(operations.allSatisfy { $0.result?.error != nil } && transport.requests.isEmpty)
    }

    @Test func operationFinishesAfterItsLastTransfer() async throws {
        let (transport, maySendAgain, hasSentAgain) = (ManualTransport(), Gate(), Gate())
        let queue = TestQueue(transport) {
            $0.interceptors = [Hedging(maySendAgain: maySendAgain, hasSentAgain: hasSentAgain)]
        }
        let operation = queue.addRequest(TextRequest())
        let transfer = try await transport.awaitTransfer()

        operation.cancel()
        maySendAgain.open()
        try await hasSentAgain.wait()

        #expect(!operation.isFinished && transport.transfers.count == 1)
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))
        await operation.end()
    }

    /// Sends the request many times concurrently, from unstructured tasks.
    private struct Swarm: Interceptor {
        let count: Int

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            let tasks = (0..<count).map { _ in Task { try await next(request) } }
            for task in tasks { _ = await task.result }
            return try await tasks[0].value
        }
    }

    @Test func pauseAndCancelApplyToAllOpenTransfers() async throws {
        let (transport, count) = (ManualTransport(), 250)
        let queue = TestQueue(transport) { $0.interceptors = [Swarm(count: count)] }
        let operation = queue.addRequest(TextRequest())
        try await transport.awaitTransfer(count: count)

        // A transfer that has just begun may be paused a moment later.
        operation.pause()
        for transfer in transport.transfers { try await transfer.awaitPause() }
        operation.resume()
        for transfer in transport.transfers { try await transfer.awaitPause(false) }
        operation.cancel()
        for transfer in transport.transfers { try await transfer.awaitCancel() }

        for transfer in transport.transfers { transfer.receive(.end(nil)) }
        await operation.end()
    }

    /// Calls `next` in a cancelled task, and then again for the response.
    private struct CancelledChild: Interceptor {
        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            let child = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try? await next(request)
            }
            _ = await child.value
            return try await next(request)
        }
    }

    @Test func cancelledUnstartedTransferIsNotRecorded() async throws {
        let queue = TestQueue { $0.interceptors = [CancelledChild()] }

        let response = try await queue.send(TextRequest())

        #expect(response.transfers.count == 1)
    }

    @Test func cancellingInterceptorTaskCancelsRequest() async {
        let queue = TestQueue {
            $0.interceptors = [.adapting { _ in withUnsafeCurrentTask { $0?.cancel() } }]
        }

        let error = await #expect(throws: RequestError.self) { try await queue.fetch(TextRequest()) }

        #expect(error?.code == .cancelled)
    }

    @Test func deadlineDoesNotEndSharedTransfer() async throws {
        let (transport, clock) = (ManualTransport(), ManualClock())
        let queue = TestQueue(transport) {
            $0.clock = clock
            $0.deadline = .seconds(30)
        }
        let first = Probe(adding: TextRequest(), to: queue, coalescing: true)
        let transfer = try await transport.awaitTransfer()
        try await clock.waitForSleepers()
        var patient = TextRequest()
        patient.options.deadline = .seconds(600)
        let second = Probe(adding: patient, to: queue, coalescing: true)
        try await clock.waitForSleepers(2)

        clock.advance(by: .seconds(30))
        #expect(await first.ended().map(\.error?.code) == [.deadlineExceeded])
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.data(Data("late".utf8)))
        transfer.receive(.end(nil))

        #expect(await second.ended().map(\.value) == ["late"])
    }

    /// A custom operation that sends nothing.
    private final class Counting: RequestOperation<TextRequest>, @unchecked Sendable {
        init() { super.init(source: .value(TextRequest())) }

        override func execute() { finish(with: .success("counted")) }
    }

    @Test func customOperationNeedsNoTransport() async throws {
        let operation = Counting()
        OperationQueue().addOperation(operation)

        #expect(try await operation.value() == "counted")
        #expect(operation.transfers.isEmpty && operation.urlRequest == nil)
    }

    @Test func concurrentPauseAndResumeBalance() async throws {
        let transport = ManualTransport([.concurrentDelivery, .pausing])
        let queue = TestQueue(transport)
        let operation = queue.addRequest(TextRequest())
        let transfer = try await transport.awaitTransfer()

        for round in 0..<Scale.races {
            simultaneously {
                operation.pause()
                operation.resume()
            } and: {
                operation.pause()
                operation.resume()
            }
            #expect(!transfer.isPaused, "round \(round)")
        }
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.data(Data("hello".utf8)))
        transfer.receive(.end(nil))

        await operation.end()
        #expect(operation.result?.value == "hello")
    }
}
