// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Races between several threads for one request.
@Suite(.bounded) struct CallRaceTests {
    @Test func buildCompletionOnOtherThreadIsNotLost() async {
        var request = TextRequest()
        request.make = { completion in
            DispatchQueue.global().async { completion(.success(URLRequest(url: home))) }
        }
        let queue = TestQueue()
        for _ in 0..<Scale.races {
            let result = await Probe(adding: request, to: queue).ended().first
            #expect(result?.value == "hello")
        }
    }

    @Test func cancellationRacesFetch() async {
        let queue = TestQueue()
        for _ in 0..<Scale.races {
            let task = Task { try await queue.fetch(TextRequest()) }
            await Task.yield()
            task.cancel()
            let result = await task.result
            #expect(result.value == "hello" || (result.error as? RequestError)?.code == .cancelled)
        }
        for operation in queue.operations { await operation.end() }
    }

    @Test func cancellationRacesStart() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok, body: Data("hello".utf8)) }) {
            $0.interceptors = [.adapting { _ in await Task.yield() }]
        }
        for _ in 0..<Scale.races {
            let probe = Probe(TextRequest(), on: queue)
            simultaneously {
                queue.addOperation(probe.operation)
            } and: {
                probe.operation.cancel()
            }
            let results = await probe.ended()
            #expect(results.count == 1)
        }
    }

    @Test func cancellationRacesHostLimiterGrant() async {
        let limiter = HostLimiter(limit: 1)
        let queue = TestQueue { $0.hostLimiter = limiter }
        for _ in 0..<Scale.races {
            let probes = (0..<3).map { _ in Probe(adding: TextRequest(), to: queue) }
            probes[1].operation.cancel()
            for probe in probes { #expect(await probe.ended().count == 1) }
        }
        #expect(await Probe(adding: TextRequest(), to: queue).ended().first?.value == "hello")
    }

    // MARK: Cancellation

    @Test func contentAfterCancellationIsNotCached() async throws {
        let steps = ManualTransport()
        let queue = TestQueue(steps) { $0.cache = ResponseCache() }
        let operation = queue.addRequest(TextRequest())
        let transfer = try await steps.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok, headers: [.cacheControl: "max-age=60"])))
        transfer.receive(.data(Data("hel".utf8)))
        operation.cancel()
        transfer.receive(.data(Data("lo".utf8)))
        transfer.receive(.end(nil))
        await operation.end()

        let next = queue.addRequest(TextRequest())
        let second = try await steps.awaitTransfer(count: 2)
        second.receive(.head(HTTPResponseHead(status: .ok)))
        second.receive(.data(Data("hello".utf8)))
        second.receive(.end(nil))
        await next.end()

        #expect(next.result?.value == "hello")
    }

    @Test func cancelStopsTransferInUnstructuredTask() async throws {
        struct Leaving: Interceptor {
            func intercept(
                _ request: HTTPRequest,
                context: InterceptorChain.Context,
                next: InterceptorChain
            ) async throws -> HTTPResponse<ResponseContent> {
                try await Task { try await next(request) }.value
            }
        }
        let steps = ManualTransport()
        let operation = TestQueue(steps) { $0.interceptors = [Leaving()] }.addRequest(TextRequest())
        let transfer = try await steps.awaitTransfer()

        operation.cancel()

        try await transfer.awaitCancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))
        await operation.end()
        #expect(operation.result?.error?.code == .cancelled)
    }
}
