// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct RecoveryInterceptorTests {
    /// Returns a server that requires a login first.
    private func server(_ isLoggedIn: Locked<Bool>, _ sent: Recorder<Void>) -> InMemoryTransport {
        InMemoryTransport(recordsRequests: false) { _ in
            sent.record(())
            return isLoggedIn.withLock { $0 } ? .status(.ok, body: Data("in".utf8)) : .status(.forbidden)
        }
    }

    private func results(_ count: Int, on queue: TestQueue) async -> [Result<String, RequestError>] {
        let probes = (0..<count).map { _ in Probe(adding: TextRequest(), to: queue) }
        var results: [Result<String, RequestError>] = []
        for probe in probes { results += await probe.ended() }
        return results
    }

    @Test(arguments: [true, false]) func concurrentFailuresRecoverOnce(allAreSentBefore: Bool) async {
        let (isLoggedIn, sent, runs) = (Locked(false), Recorder<Void>(), Recorder<HTTPStatus?>())
        let queue = TestQueue(server(isLoggedIn, sent), width: 100) {
            $0.interceptors = [
                .recover { error in
                    runs.record(error.response?.status)
                    if allAreSentBefore { await sent.first(100) }
                    isLoggedIn.withLock { $0 = true }
                }
            ]
        }

        #expect(await results(100, on: queue).allSatisfy { $0.value == "in" })
        #expect(runs.elements == [.forbidden])
    }

    @Test func ineffectiveRecoveryIsNotRepeated() async {
        let (sent, runs) = (Recorder<Void>(), Recorder<Void>())
        let queue = TestQueue(server(Locked(false), sent)) {
            $0.interceptors = [.recover(on: [.forbidden]) { _ in runs.record(()) }]
        }

        let error = await results(1, on: queue).first?.error

        #expect(error?.code == .unacceptableStatus && error?.response?.status == .forbidden)
        #expect(runs.count == 1 && sent.count == 2)
    }

    @Test func failedRecoveryFailsAllWaiters() async {
        let (sent, runs) = (Recorder<Void>(), Recorder<Void>())
        let queue = TestQueue(server(Locked(false), sent), width: 100) {
            $0.interceptors = [
                .recover { _ in
                    runs.record(())
                    await sent.first(100)
                    throw SampleError()
                }
            ]
        }

        let results = await results(100, on: queue)

        #expect(results.allSatisfy { $0.error?.underlying as? SampleError == SampleError() })
        #expect(runs.count == 1 && sent.count == 100)
    }

    @Test func unlistedStatusDoesNotTriggerRecovery() async {
        let (sent, runs) = (Recorder<Void>(), Recorder<Void>())
        let queue = TestQueue(server(Locked(false), sent)) {
            $0.interceptors = [.recover(on: [.unauthorized]) { _ in runs.record(()) }]
        }

        #expect(await results(1, on: queue).first?.error?.response?.status == .forbidden)
        #expect(runs.count == 0 && sent.count == 1)
    }

    @Test func predicateSelectsRecoverableErrors() async {
        let runs = Recorder<Void>()
        let transport = InMemoryTransport { _ in
            runs.count == 0
                ? .failure(RequestError(.offline, phase: .sending)) : .status(.ok, body: Data("in".utf8))
        }
        let queue = TestQueue(transport) {
            $0.interceptors = [RecoveryInterceptor(where: { $0.code == .offline }) { _, _ in runs.record(()) }]
        }

        #expect(await results(1, on: queue).first?.value == "in")
    }

    @Test func recoveryCanSendThroughWaitingQueue() async {
        let waiting = Locked<TestQueue?>(nil)
        let isLoggedIn = Locked(false)
        let transport = InMemoryTransport { request in
            if request.url.path == "/login" { isLoggedIn.withLock { $0 = true } }
            return isLoggedIn.withLock { $0 } ? .status(.ok, body: Data("in".utf8)) : .status(.unauthorized)
        }
        let queue = TestQueue(transport, width: 4) {
            $0.interceptors = [
                .recover { _ in
                    let queue = try #require(waiting.withLock { $0 })
                    _ = try await queue.fetch(WireRequest(http: HTTPRequest("https://example.com/login")))
                }
            ]
        }
        waiting.withLock { $0 = queue }

        #expect(await results(1, on: queue).first?.value == "in")
        waiting.withLock { $0 = nil }
    }
}
