// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Interceptors that block the thread that they are called on.
@Suite(.bounded, .tags(.alone), .serialized) struct BlockingInterceptorTests {
    /// Blocks its thread for requests to `/slow`, even if the task is cancelled.
    private struct Blocking: Interceptor {
        let gate: Gate
        let entered = Recorder<Void>()

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            if request.url.path == "/slow" { block() }
            return try await next(request)
        }

        private func block() {
            entered.record(())
            try? gate.wait()
        }
    }

    private static func request(_ path: String, _ options: RequestOptions = .init()) -> WireRequest {
        var request = WireRequest(options: options)
        request.http = HTTPRequest(url: URL(string: "https://example.com/\(path)")!)
        return request
    }

    private let blocking = Blocking(gate: Gate())
    private let sent = Recorder<String>()

    private func makeClient(width: Int = 64) -> HTTPClient {
        let transport = InMemoryTransport { [sent] request in
            sent.record(request.url.path)
            return .status(.ok, body: Data("x".utf8))
        }
        return HTTPClient(maxConcurrentRequests: width, transport: transport) { $0.interceptors = [blocking] }
    }

    @Test func blockingInterceptorDoesNotDelayOthers() async throws {
        let client = makeClient()
        // On Linux, Dispatch takes a second to replace a blocked thread.
        let count = Scale.pick(1, whole: 4) * ProcessInfo.processInfo.activeProcessorCount
        let slow = (0..<count).map { _ in client.addRequest(Self.request("slow")) }
        _ = await blocking.entered.first(count)

        for _ in 0..<20 { #expect(try await client.fetch(Self.request("fast")) == "x") }
        #expect(sent.elements.allSatisfy { $0 == "/fast" })

        blocking.gate.open()
        for operation in slow { #expect(try await operation.value() == "x") }
    }

    @Test func cancelAndDeadlineEndBlockedRequests() async {
        let client = makeClient()
        var options = RequestOptions()
        options.deadline = .milliseconds(50)
        let cancelled = client.addRequest(Self.request("slow"))
        let late = client.addRequest(Self.request("slow", options))
        _ = await blocking.entered.first(2)

        cancelled.cancel()
        await cancelled.end()
        await late.end()

        #expect(cancelled.result?.error?.code == .cancelled && late.result?.error?.code == .deadlineExceeded)
        blocking.gate.open()
        for _ in 0..<10 { _ = try? await client.fetch(Self.request("fast")) }
        #expect(!sent.elements.contains("/slow"), "nothing is sent behind the end")
    }

    enum End: CaseIterable {
        case cancel, deadline
    }

    enum Awaited: CaseIterable {
        case completion, finish
    }

    /// Waits for the cancellation of its task, and then, on the thread that cancels it, for a gate.
    private struct Parting: Interceptor {
        let gate: Gate
        let entered = Recorder<Void>()
        let partings = Recorder<Bool>()

        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            try await withTaskCancellationHandler {
                entered.record(())
                try await Gate().wait()
            } onCancel: {
                partings.record((try? gate.wait(timeout: .seconds(5))) != nil)
            }
        }
    }

    @Test(arguments: End.allCases, Awaited.allCases)
    func cancellationHandlerCanAwaitOperationEnd(end: End, awaited: Awaited) async {
        let parting = Parting(gate: Gate())
        let client = HTTPClient(transport: InMemoryTransport { _ in .status(.ok) }) { $0.interceptors = [parting] }
        var options = RequestOptions()
        if end == .deadline { options.deadline = .milliseconds(50) }
        let operation = client.makeOperation(for: Self.request("slow", options))
        let watcher = BlockOperation { if awaited == .finish { parting.gate.open() } }
        watcher.addDependency(operation)
        let queue = OperationQueue()
        queue.addOperation(watcher)
        if awaited == .completion { operation.addCompletion(on: .global()) { _ in parting.gate.open() } }
        client.addOperation(operation)
        await parting.entered.first(1)

        if end == .cancel { DispatchQueue.global().async { operation.cancel() } }

        #expect(await parting.partings.first(1) == [true])
        await watcher.end()
    }
}
