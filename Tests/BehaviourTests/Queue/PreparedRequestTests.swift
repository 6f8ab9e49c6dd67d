// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Requests for code that sends them itself.
@Suite(.bounded) struct PreparedRequestTests {
    private static let base = URL(string: "https://api.example.com/v1")!

    private struct User: Codable, Sendable, Equatable { var name: String }

    /// Only retries: it has no effect on a request that isn't sent.
    private struct Retrier: Interceptor {
        func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
            .retry(after: .zero)
        }
    }

    private struct Signer: Interceptor {
        let calls: Recorder<String>

        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            calls.record("adapt")
            request.headers["X-Signature"] = "\(request.method.rawValue) \(request.url.path)"
        }

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            calls.record("intercept")
            return try await next(request)
        }
    }

    private struct Stopwatch: Interceptor {
        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            _ = try? await context.send(HTTPRequest("never"))
            return try await next(request)
        }
    }

    private struct Renewing: Authenticator {
        func apply(_ token: String, to request: inout HTTPRequest) {
            request.headers[.authorization] = "Bearer \(token)"
        }
        func needsRefresh(_ token: String) -> Bool { token == "old" }
        func refresh(_ token: String?, using client: RefreshClient) async throws -> String {
            try await client.fetch(Post<Token>("token")).token
        }
    }

    private struct Token: Codable, Sendable { var token: String }

    // Sendable: Operation requires restating it; nothing is added here.
    private final class StampingOperation: DataOperation<Stamped>, @unchecked Sendable {
        override func prepare(_ request: inout HTTPRequest) throws {
            request.headers["X-Stamp"] = self.request?.identifier == "stamped" ? "1" : nil
            request.headers["X-Base"] = environment.baseURL?.host()
        }
    }

    private struct Stamped: DataRequest {
        typealias Success = Data
        typealias OperationType = StampingOperation
        var identifier: String { "stamped" }
        func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
            DispatchQueue.global().async { completion(.success(URLRequest(url: URL(string: "stamped")!))) }
        }
    }

    private let transport = InMemoryTransport { request in
        Issue.record("\(request) was sent")
        return .text("")
    }

    private func client(_ configure: (inout RequestEnvironment) -> Void = { _ in }) -> HTTPClient {
        HTTPClient(baseURL: Self.base, transport: transport) {
            $0.headers["X-App"] = "recipes"
            configure(&$0)
        }
    }

    @Test func preparedRequestMatchesSentRequest() async throws {
        let jar = CookieJar()
        jar.store(HTTPResponseHead(status: .ok, headers: ["Set-Cookie": "session=1; Path=/"]), from: Self.base)
        let calls = Recorder<String>()
        let client = client {
            $0.query = ["key": "k"]
            $0.timeout = .seconds(7)
            $0.cookies = jar
            $0.interceptors = [Signer(calls: calls), Retrier(), .idempotencyKeys()]
        }

        let request = try await client.urlRequest(for: Post<User>("users").query(["a": 1]).body(User(name: "Ada")))

        #expect(request.url?.absoluteString == "https://api.example.com/v1/users?key=k&a=1")
        #expect(request.httpMethod == "POST" && request.timeoutInterval == 7)
        #expect(request.httpBody == Data(#"{"name":"Ada"}"#.utf8))
        let fields = request.allHTTPHeaderFields ?? [:]
        #expect(fields["X-App"] == "recipes" && fields["Content-Type"] == "application/json")
        #expect(fields["Accept"] == "application/json" && fields["Cookie"] == "session=1")
        #expect(fields["X-Signature"] == "POST /v1/users")
        #expect(!request.httpShouldHandleCookies)
        #expect(calls.elements == ["adapt"])
    }

    @Test func expiredTokenIsRefreshedFirst() async throws {
        let transport = InMemoryTransport { _ in .json(["token": "new"]) }
        let authenticator = Renewing()
        let client = HTTPClient(baseURL: Self.base, transport: transport) {
            $0.interceptors = [AuthenticationInterceptor(authenticator, credential: "old")]
        }

        let requests = try await withThrowingTaskGroup(of: URLRequest.self) { group in
            for number in 1...4 { group.addTask { try await client.urlRequest(for: Get<Data>("films/\(number)")) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(requests.allSatisfy { $0.value(forHTTPHeaderField: "Authorization") == "Bearer new" })
        #expect(transport.requests.map(\.url.path) == ["/v1/token"])
    }

    @Test func interceptOnlyInterceptorIsUnsupported() async {
        let interceptors: [any Interceptor] = [
            Stopwatch(), Stopwatch().scoped { _ in true }, .intercepting { try await $1($0) },
            ClosureInterceptor.intercepting { try await $1($0) }.scoped { _ in true },
        ]
        for interceptor in interceptors {
            let error = await #expect(throws: RequestError.self) {
                try await client { $0.interceptors = [interceptor] }.urlRequest(for: Get<Data>("a"))
            }
            #expect(error?.code == .unsupported && error?.phase == .building)
            #expect(error?.request?.url.path == "/v1/a" && "\(error as Any)".contains("`adapt`"))
        }
    }

    @Test func inapplicableInterceptorsAreIgnored() async throws {
        let client = client {
            $0.interceptors = [
                Stopwatch().scoped { _ in false }, .retrying { _ in .pass }, .transforming { _ in }, Retrier(),
                .adapting { $0.headers["X-Closure"] = "1" },
            ]
        }

        let request = try await client.urlRequest(for: Get<Data>("a"))

        #expect(request.value(forHTTPHeaderField: "X-Closure") == "1")
    }

    @Test func bypassedInterceptorIsIgnored() async throws {
        let client = client { $0.interceptors = [Stopwatch()] }

        let request = try await client.urlRequest(for: Get<Data>("a").bypassing(Stopwatch.self))

        #expect(request.url?.path == "/v1/a")
    }

    @Test func customOperationPreparesRequest() async throws {
        let request = try await client().urlRequest(for: Stamped())

        #expect(request.url?.path == "/v1/stamped" && request.value(forHTTPHeaderField: "X-Stamp") == "1")
    }

    @Test func invalidRequestFails() async {
        let error = await #expect(throws: RequestError.self) {
            try await client().urlRequest(for: Get<Data>("a/../../b"))
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func credentialsAreNotAddedForOtherOrigin() async throws {
        let client = client { $0.headers[.authorization] = "Bearer secret" }

        let request = try await client.urlRequest(for: HTTPRequest("https://elsewhere.example/a"))

        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
    }

    @Test func cancellationEndsCredentialWait() async throws {
        let desk = RefreshDesk()
        let client = client { $0.interceptors = [AuthenticationInterceptor(desk.authenticator)] }

        let task = Task { try await client.urlRequest(for: Get<Data>("a")) }
        await desk.calls.first(1)
        task.cancel()

        let error = await #expect(throws: RequestError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        await desk.end(with: .success("late"))
    }

    @Test(arguments: [
        HTTPBody.data(Data("content".utf8)), .stream(HTTPBody.Stream(InputStream(data: Data("content".utf8)))),
        .file(URL(filePath: "/dev/null")), .none,
    ])
    func bodyIsWrittenToFile(_ body: HTTPBody) async throws {
        let folder = TemporaryFolder()
        let request = HTTPRequest("upload").method(.put).body(body)

        let (prepared, file) = try await client().urlRequest(for: request, writingBodyTo: folder.url)

        let isEmpty = body.isEmpty || (try? body.data()) == nil && "\(body)".contains("null")
        #expect(try Data(contentsOf: file) == Data((isEmpty ? "" : "content").utf8))
        #expect(file.deletingLastPathComponent().path == folder.url.path)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(prepared.httpBody == nil && prepared.httpBodyStream == nil && prepared.httpMethod == "PUT")
        #expect(prepared.value(forHTTPHeaderField: "Content-Length") == nil)
    }

    @Test func failedBodyLeavesNoFile() async throws {
        let folder = TemporaryFolder()
        let missing = HTTPRequest("upload").method(.put).body(.file(folder.url.appending(path: "missing")))

        await #expect(throws: (any Error).self) {
            try await client().urlRequest(for: missing, writingBodyTo: folder.url)
        }

        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test func bodyWithWrongLengthLeavesNoFile() async throws {
        let folder = TemporaryFolder()
        let stream = HTTPBody.Stream(InputStream(data: Data("short".utf8)), length: 10)

        let error = await #expect(throws: RequestError.self) {
            try await client().urlRequest(for: HTTPRequest("a").body(.stream(stream)), writingBodyTo: folder.url)
        }

        #expect(error?.underlying is InvalidValue && error?.request?.url.path == "/v1/a")
        #expect(try folder.names().isEmpty)
    }

    @Test func cancelledWriteLeavesNoFile() async throws {
        let folder = TemporaryFolder()
        let (parts, source) = AsyncStream<Data>.makeStream()
        source.yield(Data("first".utf8))
        let request = HTTPRequest("a").method(.put).body(.stream(HTTPBody.Stream(parts)))

        let task = Task { [client = client()] in try await client.urlRequest(for: request, writingBodyTo: folder.url) }
        try await eventually { try !folder.names().isEmpty }
        task.cancel()

        let error = await #expect(throws: RequestError.self) { try await task.value }
        #expect(try error?.code == .cancelled && folder.names().isEmpty)
    }

    @Test(arguments: ["http", "https"]) func proxyCredentialsAreNotIncluded(_ scheme: String) async throws {
        let transport = InMemoryTransport { request in
            request.headers.contains(.proxyAuthorization)
                ? .text("ok")
                : .status(.proxyAuthenticationRequired, headers: ["Proxy-Authenticate": "Basic realm=p"])
        }
        let own = URLCredential(user: "a", password: "hush", persistence: .none)
        let interceptor = ChallengeInterceptor(proxy: { _, _ in own }, { _, _ in nil })
        let client = HTTPClient(baseURL: URL(string: "\(scheme)://a.example"), transport: transport) {
            $0.interceptors = [interceptor]
        }
        _ = try? await client.fetch(Get<Data>("a"))

        let request = try await client.urlRequest(for: Get<Data>("a"))

        #expect(request.value(forHTTPHeaderField: "Proxy-Authorization") == nil)
    }

    @Test func endlesslyRetryingInterceptorIsUnsupported() async {
        let error = await #expect(throws: RequestError.self) {
            try await client { $0.interceptors = [Stubborn()] }.urlRequest(for: Get<Data>("a"))
        }
        #expect(error?.code == .unsupported)
    }

    private struct Stubborn: Interceptor {
        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            while true {
                do { return try await next(request) } catch { await Task.yield() }
                try Task.checkCancellation()
            }
        }
    }

    /// Forwards both steps to another interceptor.
    private struct Named: Interceptor {
        let base: any Interceptor

        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            try await base.adapt(&request, context: context)
        }

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            try await base.intercept(request, context: context, next: next)
        }
    }

    @Test func wrappedRetrierIsSupported() async throws {
        let client = client { $0.interceptors = [Named(base: .retrying { _ in .pass }), Named(base: Retrier())] }

        #expect(try await client.urlRequest(for: Get<Data>("a")).url?.path == "/v1/a")
    }

    @Test func failedRefreshErrorNamesRequest() async {
        let authentication = AuthenticationInterceptor(TokenAuthenticator { _ in throw URLError(.cannotFindHost) })

        let error = await #expect(throws: RequestError.self) {
            try await client { $0.interceptors = [authentication] }.urlRequest(for: Get<Data>("a"))
        }

        #expect(error?.code == .authenticationFailed && error?.request?.url.path == "/v1/a")
    }

    @Test func monitorsSeeNoOperation() async throws {
        let events = Recorder<String>()
        let monitor: some EventMonitor = .events { event, _ in events.record("\(event)") }
        let client = client { $0.monitors = [monitor] }

        _ = try await client.urlRequest(for: Get<Data>("a").monitored(by: monitor))

        #expect(events.elements.isEmpty)
    }

    @Test func partialDownloadAddsNoRange() async throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "film.mov")
        let gate = Gate()
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: ["ETag": #""1""#, "Accept-Ranges": "bytes"], body: Data(count: 100_000))
                .held(by: gate, after: 50_000)
        }
        let client = HTTPClient(baseURL: Self.base, transport: transport)
        let download = HTTPRequest("film").download(to: .file(file)).resumingAutomatically()
        let operation = client.addRequest(download)
        try await eventually { operation.progress.completedUnitCount > 0 }
        operation.cancel()
        gate.open()
        try await eventually { operation.isFinished }

        let request = try await client.urlRequest(for: download)

        #expect(request.value(forHTTPHeaderField: "Range") == nil && request.url?.path == "/v1/film")
    }

    @Test func preparingOperationHasEnvironment() async throws {
        let request = try await client().urlRequest(for: Stamped())

        #expect(request.value(forHTTPHeaderField: "X-Base") == "api.example.com")
    }
}
