// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct AuthenticationTests {
    /// A server that accepts one token, and begins to reject others after a number of requests.
    func server(
        accepting token: String,
        _ sent: Recorder<String?> = Recorder(),
        rejectingAfter count: Int = 0
    ) -> InMemoryTransport {
        let gate = Gate()
        return InMemoryTransport(recordsRequests: false) { request in
            sent.record(request.headers[.authorization])
            if sent.count >= count { gate.open() }
            return request.headers[.authorization] == "Bearer \(token)"
                ? .status(.ok, body: Data("in".utf8)) : .status(.unauthorized).held(by: gate)
        }
    }

    func results(_ count: Int, on queue: TestQueue) async -> [Result<String, RequestError>] {
        let probes = (0..<count).map { Probe(adding: TextRequest(identifier: "\($0)"), to: queue) }
        var results: [Result<String, RequestError>] = []
        for probe in probes { results += await probe.ended() }
        return results
    }

    // MARK: Many at once

    @Test(arguments: [true, false]) func concurrentRejectionsShareOneRefresh(allAreSentBefore: Bool) async {
        let count = Scale.pick(200, whole: 1000)
        let (sent, refreshes) = (Recorder<String?>(), Recorder<String?>())
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "new"
        }
        let server = server(accepting: "new", sent, rejectingAfter: allAreSentBefore ? count : 0)
        let queue = TestQueue(server, width: count) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }

        let results = await results(count, on: queue)

        #expect(results.count == count && results.allSatisfy { $0.value == "in" })
        #expect(refreshes.elements == ["old"])
        if allAreSentBefore { #expect(sent.count == 2 * count) }
    }

    @Test func failedRefreshFailsAllWaitingRequests() async {
        let count = Scale.pick(200, whole: 1000)
        let (sent, refreshes) = (Recorder<String?>(), Recorder<String?>())
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            throw SampleError(name: "session is over")
        }
        let queue = TestQueue(server(accepting: "new", sent, rejectingAfter: count), width: count) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }

        let errors = await results(count, on: queue).compactMap(\.error)

        #expect(errors.count == count && errors.allSatisfy { $0.code == .authenticationFailed })
        #expect(errors.allSatisfy { $0.underlying as? SampleError == SampleError(name: "session is over") })
        #expect(errors.allSatisfy { $0.response?.status == .unauthorized && $0.transfers.count == 1 })
        #expect(refreshes.count == 1 && sent.count == count)
    }

    @Test func requestAfterFailedRefreshRefreshesAgain() async {
        let refreshes = Recorder<String?>()
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            if refreshes.count == 1 { throw SampleError() }
            return "new"
        }
        let queue = TestQueue(server(accepting: "new")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }

        #expect(await results(1, on: queue).first?.error?.code == .authenticationFailed)
        #expect(await results(1, on: queue).first?.value == "in")
    }

    @Test func concurrentRequestsLogInOnce() async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let queue = TestQueue(server(accepting: "first", sent), width: 100) {
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, origins: sampleOrigins)]
        }

        async let results = results(100, on: queue)
        await desk.end(with: .success("first"))

        #expect(await results.allSatisfy { $0.value == "in" })
        #expect(desk.calls.elements == [nil])
        #expect(sent.elements == Array(repeating: "Bearer first", count: 100))
    }

    // MARK: One by one

    @Test func staleCredentialIsRefreshedBeforeSending() async {
        let sent = Recorder<String?>()
        let authenticator = TokenAuthenticator(isStale: { $0 == "old" }, renew: { _ in "new" })
        let interceptor = AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)
        let queue = TestQueue(server(accepting: "new", sent)) { $0.interceptors = [interceptor] }

        let results = await results(1, on: queue)

        #expect(results.first?.value == "in")
        #expect(sent.elements == ["Bearer new"])
        #expect(interceptor.credential == "new")
    }

    @Test func staleRefreshedCredentialIsSent() async {
        let authenticator = TokenAuthenticator(isStale: { _ in true }, renew: { _ in "new" })
        let queue = TestQueue(server(accepting: "new")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }

        #expect(await results(1, on: queue).first?.value == "in")
    }

    @Test func lateRejectionOfOldCredentialOnlyResends() async throws {
        let refreshes = Recorder<String?>()
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "new"
        }
        let transport = ManualTransport()
        let queue = TestQueue(transport, width: 2) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }
        let probes = [Probe(adding: TextRequest(), to: queue), Probe(adding: TextRequest(), to: queue)]
        try await transport.awaitTransfer(count: 2)
        let transfers = transport.transfers

        for (number, transfer) in transfers.enumerated() {
            transfer.receive(.head(HTTPResponseHead(status: .unauthorized)))
            transfer.receive(.end(nil))
            try await transport.awaitTransfer(count: 3 + number)
        }
        for transfer in transport.transfers.suffix(2) {
            #expect(transfer.request.headers[.authorization] == "Bearer new")
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            transfer.receive(.end(nil))
        }

        for probe in probes { #expect(await probe.ended().first?.value == "") }
        #expect(refreshes.elements == ["old"])
    }

    @Test func rejectionOfRefreshedCredentialFails() async {
        let refreshes = Recorder<String?>()
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "new"
        }
        let queue = TestQueue(server(accepting: "another")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old", origins: sampleOrigins)]
        }

        let error = await results(1, on: queue).first?.error

        #expect(error?.code == .unacceptableStatus && error?.response?.status == .unauthorized)
        #expect(error?.transfers.count == 2 && refreshes.count == 1)
    }

    @Test func loginIsNotRepeatedAfterRejection() async {
        let refreshes = Recorder<String?>()
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "wrong"
        }
        let queue = TestQueue(server(accepting: "right")) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, origins: sampleOrigins)]
        }

        #expect(await results(1, on: queue).first?.error?.code == .unacceptableStatus)
        #expect(refreshes.elements == [nil])
    }

    @Test func refreshLimitResetsAfterWindow() async {
        let (clock, refreshes) = (TestClock(), Recorder<String?>())
        let authenticator = TokenAuthenticator { token in
            refreshes.record(token)
            return "wrong"
        }
        let interceptor = AuthenticationInterceptor(
            authenticator,
            credential: "old",
            origins: sampleOrigins,
            window: RefreshClient.Window(limit: 2, duration: .seconds(30)),
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

    @Test func nonreplayableBodyRefreshesForNextRequest() async throws {
        let desk = RefreshDesk()
        let queue = TestQueue(server(accepting: "new")) {
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, credential: "old", origins: sampleOrigins)]
        }
        let stream = HTTPBody.Stream(InputStream(data: Data("once".utf8)))
        let request = WireRequest(http: HTTPRequest(url: home, method: .put, body: .stream(stream)))

        let probe = Probe(adding: request, to: queue)
        await desk.end(with: .success("new"))
        let error = await probe.ended().first?.error

        #expect(error?.code == .unacceptableStatus && error?.response?.status == .unauthorized)
        #expect((error?.underlying as? RequestError)?.code == .bodyNotReplayable)
        let next = await Probe(adding: WireRequest(), to: queue).ended().first
        #expect(next?.value != nil && desk.calls.count == 1)
    }

    // MARK: The origin of the credential

    static let addresses = [
        ("https://api.example.com/other", true), ("https://API.example.com:443/", true), ("users/1", true),
        ("https://www.example.com/", false), ("http://api.example.com/", false),
        ("https://api.example.com.evil.com/", false), ("https://api.example.com@evil.com/", false),
    ]

    @Test(arguments: addresses) func credentialIsSentOnlyToBaseURLOrigin(address: String, does: Bool) async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let queue = TestQueue(server(accepting: "old", sent)) {
            $0.baseURL = URL(string: "https://api.example.com/v1")
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, credential: "old")]
        }

        let result = await Probe(adding: WireRequest(http: HTTPRequest("\(raw: address)")), to: queue).ended().first

        #expect(sent.elements.map { $0 == "Bearer old" } == [does])
        #expect(result?.error?.code == (does ? nil : .unacceptableStatus))
        #expect(desk.calls.count == 0)
    }

    @Test func credentialRequiresBaseURLOrOrigins() async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let queue = TestQueue(server(accepting: "old", sent)) {
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, credential: "old")]
        }

        let error = await results(1, on: queue).first?.error

        #expect(error?.code == .authenticationFailed && error?.reason?.contains("origins") == true)
        #expect(sent.count == 0 && desk.calls.count == 0)
    }

    @Test(arguments: [nil, URL(string: "https://api.example.com/v1")])
    func credentialIsSentOnlyToListedOrigins(baseURL: URL?) async throws {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let origins = try ["https://a.example", "https://b.example:8443/path"].map { try #require(URL(string: $0)) }
        let queue = TestQueue(server(accepting: "old", sent)) {
            $0.baseURL = baseURL
            $0.interceptors = [AuthenticationInterceptor(desk.authenticator, credential: "old", origins: origins)]
        }

        let addresses = [
            "https://a.example/1", "https://A.example:443", "https://b.example:8443", "https://b.example",
            "http://a.example", "https://api.example.com/v1", "https://a.example.evil.example",
        ]
        for address in addresses {
            _ = await Probe(adding: WireRequest(http: HTTPRequest("\(raw: address)")), to: queue).ended()
        }

        #expect(sent.elements.map { $0 != nil } == [true, true, true, false, false, false, false])
        #expect(desk.calls.count == 0)
    }

    @Test func excludedRequestIsNotAuthenticated() async {
        let (desk, sent) = (RefreshDesk(), Recorder<String?>())
        let interceptor = AuthenticationInterceptor(desk.authenticator, credential: "old", origins: sampleOrigins) {
            $0.url.path != "/login"
        }
        let queue = TestQueue(server(accepting: "old", sent)) { $0.interceptors = [interceptor] }

        for path in ["login", "recipes"] {
            _ = await Probe(adding: WireRequest(http: HTTPRequest("https://example.com/\(path)")), to: queue).ended()
        }

        #expect(sent.elements == [nil, "Bearer old"])
    }

    @Test(arguments: [("https://evil.com/", 0), ("https://example.com/moved", 1)])
    func rejectionByOtherOriginDoesNotRefresh(location: String, refreshes: Int) async {
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
            $0.interceptors = [
                AuthenticationInterceptor(KeyAuthenticator(calls: calls), credential: "old", origins: sampleOrigins)
            ]
        }

        let error = await results(1, on: queue).first?.error

        #expect(error?.code == (refreshes == 0 ? .unacceptableStatus : nil))
        #expect(calls.count == refreshes)
        #expect(transport.requests.filter { $0.url.host == "evil.com" }.allSatisfy { !$0.headers.contains("X-Key") })
        #expect(!transport.requests.isEmpty && !"\(transport.requests.map(\.headers))".contains("old"))
    }

    @Test func inapplicableCredentialFailsRequest() async {
        struct Broken: Authenticator {
            func apply(_ key: String, to request: inout HTTPRequest) throws { throw SampleError() }
            func refresh(_ key: String?) async throws -> String { "new" }
        }
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) {
            $0.interceptors = [AuthenticationInterceptor(Broken(), origins: sampleOrigins)]
        }

        let error = await results(1, on: queue).first?.error

        #expect(error?.underlying as? SampleError == SampleError() && transport.requests.isEmpty)
    }
}
