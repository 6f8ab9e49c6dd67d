// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The credential changes that are reported to an application, which stores them.
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
            origins: sampleOrigins,
            onChange: { [changes] in changes.record($0) }
        )
    }

    private func client(_ interceptor: Interceptor, accepting token: String = "new") -> HTTPClient {
        let transport = InMemoryTransport { request in
            request.headers[.authorization] == "Bearer \(token)" ? .text("ok") : .status(.unauthorized)
        }
        return HTTPClient(transport: transport) { $0.interceptors = [interceptor] }
    }

    private static func refused(_ status: HTTPStatus, _ content: String = "") -> RequestError {
        let head = HTTPResponseHead(status: status)
        return RequestError(.unacceptableStatus, phase: .validating, response: head, body: Data(content.utf8))
    }

    @Test func storeReceivesRefreshedTokenBeforeSending() async throws {
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

    @Test func storeReceivesChangesInOrder() {
        let interceptor = interceptor(TokenAuthenticator { _ in "unused" })

        interceptor.setCredential("a")
        interceptor.setCredential(nil)
        interceptor.setCredential("b")

        #expect(changes.elements == ["a", nil, "b"])
    }

    @Test func tokenRefreshedAfterLogoutIsNotStored() async throws {
        let desk = RefreshDesk()
        let interceptor = interceptor(desk.authenticator)
        let task = Task { [client = client(interceptor)] in try await client.fetch(WireRequest()) }
        await desk.calls.first(1)

        interceptor.setCredential(nil)
        await desk.end(with: .success("new"))

        await #expect(throws: RequestError.self) { try await task.value }
        #expect(changes.elements == [nil] && interceptor.credential == nil)
    }

    @Test(arguments: [
        refused(.unauthorized), refused(.unauthorized, "expired"), refused(.badRequest, #"{"error": "invalid_grant"}"#),
        refused(.unauthorized, #"{"error": "invalid_grant", "error_description": "expired"}"#),
    ])
    func rejectedRefreshClearsCredential(_ error: RequestError) async throws {
        let calls = Recorder<String?>()
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
        RequestError(.connectionLost, phase: .sending), refused(.serviceUnavailable), refused(.tooManyRequests),
        refused(.forbidden, "<html>"), refused(.badRequest), refused(.badRequest, #"{"error": "invalid_scope"}"#),
        refused(.unauthorized, #"{"error": "invalid_client"}"#),
    ])
    func transientRefreshFailureKeepsCredential(_ error: RequestError) async throws {
        let interceptor = interceptor(TokenAuthenticator { _ in throw error })

        await #expect(throws: RequestError.self) { try await client(interceptor).fetch(WireRequest()) }

        #expect(changes.elements.isEmpty && interceptor.credential == "old")
    }

    @Test func previousUsersRequestIsNotSentAsNextUser() async throws {
        let sent = Recorder<String>()
        let (late, isSent) = (Gate(), Gate())
        let transport = InMemoryTransport { request in
            sent.record("\(request.url.lastPathComponent) \(request.headers[.authorization] ?? "")")
            guard request.url.lastPathComponent == "late" else { return .status(.unauthorized) }
            isSent.open()
            return .status(.unauthorized).held(by: late)
        }
        let interceptor = interceptor(TokenAuthenticator { _ in throw Self.refused(.unauthorized) }, credential: "a")
        let client = HTTPClient(baseURL: home, transport: transport) { $0.interceptors = [interceptor] }
        let task = Task { try await client.fetch(Post<Data>("late")) }
        try await isSent.wait()
        await #expect(throws: RequestError.self) { try await client.fetch(Get<Data>("early")) }
        #expect(interceptor.credential == nil)

        interceptor.setCredential("b")
        late.open()

        await #expect(throws: RequestError.self) { try await task.value }
        #expect(sent.elements == ["late Bearer a", "early Bearer a"])
    }

    @Test func onChangeCanSetCredentialAgain() {
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

/// Concurrent logins, logouts and refreshes.
@Suite(.bounded) struct CredentialChangeRaceTests {
    @Test func lastReportedChangeMatchesCredential() async throws {
        for _ in 0..<Scale.races {
            let changes = Recorder<String?>()
            let interceptor = AuthenticationInterceptor(
                TokenAuthenticator { _ in "refreshed" },
                credential: "old",
                origins: sampleOrigins,
                onChange: { changes.record($0) }
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
