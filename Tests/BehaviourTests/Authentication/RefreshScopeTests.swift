// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The privileges of the requests that a refresh sends, and how long these last.
@Suite(.bounded) struct RefreshScopeTests {
    /// Requires the new token for every path except the login.
    fileprivate static let transport = InMemoryTransport { request in
        switch (request.url.lastPathComponent, request.headers[.authorization]) {
        case ("code", nil), ("token", nil): .status(.ok, body: Data("new".utf8))
        case ("code", _), ("token", _): .status(.badRequest)
        case (_, "Bearer new"): .status(.ok, body: Data("in".utf8))
        default: .status(.unauthorized)
        }
    }

    private func client(
        width: Int = 1,
        clock: any Clock<Duration> = ContinuousClock(),
        refresh: @escaping @Sendable (HTTPClient) async throws -> String
    ) -> HTTPClient {
        let client = HTTPClient(baseURL: server, maxConcurrentRequests: width, transport: Self.transport)
        let authenticator = TokenAuthenticator { [unowned client] _ in try await refresh(client) }
        client.environment.interceptors = [
            AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins, clock: clock)
        ]
        return client
    }

    private func text(_ client: HTTPClient, _ path: String) async throws -> String {
        String(decoding: try await client.addRequest(HTTPRequest("\(raw: path)")).value(), as: UTF8.self)
    }

    @Test func taskOutlivingRefreshLosesItsPrivileges() async throws {
        let (gate, later) = (Gate(), Recorder<Task<String, any Error>>())
        let client = client { client in
            later.record(
                Task { [unowned client] in
                    try await gate.wait()
                    return String(decoding: try await client.fetch(HTTPRequest("recipes")), as: UTF8.self)
                }
            )
            return "new"
        }

        #expect(try await text(client, "recipes") == "in")
        client.isSuspended = true
        gate.open()
        // With the privilege it would bypass the queue, without a credential.
        try await eventually { !client.operations.isEmpty }
        client.isSuspended = false

        #expect(try await later.elements.first?.value == "in")
    }

    @Test func twoStepRefreshCanUseCompletionHandlers() async throws {
        let client = client { client in
            try await withCheckedThrowingContinuation { continuation in
                client.addRequest(HTTPRequest("code")) { _ in
                    client.addRequest(HTTPRequest("token")) { result in
                        continuation.resume(with: result.map { String(decoding: $0, as: UTF8.self) })
                    }
                }
            }
        }

        let probes = (0..<4).map { _ in Probe(adding: WireRequest(http: HTTPRequest("recipes")), to: client) }

        for probe in probes { #expect(await probe.ended().map(\.value) == ["in"]) }
    }

    @Test func hangingRefreshTimesOutForAllWaiters() async throws {
        let (clock, begun, waiting) = (ManualClock(), Recorder<Void>(), Recorder<Void>())
        let client = client(width: 4, clock: clock) { _ in
            begun.record(())
            if begun.count > 1 { return "new" }
            // Cancelling it has no effect.
            return await withUnsafeContinuation { _ in }
        }

        client.environment.monitors = [
            .events { event, _ in if case .authenticationStarted = event { waiting.record(()) } }
        ]

        let probes = (0..<3).map { _ in Probe(adding: WireRequest(http: HTTPRequest("recipes")), to: client) }
        await waiting.first(3)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(30))

        for probe in probes {
            let error = await probe.ended().first?.error
            #expect(error?.code == .refreshTimedOut && "\(error as Any)".contains("30"))
        }
        #expect(try await text(client, "recipes") == "in")
    }

    @Test func refreshSurvivesFirstRequestCancellation() async throws {
        let (gate, begun) = (Gate(), Recorder<Void>())
        let client = client(width: 2) { client in
            begun.record(())
            try await gate.wait()
            return String(decoding: try await client.fetch(HTTPRequest("token")), as: UTF8.self)
        }
        let first = client.addRequest(HTTPRequest("recipes"))
        await begun.first(1)
        let second = client.addRequest(HTTPRequest("recipes"))

        first.cancel()
        gate.open()

        #expect(String(decoding: try await second.value(), as: UTF8.self) == "in")
        #expect(begun.count == 1)
    }
}

@Suite(.bounded) struct RefreshScopeRaceTests {
    @Test func logoutRacesRefreshCompletion() async {
        for _ in 0..<Scale.races {
            let (begun, gate) = (Recorder<Void>(), Gate())
            let authenticator = TokenAuthenticator { _ in
                begun.record(())
                // A request after the logout needs another login.
                guard begun.count == 1 else { throw SampleError() }
                try await gate.wait()
                return "new"
            }
            let interceptor = AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)
            let queue = TestQueue(RefreshScopeTests.transport) {
                $0.baseURL = server
                $0.interceptors = [interceptor]
            }
            let probes = (0..<2).map { _ in Probe(adding: WireRequest(http: HTTPRequest("recipes")), to: queue) }
            await begun.first(1)

            simultaneously {
                gate.open()
            } and: {
                interceptor.setCredential(nil)
            }

            for probe in probes {
                let end = await probe.ended()
                #expect(end.count == 1 && (end[0].value == "in" || end[0].error?.code != .cancelled))
            }
            #expect(interceptor.credential == nil)
        }
    }
}
