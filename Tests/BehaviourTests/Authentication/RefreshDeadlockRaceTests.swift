// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Wait cycles that must be detected: a deadlock would exceed the time limit.
@Suite(.bounded, .serialized) struct RefreshDeadlockRaceTests {
    /// A weak reference to a client, used by that client's own refresh.
    private final class Door: Sendable {
        private struct Weak {
            weak var client: HTTPClient?
        }

        private let client = Locked(Weak())
        let refreshes = Recorder<String?>()

        func open(to client: HTTPClient) {
            self.client.withLock { $0.client = client }
        }

        func fetch(_ path: String) async throws -> String {
            guard let client = client.withLock({ $0.client }) else { throw SampleError(name: "gone") }
            return try await client.fetch(Self.request(path))
        }

        static func request(_ path: String) -> TextRequest {
            let url = URL(string: path, relativeTo: home)?.absoluteURL ?? home
            return TextRequest(identifier: path, make: { $0(.success(URLRequest(url: url))) })
        }

        func authenticator(_ path: String = "/token") -> TokenAuthenticator {
            TokenAuthenticator { [self] token in
                refreshes.record(token)
                return try await fetch(path)
            }
        }
    }

    /// Returns the token `new` at `/token`, and requires it for all other paths.
    private static func transport(_ sent: Recorder<String> = Recorder()) -> InMemoryTransport {
        InMemoryTransport(recordsRequests: false) { request in
            sent.record(request.url.path)
            let isIn = request.url.path == "/token" || request.headers[.authorization] == "Bearer new"
            return isIn ? .status(.ok, body: Data("new".utf8)) : .status(.unauthorized)
        }
    }

    private func client(
        _ door: Door,
        width: Int = 1,
        transport: InMemoryTransport = transport(),
        credential: String? = "old"
    ) -> HTTPClient {
        let interceptor = AuthenticationInterceptor(
            door.authenticator(),
            credential: credential,
            origins: sampleOrigins
        )
        let client = HTTPClient(maxConcurrentRequests: width, transport: transport) {
            $0.interceptors = [interceptor]
        }
        door.open(to: client)
        return client
    }

    static let clients: [(Int, String?)] = Scale.pick(
        [(1, nil), (1, "old"), (2, nil), (16, "old"), (1000, nil)],
        whole: [
            (1, nil), (1, "old"), (2, nil), (2, "old"), (16, nil), (16, "old"), (1000, nil), (1000, "old"),
        ]
    )

    @Test(arguments: clients)
    func refreshRunsOnceThroughOwnClient(width: Int, credential: String?) async throws {
        let (door, sent) = (Door(), Recorder<String>())
        let client = client(door, width: width, transport: Self.transport(sent), credential: credential)

        let count = Scale.pick(100, whole: 1000)
        let operations = (0..<count).map { client.addRequest(Door.request("/\($0)")) }

        for operation in operations { #expect(try await operation.value() == "new") }
        #expect(door.refreshes.elements == [credential])
        #expect(sent.elements.count { $0 == "/token" } == 1)
        for operation in operations { await operation.end() }
    }

    @Test func derivedClientsShareOneRefresh() async throws {
        let door = Door()
        let client = client(door)
        let derived = (0..<4).map { number in client.inheriting { $0.headers["X-Role"] = "\(number)" } }
        let plain = client.inheriting { $0.interceptors = [] }
        door.open(to: plain)

        let operations = (0..<Scale.pick(100, whole: 400)).map { derived[$0 % 4].addRequest(Door.request("/\($0)")) }

        for operation in operations { #expect(try await operation.value() == "new") }
        #expect(door.refreshes.count == 1)
    }

    @Test func refreshDuringRecoveryCompletes() async throws {
        let (door, isKnown) = (Door(), Locked(false))
        let recoveries = Recorder<Void>()
        let transport = InMemoryTransport(recordsRequests: false) { request in
            if request.url.path == "/token" { return .status(.ok, body: Data("new".utf8)) }
            guard request.headers[.authorization] == "Bearer new" else { return .status(.unauthorized) }
            if request.url.path == "/login" { isKnown.withLock { $0 = true } }
            return isKnown.withLock { $0 } ? .status(.ok, body: Data("in".utf8)) : .status(.forbidden)
        }
        let authentication = AuthenticationInterceptor(door.authenticator(), credential: "old", origins: sampleOrigins)
        let recovery = RecoveryInterceptor.recover(on: [.forbidden]) { _ in
            recoveries.record(())
            // The login finds only a stale credential.
            authentication.setCredential("stale")
            _ = try await door.fetch("/login")
        }
        let client = HTTPClient(maxConcurrentRequests: 1, transport: transport) {
            $0.interceptors = [authentication, recovery]
        }
        door.open(to: client)

        let operations = (0..<100).map { client.addRequest(Door.request("/\($0)")) }

        for operation in operations { #expect(try await operation.value() == "in") }
        #expect(recoveries.count == 1 && door.refreshes.elements == ["old", "stale"])
    }

    @Test func recoveryDuringRefreshCompletes() async throws {
        let (door, isKnown) = (Door(), Locked(false))
        let transport = InMemoryTransport(recordsRequests: false) { request in
            switch request.url.path {
            case "/login":
                isKnown.withLock { $0 = true }
                return .status(.ok)
            case "/token":
                return isKnown.withLock { $0 } ? .status(.ok, body: Data("new".utf8)) : .status(.forbidden)
            default:
                let isIn = request.headers[.authorization] == "Bearer new"
                return isIn ? .status(.ok, body: Data("in".utf8)) : .status(.unauthorized)
            }
        }
        let recovery = RecoveryInterceptor.recover(on: [.forbidden]) { _ in _ = try await door.fetch("/login") }
        let client = HTTPClient(maxConcurrentRequests: 1, transport: transport) {
            $0.interceptors = [
                AuthenticationInterceptor(door.authenticator(), credential: "old", origins: sampleOrigins), recovery,
            ]
        }
        door.open(to: client)

        let operations = (0..<100).map { client.addRequest(Door.request("/\($0)")) }

        for operation in operations { #expect(try await operation.value() == "in") }
        #expect(door.refreshes.elements == ["old"])
    }

    @Test func completionsCanAddRequests() async throws {
        let (door, ends) = (Door(), Recorder<Int>())
        let client = client(door)
        let count = Scale.pick(100, whole: 1000)
        @Sendable func add(_ number: Int) {
            client.addRequest(Door.request("/\(number)")) { result in
                if number + 1 < count { add(number + 1) }
                ends.record(result.value == "new" ? number : -1)
            }
        }

        add(0)

        #expect(Set(await ends.first(count)) == Set(0..<count))
    }

    @Test(arguments: [true, false])
    func completionCanWaitForAnotherRequest(isRefreshed: Bool) async throws {
        let (door, ends) = (Door(), Recorder<String?>())
        let client = client(door, credential: isRefreshed ? "old" : "new")

        for number in 0..<20 {
            let queue = DispatchQueue(label: "completions \(number)")
            client.addRequest(Door.request("/\(number)"), completionQueue: queue) { _ in
                let other = client.addRequest(Door.request("/other/\(number)"))
                other.waitUntilFinished()
                ends.record(other.result?.value)
            }
        }

        #expect(await ends.first(20) == Array(repeating: "new", count: 20))
    }

    @Test func completionCanWaitForItsOwnRequest() async throws {
        let (door, ends) = (Door(), Recorder<Bool>())
        let (client, own) = (client(door), Locked<Operation?>(nil))
        let operation = client.makeOperation(for: Door.request("/a")) { _ in
            own.withLock { $0 }?.waitUntilFinished()
            ends.record(own.withLock { $0?.isFinished } == true)
        }
        own.withLock { $0 = operation }

        client.addOperation(operation)

        #expect(await ends.first(1) == [true])
        own.withLock { $0 = nil }
    }

    @Test func requestsOutliveClientReleasedDuringRefresh() async throws {
        let (desk, door) = (RefreshDesk(), Door())
        weak var weakClient: HTTPClient?
        let operations = {
            let interceptor = AuthenticationInterceptor(desk.authenticator, credential: "old", origins: sampleOrigins)
            let client = HTTPClient(maxConcurrentRequests: 1, transport: Self.transport()) {
                $0.interceptors = [interceptor]
            }
            door.open(to: client)
            weakClient = client
            return (0..<50).map { client.addRequest(Door.request("/\($0)")) }
        }()
        await desk.calls.first(1)
        #expect(weakClient == nil)

        await desk.end(with: .success("new"))

        for operation in operations { #expect(try await operation.value() == "new") }
        #expect(desk.calls.count == 1)
    }

    @Test func deallocatedClientFailsRefreshWaiters() async throws {
        let door = Door()
        let operations = {
            let client = client(door, width: 8)
            client.isSuspended = true
            let operations = (0..<50).map { client.addRequest(Door.request("/\($0)")) }
            client.isSuspended = false
            return operations
        }()

        // The client is deallocated before or during the refresh; in both cases, every request ends. Requests after a
        // failure start another refresh, until there are too many.
        for operation in operations { await operation.end() }
        let codes = Set(operations.compactMap { $0.result?.error?.code })
        #expect(codes.isSubset(of: [.authenticationFailed, .excessiveRefresh]), "\(codes)")
    }

    @Test func cancelAllDuringRefreshEndsAllRequests() async throws {
        let (door, begun) = (Door(), Recorder<Void>())
        let transport = InMemoryTransport(recordsRequests: false) { request in
            guard request.url.path == "/token" else { return .status(.unauthorized) }
            begun.record(())
            return .never
        }
        let client = client(door, width: 4, transport: transport)
        let operations = (0..<100).map { client.addRequest(Door.request("/\($0)")) }
        await begun.first(1)

        client.cancelAllRequests()

        for operation in operations {
            await operation.end()
            #expect(operation.result?.error != nil)
        }
        for operation in client.operations { await operation.end() }
    }

    @Test(arguments: [false, true]) func refreshCompletesOnSerialOperationQueue(isAdded: Bool) async throws {
        let transport = Self.transport()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let authenticator = TokenAuthenticator { [queue] _ in
            let token = Door.request("/token")
            return isAdded
                ? try await queue.addRequest(token, session: transport).value()
                : try await queue.fetch(token, session: transport)
        }
        var options = RequestOptions()
        options.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]

        let operations = (0..<20).map { number in
            queue.addRequest(TextRequest(identifier: "\(number)", options: options), session: transport)
        }

        for operation in operations { #expect(try await operation.value() == "new") }
    }
}
