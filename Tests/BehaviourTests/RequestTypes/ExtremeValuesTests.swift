// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Every public duration, limit and count, with values that a caller computes from missing or hostile data: an error at
/// once, or the nearest sense, and never a trap.
@Suite(.bounded) struct ExtremeValuesTests {
    /// A value with a name; the description of a `Duration` out of the range of seconds traps.
    struct Named<Value: Sendable>: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let value: Value

        init(_ name: String, _ value: Value) {
            (testDescription, self.value) = (name, value)
        }
    }

    /// A setting, and a closure that uses it with a value.
    typealias Use<Value> = Named<@Sendable (Value) async throws -> Void>

    static let durations: [Duration] = [
        .seconds(Int64.min) * 18, .seconds(Int64.min), .seconds(-Int64.max), .milliseconds(Int64.min),
        .seconds(Date.distantPast.timeIntervalSinceNow), .seconds(-1), .nanoseconds(-1), .zero, .nanoseconds(1),
        .seconds(Date.distantFuture.timeIntervalSinceNow), .seconds(Int64.max), .seconds(Int64.max) * 18,
    ]
    static let counts = [Int.min, Int.min + 1, -1_000_000, -2, -1, 0, 1, Int(Int32.max) + 1, Int.max - 1, Int.max]
    static let doubles: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -1e18, -1, -0.0, 0, .leastNonzeroMagnitude, 1e10, 1e19, 1e300,
        .greatestFiniteMagnitude, .infinity, .nan, .signalingNaN,
    ]

    /// Whether a wait of this duration ends immediately.
    private static func isOver(_ duration: Duration) -> Bool { duration < .seconds(1) }

    /// Runs a request that waits for a duration, and cancels it if the duration is long.
    private static func code(
        _ request: TextRequest,
        on queue: TestQueue,
        after duration: Duration
    ) async -> RequestError.Code? {
        let probe = Probe(adding: request, to: queue)
        if !isOver(duration) { probe.operation.cancel() }
        return await probe.ended().first?.error?.code
    }

    /// Runs a task that waits for a duration, and cancels it if the duration is long.
    private static func outcome<Value: Sendable>(
        after duration: Duration,
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value {
        let task = Task { await body() }
        if !isOver(duration) { task.cancel() }
        return await task.value
    }

    /// Retries as long as the status is 202.
    private static func retrying(_ strategy: RetryPolicy.Strategy) -> any ResponseValidator {
        ClosureValidator { response, _ in response.status == .accepted ? .retry(strategy) : .accept }
    }

    // MARK: Durations

    static let usesOfDurations: [Use<Duration>] = [
        Use("deadline of a request") { duration in
            var options = RequestOptions()
            options.deadline = duration
            let queue = TestQueue(InMemoryTransport { _ in .never })
            let code = await code(TextRequest(options: options), on: queue, after: duration)
            #expect(code == (isOver(duration) ? .deadlineExceeded : .cancelled))
        },
        Use("deadline of an environment") { duration in
            let queue = TestQueue(InMemoryTransport { _ in .never }) { $0.deadline = duration }
            let code = await code(TextRequest(), on: queue, after: duration)
            #expect(code == (isOver(duration) ? .deadlineExceeded : .cancelled))
        },
        Use("deadline by another clock") { duration in
            let queue = TestQueue(InMemoryTransport { _ in .never }) {
                ($0.deadline, $0.clock) = (duration, ManualClock())
            }
            // The clock never advances.
            let code = await code(TextRequest(), on: queue, after: duration > .zero ? .seconds(60) : .zero)
            #expect(code == (duration > .zero ? .cancelled : .deadlineExceeded))
        },
        Use("timeout of a request") { duration in
            var options = RequestOptions()
            options.timeout = duration
            #expect(await code(TextRequest(options: options), on: TestQueue(), after: .zero) == nil)
            var request = HTTPRequest(url: home)
            request.timeout = duration
            let timeout = try URLRequest(request).timeoutInterval
            #expect(timeout.isFinite)
        },
        Use("timeout of a refresh") { duration in
            let authenticator = TokenAuthenticator { _ in
                try? await Gate().wait()
                throw CancellationError()
            }
            let interceptor = AuthenticationInterceptor(authenticator, origins: sampleOrigins, timeout: duration)
            let queue = TestQueue { $0.interceptors = [interceptor] }
            let code = await code(TextRequest(), on: queue, after: duration)
            #expect(code == (isOver(duration) ? .refreshTimedOut : .cancelled))
        },
        Use("window of refreshes") { duration in
            let window = RefreshClient.Window(limit: 1, duration: duration)
            let interceptor = AuthenticationInterceptor(
                TokenAuthenticator { _ in "token" },
                origins: sampleOrigins,
                window: window
            )
            let queue = TestQueue(InMemoryTransport { _ in .status(.unauthorized) }) { $0.interceptors = [interceptor] }
            let codes = [
                await code(TextRequest(), on: queue, after: .zero), await code(TextRequest(), on: queue, after: .zero),
            ]
            #expect(codes[0] == .unacceptableStatus)
            #expect(codes[1] == (isOver(duration) ? .unacceptableStatus : .excessiveRefresh))
        },
        Use("back-off") { duration in
            for maximum in durations {
                for backoff in [
                    RetryPolicy.Backoff.constant(duration), .exponential(from: duration), .fibonacci(duration),
                ] {
                    for jitter in [RetryPolicy.Backoff.Jitter.none, .half, .full] {
                        for retry in counts {
                            let delay = backoff.capped(at: maximum).jitter(jitter).delay(before: retry)
                            #expect(delay >= .zero && delay <= max(.zero, maximum))
                        }
                    }
                }
            }
        },
        Use("delay of a retry") { duration in
            let transport = InMemoryTransport.answering([.status(.serviceUnavailable), .status(.ok)])
            let interceptor = ClosureInterceptor(retry: { _, _ in .retry(after: duration) })
            let queue = TestQueue(transport) { $0.interceptors = [interceptor] }
            #expect(await code(TextRequest(), on: queue, after: duration) == (isOver(duration) ? nil : .cancelled))
        },
        Use("delay of a strategy") { duration in
            for strategy in [
                RetryPolicy.Strategy.delayed(duration), .exponential(from: duration), .after({ _ in }, delay: duration),
            ] {
                let transport = InMemoryTransport.answering([.status(.accepted), .status(.ok)])
                let queue = TestQueue(transport) { $0.validators = [retrying(strategy)] }
                #expect(await code(TextRequest(), on: queue, after: duration) == (isOver(duration) ? nil : .cancelled))
            }
        },
        Use("maximum wait that a server asks for") { duration in
            var policy = RetryPolicy()
            policy.maximumRetryAfter = duration
            let head = HTTPResponseHead(status: .serviceUnavailable, headers: [.retryAfter: "5"])
            let request = HTTPRequest(url: home)
            let error = RequestError(.unacceptableStatus, phase: .validating, request: request, response: head)
            if case .retry(let delay) = policy.decision(about: error, attempt: 1) { #expect(delay >= .zero) }
        },
        Use("interval of a rate limiter") { duration in
            let queue = TestQueue { $0.rateLimiter = RateLimiter(1, per: duration) }
            #expect(await code(TextRequest(), on: queue, after: .zero) == nil)
            #expect(await code(TextRequest(), on: queue, after: duration) == (isOver(duration) ? nil : .cancelled))
        },
        Use("pause of a rate limiter") { duration in
            let limiter = RateLimiter(1, per: .nanoseconds(1))
            for _ in 0..<3 { limiter.pause(for: duration) }
            let queue = TestQueue { $0.rateLimiter = limiter }
            #expect(await code(TextRequest(), on: queue, after: duration) == (isOver(duration) ? nil : .cancelled))
        },
        Use("wait for a network") { duration in
            let connectivity = Connectivity(isConnected: false)
            #expect(await !outcome(after: duration) { await connectivity.waitUntilConnected(timeout: duration) })
            let manual = duration > .zero ? Duration.seconds(60) : .zero
            #expect(
                await !outcome(after: manual) {
                    await connectivity.waitUntilConnected(timeout: duration, clock: ManualClock())
                }
            )
        },
        Use("condition of a network") { duration in
            let connectivity = Connectivity(isConnected: false)
            let queue = TestQueue { $0.conditions = [.connected(by: connectivity, timeout: duration)] }
            #expect(await code(TextRequest(), on: queue, after: duration) == (isOver(duration) ? .offline : .cancelled))
        },
        Use("retry when there is a network") { duration in
            let connectivity = Connectivity(isConnected: false)
            let transport = InMemoryTransport { _ in .failure(RequestError(.offline, phase: .sending)) }
            let queue = TestQueue(transport) {
                $0.interceptors = [.retryingOffline(by: connectivity, timeout: duration)]
            }
            let code = await code(TextRequest(), on: queue, after: duration)
            #expect(code == (isOver(duration) ? .offline : .cancelled))
        },
        Use("probe of a host") { duration in
            let queue = TestQueue(InMemoryTransport { _ in .never })
            #expect(await !outcome(after: duration) { await queue.canReach(home, timeout: duration) })
        },
        Use("directive of a cache") { duration in
            for directive: CacheControl.Directive in [
                .maxAge(duration), .staleIfError(duration), .minFresh(duration), .maxStale(duration),
            ] {
                let lifetime = try #require(directive.duration)
                #expect(lifetime >= .zero)
            }
        },
        Use("lifetime in a cache") { duration in
            let transport = InMemoryTransport { _ in .status(.ok, headers: [.date: HTTPDate(Date()).rawValue]) }
            let queue = TestQueue(transport) { $0.cache = ResponseCache() }
            var options = RequestOptions()
            options.caching = .for(duration)
            for _ in 0..<2 { #expect(await code(TextRequest(options: options), on: queue, after: .zero) == nil) }
            #expect(transport.requests.count == (isOver(duration) ? 2 : 1))
        },
        Use("reconnection of events") { duration in
            let transport = InMemoryTransport { _ in .failure(RequestError(.connectionLost, phase: .sending)) }
            let queue = TestQueue(transport) { $0.clock = SkippingClock() }
            for policy in [
                ServerSentEvent.Reconnection(wait: duration, limit: 2),
                ServerSentEvent.Reconnection(maximumWait: duration, limit: 2),
                ServerSentEvent.Reconnection(limit: 2, backoff: .constant(duration)),
            ] {
                let events = queue.serverSentEvents(HTTPRequest(url: home), reconnection: policy)
                await #expect(throws: (any Error).self) { for try await _ in events {} }
            }
        },
        Use("deadline of events") { duration in
            let transport = InMemoryTransport { _ in .failure(RequestError(.connectionLost, phase: .sending)) }
            let queue = TestQueue(transport) { ($0.clock, $0.deadline) = (SkippingClock(), duration) }
            let events = queue.serverSentEvents(
                HTTPRequest(url: home),
                reconnection: ServerSentEvent.Reconnection(limit: 2)
            )
            await #expect(throws: (any Error).self) { for try await _ in events {} }
        },
        Use("lifetime of a cookie") { duration in
            var cookie = SetCookie("a", "b")
            cookie.maxAge = duration
            #expect(cookie.rawValue.contains("Max-Age="))
            let end = try #require(cookie.expirationDate(receivedAt: Date()))
            #expect((end > Date()) == (duration > .milliseconds(1)))
            let jar = CookieJar()
            jar.store(HTTPResponseHead(status: .ok, headers: [.setCookie: cookie.rawValue]), from: home)
        },
    ]

    @Test(arguments: usesOfDurations) func extremeDurationsAreHandled(_ use: Use<Duration>) async throws {
        for duration in Self.durations { try await use.value(duration) }
    }

    @Test func extremeDatesAreHandled() {
        let dates = [Date.distantPast, .distantFuture] + Self.doubles.map { Date(timeIntervalSince1970: $0) }
        for date in dates {
            for now in dates {
                let delay = Duration(retryAfter: HTTPDate(date).rawValue, now: now) ?? .seconds(-1)
                #expect(delay >= .zero && delay <= .seconds(1_000_000_000))
                var cookie = SetCookie("a", "b")
                cookie.expires = HTTPDate(date)
                _ = (cookie.rawValue, cookie.expirationDate(receivedAt: now))
            }
        }
    }

    // MARK: Counts

    static let usesOfCounts: [Use<Int>] = [
        Use("limit of retries") { count in
            let queue = TestQueue(InMemoryTransport.answering([.status(.serviceUnavailable), .status(.ok)])) {
                $0.retry = RetryPolicy(limit: count, backoff: .none)
            }
            #expect(await code(TextRequest(), on: queue, after: .zero) == (count > 0 ? nil : .unacceptableStatus))
        },
        Use("limit of a strategy") { count in
            for strategy in [
                RetryPolicy.Strategy.immediate(limit: count), .delayed(.zero, limit: count),
                .exponential(from: .zero, limit: count), .fibonacci(.zero, limit: count),
                .after({ _ in }, limit: count),
            ] {
                let queue = TestQueue(InMemoryTransport.answering([.status(.accepted), .status(.ok)])) {
                    $0.validators = [retrying(strategy)]
                }
                #expect(await code(TextRequest(), on: queue, after: .zero) == (count > 0 ? nil : .retryLimitReached))
            }
        },
        Use("limit of retries without a network") { count in
            let failure = StubResponse.failure(RequestError(.offline, phase: .sending))
            let queue = TestQueue(InMemoryTransport.answering([failure, .status(.ok)])) {
                $0.interceptors = [.retryingOffline(by: Connectivity(), maximumRetryCount: count)]
            }
            #expect(await code(TextRequest(), on: queue, after: .zero) == (count > 0 ? nil : .offline))
        },
        Use("limit of redirects") { count in
            let transport = InMemoryTransport.answering([.redirect(to: "/other"), .status(.ok)])
            let queue = TestQueue(transport) { $0.redirect = .follow(limit: count) }
            #expect(await code(TextRequest(), on: queue, after: .zero) == (count > 0 ? nil : .tooManyRedirects))
        },
        Use("limit of a body") { count in
            var options = RequestOptions()
            options.maximumBodySize = count
            let queue = TestQueue { $0.maximumErrorBodySize = count }
            let expected: RequestError.Code? = count < 5 ? .bodyTooLarge : nil
            #expect(await code(TextRequest(options: options), on: queue, after: .zero) == expected)
            let all = TestQueue { $0.maximumBodySize = count }
            #expect(await code(TextRequest(), on: all, after: .zero) == expected)
        },
        Use("limit of the body of an error") { count in
            let queue = TestQueue(InMemoryTransport { _ in .status(.notFound, body: Data("hello".utf8)) }) {
                $0.maximumErrorBodySize = count
            }
            let error = await Probe(adding: TextRequest(), to: queue).ended().first?.error
            #expect(error?.code == .unacceptableStatus && error?.body.count == min(5, max(0, count)))
        },
        Use("limit of a head") { count in
            var options = RequestOptions()
            options.maximumHeadSize = count
            let queue = TestQueue(InMemoryTransport { _ in .status(.ok, headers: ["X-A": "b"]) })
            let code = await code(TextRequest(options: options), on: queue, after: .zero)
            #expect(code == nil || code == .headTooLarge)
        },
        Use("buffer of a stream") { count in
            let queue = TestQueue()
            var content = Data()
            let stream = try await queue.stream(HTTPRequest(url: home), bufferSize: count)
            for try await piece in stream { content += piece }
            #expect(content == Data("hello".utf8))
        },
        Use("limit of a host") { count in
            let queue = TestQueue { $0.hostLimiter = HostLimiter(limit: count) }
            #expect(await code(TextRequest(), on: queue, after: .zero) == nil)
        },
        Use("limit of a rate") { count in
            for limiter in [
                RateLimiter(count, per: .nanoseconds(1)), RateLimiter(1, per: .nanoseconds(1), burst: count),
                RateLimiter(count, per: .seconds(Int64.max), burst: count),
            ] {
                let queue = TestQueue { $0.rateLimiter = limiter }
                #expect(await code(TextRequest(), on: queue, after: .zero) == nil)
            }
        },
        Use("limits of a cache") { count in
            let folder = TemporaryFolder()
            for cache in [
                ResponseCache(memoryLimit: count),
                try ResponseCache(directory: folder.url, diskLimit: count, memoryLimit: count),
            ] {
                let transport = InMemoryTransport { _ in .status(.ok, headers: [.cacheControl: "max-age=60"]) }
                let queue = TestQueue(transport) { $0.cache = cache }
                for _ in 0..<2 { #expect(await code(TextRequest(), on: queue, after: .zero) == nil) }
            }
        },
        Use("limit of a recording") { count in
            let monitor = RecordingMonitor(limit: count)
            let queue = TestQueue { $0.monitors = [monitor] }
            #expect(await code(TextRequest(), on: queue, after: .zero) == nil)
            #expect(!monitor.timeline.text(width: count).isEmpty || count != 80)
        },
        Use("limit of refreshes") { count in
            let interceptor = AuthenticationInterceptor(
                TokenAuthenticator { _ in "token" },
                origins: sampleOrigins,
                window: RefreshClient.Window(limit: count, duration: .seconds(60))
            )
            let queue = TestQueue { $0.interceptors = [interceptor] }
            let code = await code(TextRequest(), on: queue, after: .zero)
            #expect(code == nil || code == .excessiveRefresh)
        },
        Use("limit of reconnections") { count in
            let queue = TestQueue(InMemoryTransport { _ in .status(.noContent) }) { $0.clock = SkippingClock() }
            let events = queue.serverSentEvents(
                HTTPRequest(url: home),
                reconnection: ServerSentEvent.Reconnection(limit: count)
            )
            for try await _ in events {}
        },
        Use("number of concurrent requests") { count in
            let transport = InMemoryTransport { _ in .status(.ok) }
            let client = HTTPClient(baseURL: home, maxConcurrentRequests: count, transport: transport)
            client.maxConcurrentRequests = count
            let operation = client.addRequest(Get<Data>("a"))
            if count == 0 { operation.cancel() }
            _ = try? await operation.value()
        },
        Use("size of compressed bodies") { count in
            let transport = InMemoryTransport { _ in .status(.ok) }
            let queue = TestQueue(transport) { $0.interceptors = [.compressingBodies(from: count)] }
            let request = HTTPRequest(url: home, method: .post, body: .data(Data("hello".utf8)))
            #expect(await Probe(adding: WireRequest(http: request), to: queue).ended().first?.error == nil)
        },
        Use("range") { count in
            let (field, length) = (HTTPField.range(last: Int64(count)), HTTPField.contentLength(Int64(count)))
            _ = (field.value, length.value, HTTPField.range(Int64(count)...).value, HTTPStatus(count).category)
        },
        Use("port") { count in
            var request = HTTPRequest("https://example.com/")
            request.port = count
            let code = await Probe(adding: WireRequest(http: request), to: TestQueue()).ended().first?.error?.code
            #expect(code == ((0...65535).contains(count) ? nil : .invalidRequest))
        },
        Use("progress") { count in
            for other in counts {
                let progress = TransferProgress(completed: Int64(count), total: Int64(other))
                #expect(progress.fraction.map { $0.isFinite } ?? true)
                let all = QueueProgress(finished: count, count: other, received: Int64(count), sent: Int64(other))
                _ = "\(progress) \(all)"
            }
        },
        Use("length of a stream") { count in
            let body = HTTPBody.Stream(length: Int64(count)) { InputStream(data: Data()) }
            #expect(body.length.map { $0 >= 0 } ?? (count < 0))
        },
    ]

    @Test(arguments: usesOfCounts) func extremeCountsAreHandled(_ use: Use<Int>) async throws {
        for count in Self.counts { try await use.value(count) }
    }

    // MARK: Floating-point numbers

    static let usesOfDoubles: [Use<Double>] = [
        Use("timeout in seconds") { number in
            let request = HTTPRequest(url: home).timeout(number)
            let timeout = try #require(request.options.timeout ?? request.timeout)
            #expect(timeout >= .zero)
        },
        Use("priority") { number in
            let transport = InMemoryTransport { _ in .status(.ok) }
            var options = RequestOptions()
            options.httpPriority = number
            #expect(await code(TextRequest(options: options), on: TestQueue(transport), after: .zero) == nil)
            #expect(transport.requests.first?.transportRequest?.priority.map { (0...1).contains($0) } ?? true)
        },
        Use("factor of a back-off") { number in
            for duration in durations {
                for retry in counts {
                    let backoff = RetryPolicy.Backoff.exponential(from: duration, factor: number)
                    #expect((.zero ... .seconds(60)).contains(backoff.delay(before: retry)))
                }
            }
        },
        Use("fraction of a progress") { number in
            _ = "\(QueueProgress(fraction: number))"
        },
        Use("timeout of a Foundation request") { number in
            var request = URLRequest(url: home)
            request.timeoutInterval = number
            let timeout = try HTTPRequest(request).timeout
            #expect(timeout.map { $0 >= .zero } ?? true)
        },
    ]

    @Test(arguments: usesOfDoubles) func extremeFloatingPointValuesAreHandled(_ use: Use<Double>) async throws {
        for number in Self.doubles { try await use.value(number) }
    }
}

/// A clock whose sleeps return immediately.
private struct SkippingClock: Clock {
    private let base = ContinuousClock()

    var now: ContinuousClock.Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
    }
}
