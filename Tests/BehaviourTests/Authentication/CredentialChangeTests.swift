// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// What an application that stores its credential is told.
@Suite(.bounded) struct CredentialChangeTests {
    private typealias Interceptor = AuthenticationInterceptor<TokenAuthenticator>

    /// A credential store that records each change.
    private let changes = Recorder<String?>()

    private func interceptor(
        _ authenticator: TokenAuthenticator,
        credential: String? = "old"
    ) -> Interceptor {
        AuthenticationInterceptor(
            authenticator,
            credential: credential,
            onChange: { [changes] in changes.record($0) },
            origins: sampleOrigins
        )
    }

    private func client(_ interceptor: Interceptor, accepting token: String = "new") -> HTTPClient {
        let transport = InMemoryTransport { request in
            request.headers[.authorization] == "Bearer \(token)" ? .text("ok") : .status(.unauthorized)
        }
        return HTTPClient(transport: transport) { $0.interceptors = [interceptor] }
    }

    private func refused(_ status: HTTPStatus) -> RequestError {
        RequestError(.unacceptableStatus, phase: .validating, response: HTTPResponseHead(status: status))
    }

    @Test func storeGetsARefreshedTokenBeforeItIsSent() async throws {
        let desk = RefreshDesk()
        let interceptor = interceptor(desk.authenticator)
        let transport = InMemoryTransport { [changes] request in
            guard request.headers[.authorization] == "Bearer new" else { return .status(.unauthorized) }
            #expect(changes.elements == ["new"])
            return .text("ok")
        }
        let client = HTTPClient(transport: transport) { $0.interceptors = [interceptor] }

        async let texts = withThrowingTaskGroup(of: String.self) { group in
            for _ in 1...8 { group.addTask { try await client.fetch(WireRequest()) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await desk.end(with: .success("new"))

        #expect(try await texts.count == 8)
        #expect(changes.elements == ["new"])
    }

    @Test func storeGetsLoginAndLogoutInOrder() {
        let interceptor = interceptor(TokenAuthenticator { _ in "unused" })

        interceptor.setCredential("a")
        interceptor.setCredential(nil)
        interceptor.setCredential("b")

        #expect(changes.elements == ["a", nil, "b"])
    }

    @Test func storeNeverGetsATokenThatALogoutHasOvertaken() async throws {
        let desk = RefreshDesk()
        let interceptor = interceptor(desk.authenticator)
        let task = Task { [client = client(interceptor)] in try await client.fetch(WireRequest()) }
        await desk.calls.first(1)

        interceptor.setCredential(nil)
        await desk.end(with: .success("new"))

        await #expect(throws: RequestError.self) { try await task.value }
        #expect(changes.elements == [nil] && interceptor.credential == nil)
    }

    @Test(arguments: [HTTPStatus.badRequest, .unauthorized, .forbidden])
    func storeForgetsATokenWhoseRefreshIsRefused(_ status: HTTPStatus) async throws {
        let calls = Recorder<String?>()
        let error = refused(status)
        let interceptor = interceptor(
            TokenAuthenticator { token in
                calls.record(token)
                throw error
            }
        )
        let client = client(interceptor)

        for _ in 1...2 {
            let failure = await #expect(throws: RequestError.self) { try await client.fetch(WireRequest()) }
            #expect(failure?.code == .authenticationFailed)
        }

        #expect(changes.elements == [nil] && interceptor.credential == nil)
        #expect(calls.elements == ["old", nil])
    }

    @Test(arguments: [
        RequestError(.connectionLost, phase: .sending),
        RequestError(.unacceptableStatus, phase: .validating, response: HTTPResponseHead(status: .serviceUnavailable)),
        RequestError(.unacceptableStatus, phase: .validating, response: HTTPResponseHead(status: .tooManyRequests)),
    ])
    func storeKeepsATokenWhoseRefreshFailsForNow(_ error: RequestError) async throws {
        let interceptor = interceptor(TokenAuthenticator { _ in throw error })

        await #expect(throws: RequestError.self) { try await client(interceptor).fetch(WireRequest()) }

        #expect(changes.elements.isEmpty && interceptor.credential == "old")
    }

    @Test func closureMayChangeTheCredentialAgain() {
        let box = Locked<Interceptor?>(nil)
        let interceptor = AuthenticationInterceptor(
            TokenAuthenticator { _ in "unused" },
            onChange: { [changes] credential in
                changes.record(credential)
                if credential == "a" { box.withLock { $0 }?.setCredential("b") }
                #expect(box.withLock { $0 }?.credential == "b")
            }
        )
        box.withLock { $0 = interceptor }

        interceptor.setCredential("a")

        #expect(changes.elements == ["a", "b"])
    }
}

/// Logins, logouts and refreshes at the same time.
@Suite(.bounded) struct CredentialChangeRaceTests {
    @Test func lastChangeIsTheCredential() async throws {
        for _ in 0..<Scale.races {
            let changes = Recorder<String?>()
            let interceptor = AuthenticationInterceptor(
                TokenAuthenticator { _ in "refreshed" },
                credential: "old",
                onChange: { changes.record($0) },
                origins: sampleOrigins
            )
            let transport = InMemoryTransport { request in
                request.headers[.authorization] == "Bearer old" ? .status(.unauthorized) : .text("ok")
            }
            let client = HTTPClient(transport: transport) { $0.interceptors = [interceptor] }

            await withTaskGroup(of: Void.self) { group in
                for credential in ["a", nil, "b"] as [String?] {
                    group.addTask { interceptor.setCredential(credential) }
                }
                group.addTask { _ = try? await client.fetch(WireRequest()) }
            }

            // The thread of the refresh may report the last change.
            try await eventually { changes.elements.last == interceptor.credential }
        }
    }
}
