// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Races between the end of a refresh and changes to the requests that wait for it.
@Suite(.bounded) struct AuthenticationRaceTests {
    private let census = Census()

    @Test func cancellationRacesRefreshCompletion() async {
        var completions: [Int: Int] = [:]
        for _ in 0..<Scale.races {
            let desk = RefreshDesk()
            let interceptor = AuthenticationInterceptor(desk.authenticator, origins: sampleOrigins)
            let queue = TestQueue { $0.interceptors = [interceptor] }
            let probe = Probe(adding: TextRequest(life: census.life()), to: queue)
            await desk.calls.first(1)

            async let ended: Void = desk.end(with: .success("new"))
            probe.operation.cancel()
            await ended

            completions[await probe.ended().count, default: 0] += 1
        }
        #expect(completions == [1: Scale.races])
        await census.extinction()
    }

    @Test func logoutRacesRefreshAndNewRequest() async {
        var completions: [Int: Int] = [:]
        for _ in 0..<Scale.races {
            let calls = Recorder<String?>()
            let authenticator = TokenAuthenticator { token in
                calls.record(token)
                return "new"
            }
            let interceptor = AuthenticationInterceptor(
                authenticator,
                credential: "old",
                origins: sampleOrigins,
                window: nil
            )
            let transport = InMemoryTransport { request in
                .status(request.headers[.authorization] == "Bearer new" ? .ok : .unauthorized)
            }
            let queue = TestQueue(transport, width: 2) { $0.interceptors = [interceptor] }
            let first = Probe(adding: TextRequest(life: census.life()), to: queue)
            let second = Probe(TextRequest(life: census.life()), on: queue)
            simultaneously {
                interceptor.setCredential(nil)
            } and: {
                queue.addOperation(second.operation)
            }
            completions[await first.ended().count + second.ended().count, default: 0] += 1
        }
        #expect(completions == [2: Scale.races])
        await census.extinction()
    }

    /// A credential that uses its interceptor in `deinit`, so it must not be released while a lock is held.
    private final class Session: Sendable {
        let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit { end() }
    }

    private struct SessionAuthenticator: Authenticator {
        var renew: @Sendable () async -> Session = { Session {} }

        func apply(_ session: Session, to request: inout HTTPRequest) {}
        func refresh(_ session: Session?) async throws -> Session { await renew() }
    }

    /// A clock that calls a closure whenever its time is read.
    private struct CallingClock: Clock {
        let call: @Sendable () -> Void

        var now: ContinuousClock.Instant {
            call()
            return .now
        }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test func clockCanWaitForRefreshCompletion() async {
        let (calls, gate, gone) = (Locked(0), Gate(), DispatchSemaphore(value: 0))
        let interceptor = Locked<AuthenticationInterceptor<SessionAuthenticator>?>(nil)
        let isGone = Locked(false)
        let clock = CallingClock {
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            // Read when the interceptor is created, when the request begins to wait, and for the refresh timeout.
            guard number == 3 else { return }
            // The thread that ends the refresh discards its result.
            interceptor.withLock { $0 }?.setCredential(Session {})
            gate.open()
            let hasEnded = gone.wait(timeout: .now() + 5) == .success
            isGone.withLock { $0 = hasEnded }
        }
        let authenticator = SessionAuthenticator {
            try? await gate.wait()
            return Session { gone.signal() }
        }
        let made = AuthenticationInterceptor(authenticator, origins: sampleOrigins, clock: clock)
        interceptor.withLock { $0 = made }
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok) }) { $0.interceptors = [made] }

        let end = await Probe(adding: WireRequest(), to: queue).ended()

        #expect(end.first?.error == nil)
        #expect(isGone.withLock { $0 })
        interceptor.withLock { $0 = nil }
    }

    @Test func credentialDeinitCanAccessInterceptor() async {
        let (interceptor, ends) = (AuthenticationInterceptor(SessionAuthenticator()), Recorder<Void>())
        for _ in 0..<2 {
            Thread.detachNewThread {
                for _ in 0..<20_000 { interceptor.setCredential(Session { _ = interceptor.credential }) }
                ends.record(())
            }
        }

        #expect(await ends.first(2).count == 2)
        interceptor.setCredential(nil)
    }
}
