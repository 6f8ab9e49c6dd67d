// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Races of two threads for a request that waits for a refresh.
@Suite(.bounded) struct AuthenticationRaceTests {
    private let census = Census()

    @Test func cancelAgainstTheEndOfTheRefresh() async {
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

    @Test func logoutAgainstTheEndOfTheRefreshAndANewcomer() async {
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

    /// A credential that uses its interceptor when it is deallocated, which must not be under a lock.
    private final class Session: Sendable {
        let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) {
            self.end = end
        }

        deinit { end() }
    }

    private struct SessionAuthenticator: Authenticator {
        func apply(_ session: Session, to request: inout HTTPRequest) {}
        func refresh(_ session: Session?) async throws -> Session { Session {} }
    }

    @Test func credentialMayUseItsInterceptorWhenItIsReplaced() async {
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
