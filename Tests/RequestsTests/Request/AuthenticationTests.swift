// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting
import Testing

@testable import Requests

@Suite(.timeLimit(.minutes(5))) struct AuthenticationTests {
    /// A server that wants to see one token.
    private func server(accepting token: String, _ sent: Recorder<String?> = Recorder()) -> InMemoryTransport {
        InMemoryTransport(recordsRequests: false) { request in
            sent.record(request.headers[.authorization])
            return request.headers[.authorization] == "Bearer \(token)"
                ? .status(.ok, body: Data("in".utf8)) : .status(.unauthorized)
        }
    }

    private func results(_ count: Int, on queue: TestQueue) async -> [Result<String, RequestError>] {
        let probes = (0..<count).map { Probe(adding: TextRequest(identifier: "\($0)"), to: queue) }
        var results: [Result<String, RequestError>] = []
        for probe in probes { results += await probe.ended() }
        return results
    }

    // MARK: Many at once

    @Test(arguments: [true, false]) func aThousandRejectionsAtOnceCauseOneRefresh(allAreSentBefore: Bool) async {
        let (sent, refreshes) = (Recorder<String?>(), Recorder<String?>())
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            if allAreSentBefore { await sent.first(1000) }
            return "new"
        }
        let queue = TestQueue(server(accepting: "new", sent), width: 1000) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }

        let results = await results(1000, on: queue)

        #expect(results.count == 1000 && results.allSatisfy { $0.value == "in" })
        #expect(refreshes.elements == ["old"])
        if allAreSentBefore { #expect(sent.count == 2000) }
    }

    @Test func aFailedRefreshFailsAllWhoWereSentBeforeItOnce() async {
        let (sent, refreshes) = (Recorder<String?>(), Recorder<String?>())
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            await sent.first(1000)
            throw SampleError(name: "session is over")
        }
        let queue = TestQueue(server(accepting: "new", sent), width: 1000) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }

        let errors = await results(1000, on: queue).compactMap(\.error)

        #expect(errors.count == 1000 && errors.allSatisfy { $0.code == .authenticationFailed })
        #expect(errors.allSatisfy { $0.underlying as? SampleError == SampleError(name: "session is over") })
        #expect(errors.allSatisfy { $0.response?.status == .unauthorized && $0.attempts.count == 1 })
        #expect(refreshes.count == 1 && sent.count == 1000)
    }

    @Test func whoComesAfterAFailedRefreshTriesAnew() async {
        let refreshes = Recorder<String?>()
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            if refreshes.count == 1 { throw SampleError() }
            return "new"
        }
        let queue = TestQueue(server(accepting: "new")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }

        #expect(await results(1, on: queue).first?.error?.code == .authenticationFailed)
        #expect(await results(1, on: queue).first?.value == "in")
    }

    @Test func aHundredRequestsWithoutACredentialLogInOnce() async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let queue = TestQueue(server(accepting: "first", sent), width: 100) {
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator)]
        }

        async let results = results(100, on: queue)
        await desk.end(with: .success("first"))

        #expect(await results.allSatisfy { $0.value == "in" })
        #expect(desk.calls.elements == [nil])
        #expect(sent.elements == Array(repeating: "Bearer first", count: 100))
    }

    // MARK: One by one

    @Test func aStaleCredentialIsRefreshedBeforeItIsSent() async {
        let sent = Recorder<String?>()
        let authenticator = TokenAuthenticator(isStale: { $0 == "old" }, renew: { _ in "new" })
        let interceptor = AuthenticationInterceptor(authenticator, credential: "old")
        let queue = TestQueue(server(accepting: "new", sent)) { $0.interceptors = [interceptor] }

        let results = await results(1, on: queue)

        #expect(results.first?.value == "in")
        #expect(sent.elements == ["Bearer new"])
        #expect(interceptor.credential == "new")
    }

    @Test func aCredentialThatIsBornStaleIsSentAllTheSame() async {
        let authenticator = TokenAuthenticator(isStale: { _ in true }, renew: { _ in "new" })
        let queue = TestQueue(server(accepting: "new")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }

        #expect(await results(1, on: queue).first?.value == "in")
    }

    @Test func aRejectionOfAnOldCredentialThatComesLateOnlySendsAgain() async {
        let refreshes = Recorder<String?>()
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "new"
        }
        let transport = StepTransport()
        let queue = TestQueue(transport, width: 2) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }
        let probes = [Probe(adding: TextRequest(), to: queue), Probe(adding: TextRequest(), to: queue)]
        let transfers = await transport.transfers.first(2)

        for (number, transfer) in transfers.enumerated() {
            transfer.receive(.head(HTTPResponseHead(status: .unauthorized)))
            transfer.receive(.end(nil))
            await transport.transfers.first(3 + number)
        }
        for transfer in transport.transfers.elements.suffix(2) {
            #expect(transfer.request.headers[.authorization] == "Bearer new")
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            transfer.receive(.end(nil))
        }

        for probe in probes { #expect(await probe.ended().first?.value == "") }
        #expect(refreshes.elements == ["old"])
    }

    @Test func aFreshCredentialThatIsRejectedTooFailsWithTheRejection() async {
        let refreshes = Recorder<String?>()
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "new"
        }
        let queue = TestQueue(server(accepting: "another")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }

        let error = await results(1, on: queue).first?.error

        #expect(error?.code == .unacceptableStatus && error?.response?.status == .unauthorized)
        #expect(error?.attempts.count == 2 && refreshes.count == 1)
    }

    @Test func aLoginWhoseCredentialIsRejectedIsNotRepeated() async {
        let refreshes = Recorder<String?>()
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "wrong"
        }
        let queue = TestQueue(server(accepting: "right")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator)]
        }

        #expect(await results(1, on: queue).first?.error?.code == .unacceptableStatus)
        #expect(refreshes.elements == [nil])
    }

    @Test func tooManyRefreshesAreAnErrorUntilTheWindowHasPassed() async {
        let (clock, refreshes) = (TestClock(), Recorder<String?>())
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "wrong"
        }
        let interceptor = AuthenticationInterceptor(
            authenticator,
            credential: "old",
            window: RefreshWindow(limit: 2, duration: .seconds(30)),
            clock: clock
        )
        let queue = TestQueue(server(accepting: "right")) { $0.interceptors = [interceptor] }

        var codes: [RequestError.Code?] = []
        for _ in 0..<3 { codes.append(await results(1, on: queue).first?.error?.code) }
        clock.advance(by: .seconds(30))
        codes.append(await results(1, on: queue).first?.error?.code)

        #expect(codes == [.unacceptableStatus, .unacceptableStatus, .excessiveRefresh, .unacceptableStatus])
        #expect(refreshes.count == 3)
    }

    @Test func aBodyThatCannotBeSentAgainHasTheCredentialRefreshedForTheNext() async throws {
        let desk = RefreshDesk()
        let queue = TestQueue(server(accepting: "new")) {
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, credential: "old")]
        }
        let stream = BodyStream(InputStream(data: Data("once".utf8)))
        let request = WireRequest(http: HTTPRequest(url: home, method: .put, body: .stream(stream)))

        let probe = Probe(adding: request, to: queue)
        await desk.end(with: .success("new"))
        let error = await probe.ended().first?.error

        #expect(error?.code == .bodyNotReplayable && error?.response?.status == .unauthorized)
        #expect((error?.underlying as? RequestError)?.code == .unacceptableStatus)
        let next = await Probe(adding: WireRequest(), to: queue).ended().first
        #expect(next?.value != nil && desk.calls.count == 1)
    }

    // MARK: While a refresh is under way

    @Test func aRefreshIsHandedWhatItSendsWith() async throws {
        struct Login: Authenticator {
            func apply(_ token: String, to request: inout HTTPRequest) {
                request.headers.set(.authorization(.bearer(token)))
            }
            func refresh(_ token: String?, using client: RefreshClient) async throws -> String {
                // Elsewhere than in the task of the refresh, too.
                let request = HTTPRequest(method: .post, "token", body: .text(token ?? ""))
                let value = try await Task.detached { try await client.fetch([String].self, from: request) }.value
                return try #require(value.first)
            }
        }
        let transport = InMemoryTransport { request in
            switch (request.url.path, request.headers[.authorization]) {
            case ("/v1/token", nil): .json("[\"new\"]")
            case ("/v1/token", _): .status(.badRequest)
            case (_, "Bearer new"): .status(.ok, body: Data("in".utf8))
            default: .status(.unauthorized)
            }
        }
        // Every place is taken by a request that waits for the refresh.
        let queue = TestQueue(transport, width: 1) {
            $0.baseURL = URL(string: "https://example.com/v1")
            $0.interceptors = [AuthenticationInterceptor(Login(), credential: "old")]
        }

        let probes = (0..<5).map { _ in Probe(adding: WireRequest(http: HTTPRequest("recipes")), to: queue) }
        var values: [String?] = []
        for probe in probes { values.append(await probe.ended().first?.value) }

        #expect(values == Array(repeating: "in", count: 5))
        let logins = transport.requests.filter { $0.url.path == "/v1/token" }
        #expect(logins.count == 1 && logins.first?.method == .post)
        #expect(try logins.first?.body.data() == Data("old".utf8))
    }

    @Test func whatRefusesTheRequestOfARefreshIsItsFailure() async {
        struct Login: Authenticator {
            func apply(_ token: String, to request: inout HTTPRequest) {}
            func refresh(_ token: String?, using client: RefreshClient) async throws -> String {
                try await client.send(HTTPRequest("https://example.com/token")).text()
            }
        }
        let queue = TestQueue(InMemoryTransport { _ in .status(.forbidden) }) {
            $0.interceptors = [AuthenticationInterceptor(Login())]
        }

        let error = await Probe(adding: WireRequest(), to: queue).ended().first?.error

        #expect(error?.code == .authenticationFailed)
        #expect((error?.underlying as? RequestError)?.response?.status == .forbidden)
    }

    @Test func anAuthenticatorThatCannotRefreshSaysSo() async {
        struct Sealed: Authenticator {
            func apply(_ token: String, to request: inout HTTPRequest) {}
        }
        let queue = TestQueue { $0.interceptors = [AuthenticationInterceptor(Sealed())] }

        let error = await Probe(adding: WireRequest(), to: queue).ended().first?.error

        #expect((error?.underlying as? RequestError)?.code == .unsupported)
    }

    @Test func aRefreshMaySendThroughTheQueueThatWaitsForIt() async {
        let waiting = Locked<TestQueue?>(nil)
        let authenticator = TokenAuthenticator { _ in
            let queue = try #require(waiting.withLock { $0 })
            return try await queue.fetch(WireRequest(http: HTTPRequest("https://example.com/token")))
        }
        let transport = InMemoryTransport { request in
            switch (request.url.path, request.headers[.authorization]) {
            case ("/token", nil), (_, "Bearer new"): .status(.ok, body: Data("new".utf8))
            default: .status(.unauthorized)
            }
        }
        let queue = TestQueue(transport, width: 8) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }
        waiting.withLock { $0 = queue }

        let results = await results(4, on: queue)

        #expect(results.allSatisfy { $0.value == "new" })
        #expect(transport.requests.count { $0.url.path == "/token" } == 1)
        waiting.withLock { $0 = nil }
    }

    @Test func aRejectionInsideOfTheRefreshIsItsFailure() async {
        let waiting = Locked<TestQueue?>(nil)
        let authenticator = TokenAuthenticator { _ in
            let queue = try #require(waiting.withLock { $0 })
            return try await queue.fetch(WireRequest(http: HTTPRequest("https://example.com/token")))
        }
        let queue = TestQueue(InMemoryTransport { _ in .status(.unauthorized) }, width: 8) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }
        waiting.withLock { $0 = queue }

        let error = await results(1, on: queue).first?.error

        #expect(error?.code == .authenticationFailed && error?.request?.url == home)
        #expect((error?.underlying as? RequestError)?.request?.url.path == "/token")
        waiting.withLock { $0 = nil }
    }

    // Sharing the transfer of a request that waits for the refresh, the refresh would wait for itself.
    @Test func aRefreshSharesNoTransferWithWhoWaitsForIt() async {
        let waiting = Locked<TestQueue?>(nil)
        let authenticator = TokenAuthenticator { _ in
            let queue = try #require(waiting.withLock { $0 })
            return try await queue.addRequest(TextRequest(), coalescing: true).value()
        }
        let queue = TestQueue(width: 8) { $0.interceptors = [AuthenticationInterceptor(authenticator)] }
        waiting.withLock { $0 = queue }

        let probe = Probe(adding: TextRequest(), to: queue, coalescing: true)

        #expect(await probe.ended().first?.value == "hello")
        waiting.withLock { $0 = nil }
    }

    // The refresh of each sends a request that wants the credential of the other.
    @Test func twoRefreshesThatWantEachOtherEnd() async {
        struct Named: Authenticator {
            let name: HTTPField.Name
            let renew: @Sendable () async throws -> Void
            func apply(_ key: String, to request: inout HTTPRequest) { request.headers.set(key, for: name) }
            func refresh(_ key: String?) async throws -> String {
                try await renew()
                return "new"
            }
        }
        let (queues, begun) = (Locked<[TestQueue]>([]), Recorder<Void>())
        let renew: @Sendable (Int) async throws -> Void = { other in
            begun.record(())
            await begun.first(2)
            _ = try await queues.withLock { $0[other] }.fetch(TextRequest())
        }
        let interceptors = [
            AuthenticationInterceptor(Named(name: "X-A", renew: { try await renew(1) })),
            AuthenticationInterceptor(Named(name: "X-B", renew: { try await renew(0) })),
        ]
        let both = interceptors.map { interceptor in TestQueue(width: 4) { $0.interceptors = [interceptor] } }
        queues.withLock { $0 = both }
        let probes = both.map { Probe(adding: TextRequest(), to: $0) }

        var codes: [RequestError.Code?] = []
        for probe in probes { codes += await probe.ended().map { $0.error?.code } }

        #expect(codes.contains(.authenticationFailed))
        queues.withLock { $0 = [] }
    }

    @Test func aCancelledWaiterEndsAtOnceAndTheRefreshGoesOn() async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let queue = TestQueue(server(accepting: "new", sent), width: 2) {
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, credential: "old")]
        }
        let probes = [Probe(adding: TextRequest(), to: queue), Probe(adding: TextRequest(), to: queue)]
        await sent.first(2)
        await desk.calls.first(1)

        probes[0].operation.cancel()
        #expect(await probes[0].ended().first?.error?.code == .cancelled)
        await desk.end(with: .success("new"))

        #expect(await probes[1].ended().first?.value == "in")
        #expect(desk.calls.count == 1)
    }

    @Test func aLogoutFailsWhoWaitsAndForgetsWhatIsRefreshed() async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let interceptor = AuthenticationInterceptor(desk.authenticator, credential: "old")
        let queue = TestQueue(server(accepting: "new", sent), width: 2) { $0.interceptors = [interceptor] }
        let rejected = Probe(adding: TextRequest(), to: queue)
        await desk.calls.first(1)

        interceptor.setCredential(nil)
        await desk.end(with: .success("new"))

        let error = await rejected.ended().first?.error
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .unauthorized)
        #expect(interceptor.credential == nil && sent.count == 1)
    }

    @Test func aLogoutFailsWhoWaitsToBeSent() async {
        let desk = RefreshDesk()
        let interceptor = AuthenticationInterceptor(desk.authenticator)
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) { $0.interceptors = [interceptor] }
        let probe = Probe(adding: TextRequest(), to: queue)
        await desk.calls.first(1)

        interceptor.setCredential(nil)

        #expect(await probe.ended().first?.error?.code == .authenticationFailed)
        #expect(transport.requests.isEmpty)
        await desk.end(with: .success("late"))
        #expect(interceptor.credential == nil)
    }

    @Test func aCredentialThatIsSetDuringARefreshIsRefreshedAfterIt() async {
        let desk = RefreshDesk()
        let sent = Recorder<String?>()
        let authentication = AuthenticationInterceptor(desk.authenticator, credential: "old")
        let queue = TestQueue(server(accepting: "new", sent)) { $0.interceptors = [authentication] }
        let first = Probe(adding: TextRequest(identifier: "1"), to: queue)
        await desk.calls.first(1)

        authentication.setCredential("set")
        let second = Probe(adding: TextRequest(identifier: "2"), to: queue)
        await sent.first(3)
        let callsDuringTheFirst = desk.calls.elements
        await desk.end(1, with: .success("late"))
        await desk.calls.first(2)
        await desk.end(2, with: .success("new"))

        #expect(callsDuringTheFirst == ["old"] && desk.calls.elements == ["old", "set"])
        #expect(await second.ended().first?.value == "in")
        #expect(await first.ended().count == 1)
    }

    @Test func aLoginMeanwhileLetsAllGoOn() async {
        let desk = RefreshDesk()
        let interceptor = AuthenticationInterceptor(desk.authenticator, credential: "old")
        let queue = TestQueue(server(accepting: "login")) { $0.interceptors = [interceptor] }
        let probe = Probe(adding: TextRequest(), to: queue)
        await desk.calls.first(1)

        interceptor.setCredential("login")

        #expect(await probe.ended().first?.value == "in")
        await desk.end(with: .failure(SampleError()))
        #expect(await results(1, on: queue).first?.value == "in")
    }

    // MARK: Whose the credential is

    static let addresses = [
        ("https://api.example.com/other", true), ("https://API.example.com:443/", true), ("users/1", true),
        ("https://www.example.com/", false), ("http://api.example.com/", false),
        ("https://api.example.com.evil.com/", false), ("https://api.example.com@evil.com/", false),
    ]

    @Test(arguments: addresses) func onlyTheOriginOfTheBaseURLGetsTheCredential(address: String, does: Bool) async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let queue = TestQueue(server(accepting: "old", sent)) {
            $0.baseURL = URL(string: "https://api.example.com/v1")
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, credential: "old")]
        }

        let result = await Probe(adding: WireRequest(http: HTTPRequest(address)), to: queue).ended().first

        #expect(sent.elements.map { $0 == "Bearer old" } == [does])
        #expect(result?.error?.code == (does ? nil : .unacceptableStatus))
        #expect(desk.calls.count == 0)
    }

    @Test func aRequestThatIsExcludedIsNotAuthenticated() async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let interceptor = AuthenticationInterceptor(desk.authenticator, credential: "old") {
            $0.url.path != "/login"
        }
        let queue = TestQueue(server(accepting: "old", sent)) { $0.interceptors = [interceptor] }

        for path in ["login", "recipes"] {
            _ = await Probe(adding: WireRequest(http: HTTPRequest("https://a.com/\(path)")), to: queue).ended()
        }

        #expect(sent.elements == [nil, "Bearer old"])
    }

    @Test(arguments: [("https://evil.com/", 0), ("https://example.com/moved", 1)])
    func aRejectionAtAnotherOriginIsNotOneOfTheCredential(location: String, refreshes: Int) async {
        struct KeyAuthenticator: Authenticator {
            let calls: Recorder<String>
            func apply(_ key: String, to request: inout HTTPRequest) { request.headers["X-Key"] = key }
            func refresh(_ key: String?) async throws -> String {
                calls.record(key ?? "none")
                return "new"
            }
        }
        let calls = Recorder<String>()
        let transport = InMemoryTransport { request in
            request.url == home
                ? .status(.found, headers: [.location: location])
                : .status(request.headers["X-Key"] == "new" ? .ok : .unauthorized)
        }
        let queue = TestQueue(transport) {
            $0.interceptors = [AuthenticationInterceptor(KeyAuthenticator(calls: calls), credential: "old")]
        }

        let error = await results(1, on: queue).first?.error

        #expect(error?.code == (refreshes == 0 ? .unacceptableStatus : nil))
        #expect(calls.count == refreshes)
        #expect(transport.requests.filter { $0.url.host == "evil.com" }.allSatisfy { !$0.headers.contains("X-Key") })
        #expect(!transport.requests.isEmpty && !"\(transport.requests.map(\.headers))".contains("old"))
    }

    @Test func whatCannotBeAppliedFailsTheRequest() async {
        struct Broken: Authenticator {
            func apply(_ key: String, to request: inout HTTPRequest) throws { throw SampleError() }
            func refresh(_ key: String?) async throws -> String { "new" }
        }
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) { $0.interceptors = [AuthenticationInterceptor(Broken())] }

        let error = await results(1, on: queue).first?.error

        #expect(error?.underlying as? SampleError == SampleError() && transport.requests.isEmpty)
    }
}

/// What two threads do to a request that waits for a refresh.
@Suite(.timeLimit(.minutes(5)), .tags(.race)) struct AuthenticationRaceTests {
    private let census = Census()

    @Test func cancelAgainstTheEndOfTheRefresh() async {
        var completions: [Int: Int] = [:]
        for _ in 0..<Scale.races {
            let desk = RefreshDesk()
            let interceptor = AuthenticationInterceptor(desk.authenticator)
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
            let interceptor = AuthenticationInterceptor(authenticator, credential: "old", window: nil)
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
}
