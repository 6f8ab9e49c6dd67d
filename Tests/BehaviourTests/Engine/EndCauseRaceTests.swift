// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The cause of an operation's end reaches every waiting caller, and not the cancellations that follow from that end.
@Suite(.bounded) struct EndCauseRaceTests {
    // MARK: Streams

    /// A request that reads its stream to the end, and reports how that ended.
    private struct Reading: StreamRequest {
        typealias Success = Int
        typealias Failure = RequestError

        let codes: Recorder<RequestError.Code?>
        var options = RequestOptions()
        var first: @Sendable () async -> Void = {}

        var identifier: String { "reading" }

        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }
        func process(_ stream: ResponseStream) async throws -> Int {
            do {
                var count = 0
                for try await piece in stream {
                    count += piece.count
                    await first()
                }
                codes.record(nil)
                return count
            } catch {
                codes.record((error as? RequestError)?.code)
                throw error
            }
        }
    }

    private let endless = InMemoryTransport { _ in .status(.ok, body: Data("content".utf8)).stalled(after: 7) }

    @Test func waitingReaderReceivesDeadlineError() async {
        var random = Fuzz()
        for _ in 0..<Scale.races {
            let codes = Recorder<RequestError.Code?>()
            var request = Reading(codes: codes)
            request.options.deadline = .microseconds(.random(in: 200...2000, using: &random))
            let probe = Probe(adding: request, to: TestQueue(endless))

            #expect(await probe.ended().map(\.error?.code) == [.deadlineExceeded], "seed \(Fuzz.seed)")
            // With a deadline before the response, nothing is read.
            if probe.operation.response != nil, let code = await codes.first(1).first {
                #expect(code == .deadlineExceeded)
            }
        }
    }

    @Test func lateReaderReceivesDeadlineError() async throws {
        let (codes, clock, gate) = (Recorder<RequestError.Code?>(), ManualClock(), Gate())
        let hasBegun = Gate()
        var request = Reading(codes: codes) {
            hasBegun.open()
            // `gate.wait()` would end with the task. The reader is busy, and continues only when it is done.
            _ = await Task.detached { try await gate.wait() }.result
        }
        request.options.deadline = .seconds(5)
        let queue = TestQueue(endless) { $0.clock = clock }
        let probe = Probe(adding: request, to: queue)
        try await hasBegun.wait()

        clock.advance(by: .seconds(5))
        #expect(await probe.ended().map(\.error?.code) == [.deadlineExceeded])
        gate.open()

        #expect(await codes.first(1) == [.deadlineExceeded])
    }

    @Test func readingCancelledStreamThrowsCancelled() async throws {
        let codes = Recorder<RequestError.Code?>()
        let hasBegun = Gate()
        let probe = Probe(adding: Reading(codes: codes) { hasBegun.open() }, to: TestQueue(endless))
        try await hasBegun.wait()

        probe.operation.cancel()

        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
        #expect(await codes.first(1) == [.cancelled])
    }

    @Test func streamLoopThrowsDeadlineError() async throws {
        for _ in 0..<Scale.races {
            let queue = TestQueue(endless) { $0.deadline = .milliseconds(2) }
            let error = await #expect(throws: RequestError.self) {
                let stream = try await queue.stream(HTTPRequest(url: home))
                for try await _ in stream {}
            }
            #expect(error?.code == .deadlineExceeded)
        }
    }

    // MARK: Refreshes

    private func interceptor(
        _ authenticator: TokenAuthenticator,
        window: RefreshClient.Window? = nil,
        timeout: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> AuthenticationInterceptor<TokenAuthenticator> {
        AuthenticationInterceptor(authenticator, origins: sampleOrigins, window: window, timeout: timeout, clock: clock)
    }

    @Test func slowRefreshFailsWithTimeout() async {
        let authenticator = TokenAuthenticator { _ in
            try? await Gate().wait()
            throw CancellationError()
        }
        var random = Fuzz()
        for _ in 0..<Scale.races {
            let interceptor = interceptor(authenticator, timeout: .microseconds(.random(in: 1...1000, using: &random)))
            let probe = Probe(adding: TextRequest(), to: TestQueue { $0.interceptors = [interceptor] })

            #expect(await probe.ended().map(\.error?.code) == [.refreshTimedOut], "seed \(Fuzz.seed)")
        }
    }

    @Test func excessiveRefreshIncludesPreviousFailure() async {
        let authenticator = TokenAuthenticator { _ in throw SampleError(name: "wrong password") }
        let interceptor = interceptor(authenticator, window: RefreshClient.Window(limit: 2, duration: .seconds(30)))
        let queue = TestQueue { $0.interceptors = [interceptor] }

        var errors: [RequestError?] = []
        for _ in 0..<3 { errors.append(await Probe(adding: TextRequest(), to: queue).ended().first?.error) }

        #expect(errors.map(\.?.code) == [.authenticationFailed, .authenticationFailed, .excessiveRefresh])
        let causes = errors.map { ($0?.underlying as? SampleError)?.name }
        #expect(causes == Array(repeating: "wrong password", count: 3))
    }
}
