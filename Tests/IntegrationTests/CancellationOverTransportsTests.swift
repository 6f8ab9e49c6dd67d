// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// A cancel ends the request at once, and its transfer soon: the server sees the client disconnect.
    @Suite(.bounded) struct CancellationOverTransportsTests {
        @Test(arguments: TransportUnderTest.all)
        func cancelBeforeResponseClosesConnection(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .never }
            let queue = OperationQueue()
            let operation = queue.addRequest(Call(server.url), session: transport.makeSession())

            try await server.awaitRequest()
            operation.cancel()

            #expect(operation.result?.failure?.code == .cancelled)
            #expect(operation.result?.failure?.phase == .sending)
            await queue.drain()
            #expect(operation.isFinished)
            try await server.awaitConnections(open: 0)
        }

        @Test(arguments: TransportUnderTest.all)
        func cancelDuringBodyClosesConnection(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .partial(then: .stall) }
            let queue = OperationQueue()
            let tap = Tap(transport)
            let operation = queue.addRequest(Call(server.url), session: tap)

            try await tap.content.wait()
            operation.cancel()

            #expect(operation.result?.failure?.code == .cancelled)
            #expect(operation.result?.failure?.phase == .receiving)
            #expect(operation.result?.failure?.response?.status == .ok)
            await queue.drain()
            try await server.awaitConnections(open: 0)
            #expect(tap.events == ["head 200", "data", "end cancelled"])
        }

        @Test(arguments: TransportUnderTest.all)
        func cancelDuringUploadClosesConnection(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .never }
            let queue = OperationQueue()
            let tap = Tap(transport)
            // More than the sockets' buffers hold.
            let body = HTTPBody.data(Data(repeating: 0, count: 64 << 20))
            let operation = queue.addRequest(Call(server.url, method: .post, body: body), session: tap)

            try await tap.upload.wait()
            operation.cancel()

            #expect(operation.result?.failure?.code == .cancelled)
            await queue.drain()
            try await server.awaitConnections(open: 0)
            #expect(tap.events == ["end cancelled"])
        }

        @Test(arguments: TransportUnderTest.all)
        func cancelBetweenRedirectsClosesConnection(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { $0.path == "/a" ? .redirect(to: "/b") : .never }
            let queue = OperationQueue()
            let operation = queue.addRequest(Call(server.url("/a")), session: transport.makeSession())

            try await server.awaitRequests(2)
            operation.cancel()

            #expect(operation.result?.failure?.code == .cancelled)
            await queue.drain()
            try await server.awaitConnections(open: 0)
            #expect(server.requests.map(\.path) == ["/a", "/b"])
        }

        @Test(arguments: TransportUnderTest.all)
        func cancellingManyRequestsCompletesEachOnce(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .never }
            let queue = OperationQueue()
            let completions = DispatchQueue(label: "completions")
            let session = transport.makeSession()
            let outcomes = Locked<[Int: [RequestError.Code?]]>([:])
            let count = Scale.pick(100, whole: 200)
            for number in 0..<count {
                queue.addRequest(Call(server.url("/\(number)")), session: session, completionQueue: completions) {
                    result in
                    outcomes.withLock { $0[number, default: []].append(result.failure?.code) }
                }
            }

            try await server.awaitRequest()
            queue.cancelAllOperations()
            await queue.drain()
            await completions.drain()

            let expected: [Int: [RequestError.Code?]] = Dictionary(
                uniqueKeysWithValues: (0..<count).map { ($0, [.cancelled]) }
            )
            #expect(outcomes.withLock { $0 } == expected)
            try await server.awaitConnections(open: 0)
        }

        @Test(arguments: TransportUnderTest.all)
        func taskCancellationCancelsRequest(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .never }
            let session = transport.makeSession()
            let queue = OperationQueue()
            let task = Task { try await queue.fetch(Call(server.url), session: session) }

            try await server.awaitRequest()
            task.cancel()

            #expect((await task.result.failure as? RequestError)?.code == .cancelled)
            await queue.drain()
            try await server.awaitConnections(open: 0)
        }

        @Test(arguments: TransportUnderTest.all)
        func alreadyCancelledTaskGetsNoResponse(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("answer") }
            let session = transport.makeSession()
            let queue = OperationQueue()
            let gate = Gate()
            let task = Task {
                try? await gate.wait()
                return try await queue.fetch(Call(server.url), session: session)
            }

            task.cancel()
            gate.open()

            #expect((await task.result.failure as? RequestError)?.code == .cancelled)
            await queue.drain()
        }

        @Test(arguments: TransportUnderTest.all)
        func cancelAfterCompletionHasNoEffect(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("answer") }
            let queue = OperationQueue()
            let operation = queue.addRequest(Call(server.url), session: transport.makeSession())

            let value = try await operation.value()
            operation.cancel()
            await queue.drain()

            #expect(value == Data("answer".utf8))
            #expect(try operation.result?.get() == value)
        }
    }
}

extension Result {
    /// The error; `nil` for a success.
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
