// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// A client with all features at once, and a server with all kinds of failures: small here, full size in
/// `Scripts/soak`.
@Suite(.bounded, .serialized) struct EngineStormTests {
    /// A server whose tokens expire, and which fails at random.
    private final class Server: Sendable {
        private struct State {
            var fuzz: Fuzz
            var token = 1
        }

        private let state: Locked<State>
        let logins = Locked(0)

        init(_ seed: UInt64) {
            state = Locked(State(fuzz: Fuzz(seed: seed)))
        }

        private func random(_ limit: Int) -> Int { state.withLock { Int.random(in: 0..<limit, using: &$0.fuzz) } }

        func answer(_ request: ReceivedRequest) -> StubResponse {
            let response = response(to: request)
            guard random(3) == 0 else { return response }
            let gate = Gate()
            DispatchQueue.global().async { gate.open() }
            return response.held(by: gate)
        }

        /// Whether the request gets no response, and ends with its deadline.
        static func hasDeadline(_ number: String) -> Bool { Int(number)?.isMultiple(of: 9) == true }

        private func response(to request: ReceivedRequest) -> StubResponse {
            if request.url.path == "/login" {
                logins.withLock { $0 += 1 }
                return .status(.ok, body: Data("\(state.withLock { $0.token })".utf8))
            }
            if request.url.path == "/note" { return .status(.noContent) }
            switch random(40) {
            case 0: state.withLock { $0.token += 1 }
            case 1, 2: return .status(.serviceUnavailable)
            case 3: return .failure(RequestError(.connectionLost, phase: .sending))
            case 4: return .status(.found, headers: [.location: "/end"])
            case 5: return .status(.notFound)
            case 6 where Self.hasDeadline(request.url.lastPathComponent): return .never
            default: break
            }
            let isKnown = request.headers[.authorization] == "Bearer \(state.withLock { $0.token })"
            guard isKnown else { return .status(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) }
            let headers: HTTPHeaders = [.setCookie: "a=\(random(9))", .cacheControl: "max-age=1"]
            return .status(.ok, headers: headers, body: Data("x".utf8))
        }
    }

    private struct Login: Authenticator {
        func apply(_ token: String, to request: inout HTTPRequest) {
            request.headers.set(.authorization(.bearer(token)))
        }
        func refresh(_ token: String?, using client: RefreshClient) async throws -> String {
            try await client.send(HTTPRequest("login")).text()
        }
    }

    /// Sends an additional request for some requests, and hedges others.
    private struct Busy: Interceptor {
        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            guard let number = Int(context.identifier) else { return try await next(request) }
            if number.isMultiple(of: 13) { _ = try await context.send(HTTPRequest("note")) }
            guard number.isMultiple(of: 17) else { return try await next(request) }
            return try await withThrowingTaskGroup(of: HTTPResponse<ResponseContent>.self) { group in
                for _ in 0..<2 { group.addTask { try await next(request) } }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw SampleError() }
                return first
            }
        }
    }

    private static func request(_ number: Int, _ life: Census.Life) -> TextRequest {
        let isShared = number.isMultiple(of: 5)
        var options = RequestOptions()
        options.coalesce = isShared
        if !isShared, Server.hasDeadline("\(number)") { options.deadline = .milliseconds(100 + number) }
        let url = home.appending(path: isShared ? "shared\(number % 4)" : "\(number)")
        return TextRequest(
            identifier: isShared ? "shared \(number % 4)" : "\(number)",
            options: options,
            life: life,
            make: { $0(.success(URLRequest(url: url))) }
        )
    }

    @Test(arguments: [1, 4, 8, 64])
    func operationsEndOnceUnderRandomLoad(width: Int) async {
        let count = Scale.pick(150, whole: 1500)
        let (census, ends) = (Census(), Recorder<(number: Int, code: RequestError.Code?)>())
        let server = Server(Fuzz.seed &+ UInt64(width))
        var fuzz = Fuzz()
        let client = HTTPClient(
            baseURL: URL(string: "https://example.com"),
            maxConcurrentRequests: width,
            transport: InMemoryTransport(recordsRequests: false) { server.answer($0) }
        ) {
            $0.interceptors = [Busy(), AuthenticationInterceptor(Login(), origins: sampleOrigins, window: nil)]
            $0.retry = RetryPolicy(limit: 2, backoff: .constant(.milliseconds(1)))
            $0.cache = ResponseCache()
            $0.hostLimiter = HostLimiter(limit: 6)
            $0.rateLimiter = RateLimiter(1_000_000, per: .seconds(1), burst: 50)
        }
        var operations: [Operation] = []
        for number in 0..<count {
            let operation = client.addRequest(Self.request(number, census.life())) { result in
                ends.record((number, result.error?.code))
            }
            operations.append(operation)
            guard Int.random(in: 0..<4, using: &fuzz) == 0 else { continue }
            let victim = operations[Int.random(in: max(0, number - 20)...number, using: &fuzz)]
            if Bool.random(using: &fuzz) { victim.cancel() } else { DispatchQueue.global().async { victim.cancel() } }
        }

        let results = await ends.first(count)
        #expect(Set(results.map(\.number)).count == count, "seed \(Fuzz.seed)")
        let known: Set<RequestError.Code?> = [nil, .cancelled, .deadlineExceeded, .unacceptableStatus, .connectionLost]
        #expect(Set(results.map(\.code)).subtracting(known) == [], "seed \(Fuzz.seed)")
        for operation in operations { await operation.end() }
        // A queue removes an operation shortly after it has finished.
        await #expect(throws: Never.self) { try await eventually { client.operations.isEmpty } }
        #expect(ends.count == count)

        // The limiters have all their slots again; a lost slot would be noticed here.
        let later = (0..<100).map { _ in client.addRequest(TextRequest(options: .init(), life: census.life())) }
        for operation in later { await operation.end() }
        await #expect(throws: Never.self) { try await eventually { client.operations.isEmpty } }
        operations = []
    }
}
