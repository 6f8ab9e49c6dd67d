// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The values that a completion, a task and a list of operations get.
@Suite(.bounded) struct SendingTests {
    private final class Ignorant: RequestQueue {
        var operations: [Operation] { [] }
        func addOperation(_ operation: Operation) {}
    }

    private let completionQueue = DispatchQueue(label: "completions")

    private func send<R: NetworkRequest>(
        _ request: R,
        on queue: some RequestQueue
    ) async -> Result<HTTPResponse<R.Success>, R.Failure> {
        await withCheckedContinuation { continuation in
            queue.send(request, completionQueue: completionQueue) { [completionQueue] result in
                dispatchPrecondition(condition: .onQueue(completionQueue))
                continuation.resume(returning: result)
            }
        }
    }

    // MARK: Completions

    @Test func completionReceivesResponse() async throws {
        let transport = InMemoryTransport { _ in .status(.created, headers: ["X-Count": "3"], body: Data("text".utf8)) }
        let response = try await send(TextRequest(), on: TestQueue(transport)).get()

        #expect(response.body == "text" && response.status == .created && response.headers["X-Count"] == "3")
        #expect(response.metrics?.end != nil && response.transfers.count == 1)
    }

    @Test func failureIncludesResponse() async {
        let transport = InMemoryTransport { _ in .status(.notFound, headers: ["X-Count": "3"], body: Data("gone".utf8))
        }
        let result = await send(TextRequest(), on: TestQueue(transport))

        #expect(result.error?.response?.headers["X-Count"] == "3" && result.error?.transfers.count == 1)
    }

    @Test func cachedResponseHasNoTransfers() async throws {
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: [.cacheControl: "max-age=60"], body: Data("a".utf8))
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }
        for count in [1, 0] {
            let response = try await send(WireRequest(), on: queue).get()
            #expect(response.body == "a" && response.status == .ok && response.transfers.count == count)
        }
    }

    @Test func unexecutedOperationStillCompletes() async {
        let queue = TestQueue(isSuspended: true)
        let codes = Recorder<RequestError.Code?>()
        queue.send(TextRequest()) { codes.record($0.error?.code) }
        queue.base.cancelAllOperations()
        #expect(await codes.first(1) == [.cancelled])
        queue.base.isSuspended = false

        #expect(await send(TextRequest(), on: Ignorant()).error?.code == .cancelled)
    }

    // MARK: Progress

    @MainActor @Test func progressIsReportedOnCallerActor() async throws {
        let transport = InMemoryTransport { _ in
            .data(Data(count: 7)).dripping(by: 4)
        }
        var news: [TransferProgress] = []
        let data = try await TestQueue(transport).fetch(HTTPRequest(url: home)) { progress in
            MainActor.preconditionIsolated()
            news.append(progress)
        }

        #expect(data.count == 7)
        #expect(news.last?.completed == 7)
    }

    @Test func uploadProgressCountsSentBytes() async throws {
        let server = try MockServer { _ in .noContent }
        var last: TransferProgress?
        let request = HTTPRequest(url: server.url, method: .put, body: .data(Data(count: 100_000)))
        _ = try await OperationQueue().fetch(request, progressOf: .upload) { last = $0 }

        #expect(last?.completed == 100_000)
    }

    @Test func cancelledTaskCancelsItsTransfer() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport)
        let task = Task { try await queue.fetch(HTTPRequest(url: home)) { _ in } }
        let transfer = try await transport.awaitTransfer()
        task.cancel()
        try await transfer.awaitCancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))

        let error = await #expect(throws: RequestError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func alreadyCancelledTaskSendsNothing() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await queue.fetch(HTTPRequest(url: home)) { _ in }
        }

        await #expect(throws: RequestError.self) { try await task.value }
        #expect(transport.transfers.isEmpty && queue.operations.isEmpty)
    }

    @Test func fetchFailsIfQueueDropsOperation() async {
        let error = await #expect(throws: RequestError.self) {
            try await Ignorant().fetch(HTTPRequest(url: home)) { _ in }
        }
        #expect(error?.code == .cancelled)
    }

    // MARK: Cancelling all

    @Test(arguments: [false, true]) func cancelAllCompletionFollowsTransfers(isSuspended: Bool) async throws {
        let transport = ManualTransport()
        let client = HTTPClient(maxConcurrentRequests: 1, transport: transport)
        let log = Recorder<String>()
        let running = client.addRequest(HTTPRequest(url: home), completionQueue: completionQueue) { _ in
            log.record("running")
        }
        client.addRequest(HTTPRequest(url: home), completionQueue: completionQueue) { _ in log.record("waiting") }
        let transfer = try await transport.awaitTransfer()
        client.isSuspended = isSuspended

        client.cancelAllRequests(completionQueue: completionQueue) { log.record("all") }
        await completionQueue.drain()
        #expect(log.elements == ["running", "waiting"] && !running.isFinished)
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))

        #expect(await log.first(3) == ["running", "waiting", "all"])
        #expect(running.isFinished && transport.transfers.count == 1)
    }

    @Test func cancellingEmptyQueueCallsCompletion() async {
        await withCheckedContinuation { continuation in
            OperationQueue().cancelAllRequests { continuation.resume() }
        }
    }

    // MARK: Lists

    @Test func requestOperationsIncludeAllTypes() async throws {
        let transport = ManualTransport(.pausing)
        let client = HTTPClient(transport: transport)
        client.addRequest(TextRequest(identifier: "text"))
        client.addRequest(HTTPRequest(url: home).decoding(.json(User.self)).tag("user"))
        client.addOperation(BlockOperation())
        let transfers = [try await transport.awaitTransfer(), try await transport.awaitTransfer(count: 2)]

        let operations = client.requestOperations
        #expect(operations.count == 2)
        #expect(operations.contains { $0.identifier == "text" } && operations.contains { $0.tag == "user" })
        for operation in operations { operation.pause() }
        for transfer in transfers { try await transfer.awaitPause() }
        for operation in operations { operation.resume() }
        for transfer in transfers {
            try await transfer.awaitPause(false)
            transfer.receive(.head(HTTPResponseHead(status: .ok, headers: [.contentLength: "4"], url: home)))
            transfer.receive(.data(Data("{}".utf8)))
        }
        #expect(operations.allSatisfy { $0.response?.status == .ok && $0.transfers.count == 1 })
        client.cancelAllRequests()
        for transfer in transfers { transfer.receive(.end(RequestError(.cancelled, phase: .receiving))) }
        for operation in operations { await operation.end() }
        #expect(client.requestOperations.isEmpty)
    }

    // MARK: A shared queue

    @Test(arguments: [false, true])
    func clientCancelsOnlyItsOwnRequests(hasCompletion: Bool) async {
        let queue = OperationQueue()
        queue.isSuspended = true
        let transport = InMemoryTransport { _ in .status(.ok) }
        let client = HTTPClient(queue: queue, transport: transport)
        let block = BlockOperation()
        let addedToClient = BlockOperation()
        queue.addOperation(block)
        client.addOperation(addedToClient)
        let direct = queue.addRequest(HTTPRequest(url: home), session: transport)
        let request = client.addRequest(HTTPRequest(url: home))
        let members = Recorder<RequestError.Code?>()
        client.addRequests(HTTPRequest(url: home)) { members.record($0.error?.code) }

        if hasCompletion {
            await withCheckedContinuation { continuation in client.cancelAllRequests { continuation.resume() } }
        } else {
            HTTPClient(queue: queue).cancelAllRequests()
        }

        #expect(request.result?.error?.code == .cancelled)
        #expect(await members.first(1) == [.cancelled])
        #expect(!block.isCancelled && !addedToClient.isCancelled && !direct.isCancelled)
        queue.isSuspended = false
        await direct.end()
        await block.end()
        #expect(direct.result?.value != nil)
    }

    @Test func queueCancelsOnlyRequestOperations() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        let block = BlockOperation()
        queue.addOperation(block)
        let request = queue.addRequest(HTTPRequest(url: home), session: InMemoryTransport { _ in .never })

        await withCheckedContinuation { continuation in queue.cancelAllRequests { continuation.resume() } }

        #expect(request.isCancelled && !block.isCancelled)
        queue.isSuspended = false
        await request.end()
    }
}
