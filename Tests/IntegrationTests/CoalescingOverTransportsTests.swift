// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Equal requests that are under way together are one request at the server.
    @Suite(.bounded) struct CoalescingOverTransportsTests {
        @Test(arguments: TransportUnderTest.all)
        func equalRequestsShareOneTransfer(_ transport: TransportUnderTest) async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("shared").held(by: gate) }
            let (queue, session) = (OperationQueue(), transport.makeSession())

            let operations = (0..<100).map { _ in queue.addRequest(Call(server.url), session: session, coalescing: true)
            }
            gate.open()
            await queue.drain()

            #expect(operations.allSatisfy { (try? $0.result?.get()) == Data("shared".utf8) })
            #expect(server.requests.count == 1)
            #expect(server.connectionCount == 1)
        }

        @Test(arguments: TransportUnderTest.all)
        func differentOrUnsafeRequestsAreNotShared(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("own") }
            let (queue, session) = (OperationQueue(), transport.makeSession())

            let operations = (0..<10).flatMap { number in
                [
                    queue.addRequest(Call(server.url("/\(number)")), session: session, coalescing: true),
                    queue.addRequest(Call(server.url, method: .post), session: session, coalescing: true),
                ]
            }
            await queue.drain()

            #expect(operations.allSatisfy { (try? $0.result?.get()) == Data("own".utf8) })
            #expect(server.requests.count == 20)
        }

        @Test(arguments: TransportUnderTest.all)
        func transferEndsWhenLastParticipantCancels(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .never }
            let (queue, session) = (OperationQueue(), transport.makeSession())
            let operations = (0..<100).map { _ in queue.addRequest(Call(server.url), session: session, coalescing: true)
            }

            try await server.awaitRequest()
            for operation in operations.dropLast() { operation.cancel() }
            #expect(server.openConnections == 1)
            #expect(operations.last?.result == nil)
            operations.last?.cancel()
            await queue.drain()

            try await server.awaitConnections(open: 0)
            #expect(operations.allSatisfy { $0.result?.failure?.code == .cancelled })
            #expect(server.requests.count == 1)
        }

        @Test(arguments: TransportUnderTest.all)
        func transferFailureFailsAllParticipants(_ transport: TransportUnderTest) async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("broken", status: .badGateway).held(by: gate) }
            let (queue, session) = (OperationQueue(), transport.makeSession())

            let operations = (0..<20).map { _ in queue.addRequest(Call(server.url), session: session, coalescing: true)
            }
            gate.open()
            await queue.drain()

            #expect(operations.allSatisfy { $0.result?.failure?.code == .unacceptableStatus })
            #expect(operations.allSatisfy { $0.result?.failure?.body == Data("broken".utf8) })
            #expect(server.requests.count == 1)
        }
    }
}
