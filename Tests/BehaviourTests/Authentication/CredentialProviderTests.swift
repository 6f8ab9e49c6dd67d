// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Calls of the credential provider when several requests are challenged, and the result for each request.
@Suite(.bounded) struct CredentialProviderTests {
    /// The sender of the challenges.
    enum Side: String, CaseIterable, CustomTestStringConvertible {
        case basic, digest, proxy, tunnel

        var testDescription: String { rawValue }
        var scheme: String { self == .digest ? "Digest" : "Basic" }
        var isProxy: Bool { self == .proxy || self == .tunnel }
        var origin: String { self == .proxy ? "http://api.example.com" : "https://api.example.com" }

        func credential(of request: ReceivedRequest) -> String? {
            request.headers[isProxy ? .proxyAuthorization : .authorization]
        }

        func challenge(_ realm: String = "r") -> StubResponse {
            let text = "\(scheme) realm=\"\(realm)\"" + (self == .digest ? ", nonce=\"n\", qop=\"auth\"" : "")
            let status: HTTPStatus = isProxy ? .proxyAuthenticationRequired : .unauthorized
            let headers: HTTPHeaders = [isProxy ? .proxyAuthenticate : .wwwAuthenticate: text]
            guard self == .tunnel else { return .status(status, headers: headers) }
            let head = HTTPResponseHead(status: status, headers: headers)
            return .failure(RequestError(.proxyRefused, phase: .sending, response: head))
        }
    }

    private let asked = Recorder<String>()

    private func client(
        _ side: Side = .basic,
        _ transport: any HTTPTransport,
        provider: @escaping ChallengeInterceptor.Provider
    ) -> HTTPClient {
        let provider: ChallengeInterceptor.Provider = { [asked] challenge, url in
            asked.record(challenge.realm ?? "")
            return await provider(challenge, url)
        }
        return HTTPClient(maxConcurrentRequests: 64, transport: transport) {
            $0.interceptors = [ChallengeInterceptor(proxy: side.isProxy ? provider : nil, provider)]
        }
    }

    private func add(_ count: Int, _ side: Side = .basic, to client: HTTPClient) -> [DataOperation<HTTPRequest>] {
        (1...count).map { number in
            client.addRequest(HTTPRequest(url: URL(string: "\(side.origin)/\(number)") ?? server))
        }
    }

    private func statuses(of operations: [some NetworkOperation<HTTPRequest>]) async -> [Int] {
        var statuses: [Int] = []
        for operation in operations {
            await operation.end()
            let head = operation.transfers.last?.response ?? operation.result?.error?.response
            statuses.append(operation.result?.error == nil ? 200 : head?.status.code ?? 0)
        }
        return statuses
    }

    private static func given(_ user: String, _ password: String = "p") -> URLCredential {
        URLCredential(user: user, password: password, persistence: .none)
    }

    @Test(arguments: Side.allCases) func concurrentChallengesCallProviderOnce(side: Side) async throws {
        let gate = Gate()
        let transport = InMemoryTransport { side.credential(of: $0) == nil ? side.challenge() : .status(.ok) }
        let client = client(side, transport) { _, _ in
            try? await gate.wait()
            return Self.given("u")
        }

        let operations = add(10, side, to: client)
        await asked.first(1)
        try await eventually { transport.requests.count >= 10 }
        gate.open()

        #expect(await statuses(of: operations) == Array(repeating: 200, count: 10))
        #expect(asked.elements == ["r"])
    }

    @Test(arguments: Side.allCases) func nilCredentialsFailAllConcurrentChallenges(side: Side) async throws {
        let gate = Gate()
        let transport = InMemoryTransport { _ in side.challenge() }
        let client = client(side, transport) { _, _ in
            try? await gate.wait()
            return nil
        }

        let operations = add(10, side, to: client)
        await asked.first(1)
        try await eventually { transport.requests.count == 10 }
        gate.open()

        let status = side.isProxy ? 407 : 401
        #expect(await statuses(of: operations) == Array(repeating: status, count: 10))
        #expect(asked.count == 1 && transport.requests.count == 10)
    }

    @Test(arguments: Side.allCases) func wrongPasswordFailsAllConcurrentChallenges(side: Side) async throws {
        let gate = Gate()
        let transport = InMemoryTransport { _ in side.challenge() }
        let client = client(side, transport) { _, _ in
            try? await gate.wait()
            return Self.given("u", "wrong")
        }

        let operations = add(10, side, to: client)
        await asked.first(1)
        try await eventually { transport.requests.count == 10 }
        gate.open()

        #expect(await statuses(of: operations) == Array(repeating: side.isProxy ? 407 : 401, count: 10))
        #expect(asked.count == 1 && transport.requests.count == 20)
        _ = await statuses(of: add(1, side, to: client))
        #expect(asked.count == 2)
    }

    @Test func invalidCredentialFailsAllConcurrentChallenges() async throws {
        let gate = Gate()
        let transport = InMemoryTransport { _ in Side.basic.challenge() }
        let client = client(.basic, transport) { _, _ in
            try? await gate.wait()
            return Self.given("a:b")
        }

        let operations = add(10, to: client)
        await asked.first(1)
        try await eventually { transport.requests.count == 10 }
        gate.open()
        _ = await statuses(of: operations)

        #expect(operations.allSatisfy { $0.result?.error?.code == .invalidRequest })
        #expect(asked.count == 1 && transport.requests.count == 10)
    }

    /// The rejection of the old password arrives after another request has received the new one.
    @Test func lateRejectionKeepsRenewedCredential() async throws {
        let (password, gate) = (Locked("1"), Gate())
        let transport = InMemoryTransport { request in
            let given = request.headers[.authorization].flatMap { Authorization($0).basicCredentials?.password }
            guard given != password.withLock({ $0 }) else { return .status(.ok) }
            let refusal = Side.basic.challenge()
            return request.url.lastPathComponent == "late" ? refusal.held(by: gate) : refusal
        }
        let client = client(.basic, transport) { _, _ in Self.given("u", password.withLock { $0 }) }
        _ = try await client.send(HTTPRequest(url: server.appending(path: "first")))
        password.withLock { $0 = "2" }

        let late = client.addRequest(HTTPRequest(url: server.appending(path: "late")))
        try await eventually { transport.requests.contains { $0.url.lastPathComponent == "late" } }
        _ = try await client.send(HTTPRequest(url: server.appending(path: "fast")))
        let questions = asked.count
        gate.open()
        await late.end()

        #expect(late.result?.error == nil && asked.count == questions)
        let before = transport.requests.count
        _ = try await client.send(HTTPRequest(url: server.appending(path: "next")))
        #expect(transport.requests.count == before + 1)
    }

    @Test func cancellationDoesNotFailOtherChallenges() async throws {
        let gate = Gate()
        let transport = InMemoryTransport {
            Side.basic.credential(of: $0) == nil ? Side.basic.challenge() : .status(.ok)
        }
        let client = client(.basic, transport) { _, _ in (try? await gate.wait()).map { Self.given("u") } }

        let first = add(1, to: client)
        await asked.first(1)
        let others = add(9, to: client)
        // Each operation has seen its challenge before it waits for the provider.
        try await eventually { others.allSatisfy { $0.transfers.count == 1 } && transport.requests.count == 10 }
        for operation in first { operation.cancel() }
        await first[0].end()
        gate.open()

        #expect(await statuses(of: others) == Array(repeating: 200, count: 9))
        #expect(first[0].result?.error?.code == .cancelled && asked.count <= 2)
    }

    @Test func providerIsCancelledWithoutWaitingRequests() async throws {
        let (gate, cancelled) = (Gate(), Recorder<Bool>())
        let transport = InMemoryTransport {
            Side.basic.credential(of: $0) == nil ? Side.basic.challenge() : .status(.ok)
        }
        let asked = asked
        let client = client(.basic, transport) { _, _ in
            guard asked.count == 1 else { return Self.given("u") }
            cancelled.record((try? await gate.wait()) == nil)
            return nil
        }

        let operations = add(5, to: client)
        await asked.first(1)
        for operation in operations { operation.cancel() }
        _ = await statuses(of: operations)

        #expect(await cancelled.first(1) == [true])
        #expect(await statuses(of: add(1, to: client)) == [200])
    }

    @Test func deadlineEndsWaitForHangingProvider() async throws {
        let stuck = Locked<[CheckedContinuation<Void, Never>]>([])
        let transport = InMemoryTransport { _ in Side.basic.challenge() }
        let client = client(.basic, transport) { _, _ in
            await withCheckedContinuation { continuation in stuck.withLock { $0.append(continuation) } }
            return nil
        }
        let request = HTTPRequest(url: server).deadline(.milliseconds(50))

        let operation = client.addRequest(request)
        await operation.end()

        #expect(operation.result?.error?.code == .deadlineExceeded)
        for continuation in stuck.withLock({ $0 }) { continuation.resume() }
    }

    @Test func providerIsCalledOncePerRealm() async throws {
        let transport = InMemoryTransport { request in
            let realm = request.url.path.hasPrefix("/a/") ? "a" : "b"
            let given = request.headers[.authorization].flatMap { Authorization($0).basicCredentials?.username }
            return given == realm ? .status(.ok) : Side.basic.challenge(realm)
        }
        let gate = Gate()
        let client = client(.basic, transport) { challenge, _ in
            try? await gate.wait()
            return Self.given(challenge.realm ?? "")
        }
        func request(_ path: String) -> HTTPRequest {
            HTTPRequest(url: URL(string: "https://api.example.com\(path)") ?? server)
        }

        let operations = (1...10).map { client.addRequest(request("/\($0.isMultiple(of: 2) ? "a" : "b")/\($0)")) }
        await asked.first(2)
        try await eventually { transport.requests.count >= 10 }
        gate.open()

        #expect(await statuses(of: operations) == Array(repeating: 200, count: 10))
        #expect(asked.elements.sorted() == ["a", "b"])
        let before = transport.requests.count
        for path in ["/a/next", "/b/next"] { _ = try await client.send(request(path)) }
        #expect(transport.requests.count == before + 2)
    }

    /// RFC 7617, 2.2: the realm and the origin are the protection space.
    @Test func knownRealmIsReusedAcrossPaths() async throws {
        let transport = InMemoryTransport {
            Side.basic.credential(of: $0) == nil ? Side.basic.challenge() : .status(.ok)
        }
        let client = client(.basic, transport) { _, _ in Self.given("u") }

        for path in ["/a/1", "/b/1", "/b/2"] {
            _ = try await client.send(HTTPRequest(url: URL(string: "https://api.example.com\(path)") ?? server))
        }

        #expect(asked.count == 1)
        #expect(transport.requests.map { Side.basic.credential(of: $0) != nil } == [false, true, false, true, true])
    }

    @Test func providerIsCalledPerUserInSameRealm() async throws {
        let transport = InMemoryTransport { request in
            let given = request.headers[.authorization].flatMap { Authorization($0).basicCredentials?.username }
            return "/\(given ?? "")/1" == request.url.path ? .status(.ok) : Side.basic.challenge()
        }
        let client = client(.basic, transport) { _, url in Self.given(url.pathComponents[1]) }

        for path in ["/a/1", "/b/1"] {
            _ = try await client.send(HTTPRequest(url: URL(string: "https://api.example.com\(path)") ?? server))
        }

        #expect(asked.count == 2)
    }

    /// Without a limit, a server that alternates between two realms would keep the request running forever.
    @Test func alternatingRealmsFailRequest() async throws {
        let count = Locked(0)
        let transport = InMemoryTransport { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return request.url.path == "/end"
                ? Side.basic.challenge(number.isMultiple(of: 2) ? "a" : "b")
                : Side.basic.credential(of: request) == nil
                    ? Side.basic.challenge(request.url.path == "/a/1" ? "a" : "b") : .status(.ok)
        }
        let client = client(.basic, transport) { _, _ in Self.given("u") }
        for path in ["/a/1", "/b/1"] {
            _ = try await client.send(HTTPRequest(url: URL(string: "https://api.example.com\(path)") ?? server))
        }

        let operation = client.addRequest(HTTPRequest(url: URL(string: "https://api.example.com/end") ?? server))
        await operation.end()

        #expect(operation.result?.error?.response?.status == .unauthorized)
        #expect(transport.requests.filter { $0.url.path == "/end" }.count < 6)
    }

    /// Each closure sends a request that needs the credentials of the other closure.
    @Test func mutuallyDependentProvidersComplete() async throws {
        let (both, asked) = (Gate(), Recorder<String>())
        let transport = InMemoryTransport { request in
            let given = request.headers[.authorization].flatMap { Authorization($0).basicCredentials?.username }
            return "/\(given ?? "")" == request.url.path
                ? .status(.ok) : Side.basic.challenge(request.url.lastPathComponent)
        }
        let client = HTTPClient(transport: transport)
        func interceptor(_ path: String, _ other: String) -> any Interceptor {
            ChallengeInterceptor { [weak client] _, _ in
                asked.record(path)
                try? await both.wait()
                _ = try? await client?.send(HTTPRequest(url: URL(string: "https://api.example.com/\(other)") ?? server))
                return Self.given(path)
            }
            .scoped { $0.url.path == "/\(path)" }
        }
        client.environment.interceptors = [interceptor("a", "b"), interceptor("b", "a")]

        let operations = ["a", "b"].map { path in
            client.addRequest(HTTPRequest(url: URL(string: "https://api.example.com/\(path)") ?? server))
        }
        await asked.first(2)
        both.open()

        #expect(await statuses(of: operations) == [200, 200])
    }

    // MARK: Digest

    /// A server whose nonces are valid for one request.
    private static func singleUse() -> InMemoryTransport {
        let state = Locked((next: 0, valid: Set<String>()))
        return InMemoryTransport { request in
            let sent = request.headers[.authorization]?.components(separatedBy: " nonce=\"").last?
                .prefix { $0 != "\"" }
            if let sent, state.withLock({ $0.valid.remove(String(sent)) }) != nil { return .status(.ok) }
            let nonce = state.withLock { state in
                state.next += 1
                state.valid.insert("\(state.next)")
                return state.next
            }
            let isStale = sent == nil ? "" : ", stale=true"
            let text = "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\"\(isStale)"
            return .status(.unauthorized, headers: [.wwwAuthenticate: text])
        }
    }

    @Test func singleUseNoncesServeConcurrentRequests() async throws {
        for _ in 0..<Scale.pick(5, whole: 100) {
            let client = client(.digest, Self.singleUse()) { _, _ in Self.given("u") }

            #expect(await statuses(of: add(30, .digest, to: client)) == Array(repeating: 200, count: 30))
            #expect(await statuses(of: add(30, .digest, to: client)) == Array(repeating: 200, count: 30))
        }
        #expect(asked.count == Scale.pick(5, whole: 100))
    }
}

/// Races of requests while the server changes the password.
@Suite(.bounded) struct CredentialProviderRaceTests {
    private static func client(_ asked: Locked<Int>, _ password: Locked<String>) -> HTTPClient {
        let transport = InMemoryTransport { request in
            let given = request.headers[.authorization].flatMap { Authorization($0).basicCredentials?.password }
            return given == password.withLock { $0 }
                ? .status(.ok) : .status(.unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"r\""])
        }
        return HTTPClient(transport: transport) {
            $0.interceptors = [
                ChallengeInterceptor { _, _ in
                    asked.withLock { $0 += 1 }
                    return URLCredential(user: "u", password: password.withLock { $0 }, persistence: .none)
                }
            ]
        }
    }

    @Test func passwordChangeCallsProviderOnce() async throws {
        var questions: [Int: Int] = [:]
        for _ in 0..<Scale.races {
            let (asked, password) = (Locked(0), Locked("1"))
            let client = Self.client(asked, password)
            _ = try await client.send(HTTPRequest(url: server))
            password.withLock { $0 = "2" }

            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...8 {
                    group.addTask { _ = try await client.send(HTTPRequest(url: server.appending(path: "\(number)"))) }
                }
                try await group.waitForAll()
            }
            questions[asked.withLock { $0 }, default: 0] += 1
        }
        #expect(questions == [2: Scale.races])
    }

    @Test func cancellationRacesProviderResult() async throws {
        for _ in 0..<Scale.races {
            let (asked, password) = (Locked(0), Locked("1"))
            let client = Self.client(asked, password)
            let operations = (1...4).map { client.addRequest(HTTPRequest(url: server.appending(path: "\($0)"))) }
            simultaneously {
                operations[0].cancel()
            } and: {
                operations[1].cancel()
            }
            for operation in operations { await operation.end() }
            #expect(operations.dropFirst(2).allSatisfy { $0.result?.error == nil })
        }
    }
}
