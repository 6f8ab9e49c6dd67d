// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct InterceptorTests {
    private func adding(_ value: String) -> ClosureInterceptor {
        ClosureInterceptor(adapt: { request, context in
            request.headers.add("\(value) \(context.identifier) \(context.attempt)", for: "X-Trace")
        })
    }

    @Test func interceptorsAdaptInOrderOncePerAttempt() async {
        let transport = InMemoryTransport { _ in .status(503) }
        let retry = ClosureInterceptor(retry: { _, context in context.attempt < 2 ? .retry : .fail })
        let queue = TestQueue(transport) { $0.interceptors = [adding("a"), adding("b"), retry] }

        let error = await Probe(TextRequest(), on: queue).run(on: queue).ended().first?.error

        #expect(
            transport.requests.map { $0.headers[values: "X-Trace"] } == [
                ["a text 1", "b text 1"], ["a text 2", "b text 2"],
            ]
        )
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.transfers.map(\.cause) == [.initial, .retry])
        #expect(error?.transfers.map(\.response?.status) == [503, 503])
    }

    @Test func adaptErrorPreventsSending() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) {
            $0.interceptors = [ClosureInterceptor(adapt: { _, _ in throw SampleError() }), adding("late")]
        }

        let error = await Probe(TextRequest(), on: queue).run(on: queue).ended().first?.error

        #expect(error?.underlying as? SampleError == SampleError())
        #expect(error?.phase == .building && transport.requests.isEmpty)
    }

    @Test(
        arguments: [
            ([.pass, .retry, .fail], 2), ([.pass, .fail, .retry], 1), ([.fail, .retry], 1), ([.retry, .fail], 2),
            ([.pass], 1),
        ] as [([RetryPolicy.Decision], Int)]
    ) func firstRetryDecisionWins(decisions: [RetryPolicy.Decision], transfers: Int) async {
        let transport = InMemoryTransport { _ in .failure(RequestError(.connectionLost, phase: .sending)) }
        let queue = TestQueue(transport) {
            $0.interceptors = decisions.map { decision in
                ClosureInterceptor(retry: { _, context in context.attempt == 1 ? decision : .fail })
            }
        }

        let error = await Probe(TextRequest(), on: queue).run(on: queue).ended().first?.error

        #expect(error?.code == .connectionLost)
        #expect(transport.requests.count == transfers)
    }

    @Test func retryDecisionCanReplaceError() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(401) }) {
            $0.interceptors = [ClosureInterceptor(retry: { _, _ in .fail(with: SampleError()) })]
        }

        let error = await Probe(TextRequest(), on: queue).run(on: queue).ended().first?.error

        #expect(error?.underlying as? SampleError == SampleError())
        #expect(error?.response?.status == 401 && error?.transfers.count == 1)
    }

    @Test func sensitiveHeaderSetByInterceptorStaysSecret() async {
        let transport = InMemoryTransport { request in
            request.url == home ? .status(.found, headers: [.location: "https://evil.com/"]) : .status(.ok)
        }
        let queue = TestQueue(transport) {
            $0.sensitiveHeaders = ["X-Tenant"]
            $0.interceptors = [ClosureInterceptor(adapt: { request, _ in request.headers["X-Tenant"] = "t" })]
        }

        _ = await Probe(TextRequest(), on: queue).run(on: queue).ended()

        #expect(transport.requests.map { $0.headers.contains("X-Tenant") } == [true, false])
    }

    @Test func retryDelayUsesEnvironmentsClock() async {
        let clock = TestClock()
        let answers = Recorder<Void>()
        let transport = InMemoryTransport { _ in
            answers.record(())
            return answers.count == 1 ? .status(503) : .status(.ok, body: Data("at last".utf8))
        }
        let queue = TestQueue(transport) {
            $0.clock = clock
            $0.interceptors = [ClosureInterceptor(retry: { _, _ in .retry(after: .milliseconds(250)) })]
        }
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        #expect(await clock.sleeps.first(1) == [.milliseconds(250)])
        #expect(probe.operation.isExecuting && transport.requests.count == 1)

        clock.advance(by: .milliseconds(250))

        #expect(await probe.ended().map(\.value) == ["at last"])
        #expect(probe.operation.transfers.map(\.cause) == [.initial, .retry])
    }

    @Test(arguments: [(RetryPolicy.Decision.retry, true), (.pass, true), (.fail, false)])
    func retryDecisionDoesNotResendOneShotBody(decision: RetryPolicy.Decision, isTheCause: Bool) async {
        let transport = InMemoryTransport { _ in .status(503) }
        let queue = TestQueue(transport) {
            $0.interceptors = [ClosureInterceptor(retry: { _, _ in decision })]
            $0.retry = .default
        }
        let stream = HTTPBody.Stream(InputStream(data: Data("once".utf8)))
        let request = WireRequest(http: HTTPRequest(url: home, method: .put, body: .stream(stream)))

        let error = await Probe(request, on: queue).run(on: queue).ended().first?.error

        #expect(error?.code == .unacceptableStatus && transport.requests.count == 1)
        #expect(error?.response?.status == 503)
        #expect((error?.underlying as? RequestError)?.code == (isTheCause ? .bodyNotReplayable : nil))
    }

    @Test func processingErrorDoesNotCallRetry() async {
        let asked = Recorder<Void>()
        let queue = TestQueue {
            $0.interceptors = [
                ClosureInterceptor(retry: { _, _ in
                    asked.record(())
                    return .retry
                })
            ]
        }

        _ = await Probe(TextRequest(process: { _ in throw SampleError() }), on: queue).run(on: queue).ended()

        #expect(asked.count == 0)
    }

    @Test func redirectsAreFollowedAndRecorded() async {
        let transport = InMemoryTransport { request in
            request.url.path == "/end"
                ? .status(.ok, body: Data("end".utf8))
                : .status(.found, headers: [.location: request.url.path == "/mid" ? "/end" : "/mid"])
        }
        let queue = TestQueue(transport)
        let probe = Probe(TextRequest(), on: queue).run(on: queue)

        #expect(await probe.ended().map(\.value) == ["end"])
        #expect(probe.operation.transfers.map(\.cause) == [.initial, .redirect, .redirect])
        #expect(probe.operation.response?.url?.path == "/end" && probe.operation.urlRequest?.url?.path == "/end")
    }

    @Test(arguments: [
        (RedirectPolicy.follow(limit: 3), RequestError.Code.tooManyRedirects, 4), (.refuse, .unacceptableStatus, 1),
    ])
    func redirectPolicyEndsRedirectLoop(policy: RedirectPolicy, code: RequestError.Code, transfers: Int) async {
        let transport = InMemoryTransport { _ in .status(.found, headers: [.location: "/again"]) }
        let queue = TestQueue(transport) { $0.redirect = policy }

        let error = await Probe(TextRequest(), on: queue).run(on: queue).ended().first?.error

        #expect(error?.code == code && error?.response?.status == .found)
        #expect(transport.requests.count == transfers && error?.transfers.count == transfers)
    }
}
