// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

/// Rounds of cancels with a client that has all features: small by default, full size in `Scripts/soak`.
@Suite(.bounded) struct SoakClientTests {
    private final class Passing: Interceptor, ResponseValidator {
        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            await Task.yield()
            request.headers["X-Try"] = "\(context.attempt)"
        }

        func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws {}

        func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
            await Task.yield()
            return .pass
        }

        func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> ValidationResult { .accept }
    }

    private static func answer(_ request: ReceivedRequest) -> StubResponse {
        let number = Int(request.path.dropFirst()) ?? 1
        if number.isMultiple(of: 5), request.headers["X-Try"] == "1" { return .status(.serviceUnavailable) }
        if number.isMultiple(of: 7) { return .redirect(to: "/\(number + 1)") }
        if number.isMultiple(of: 9) { return .reset }
        let headers: HTTPHeaders = [.setCookie: "a=1; Path=/", .eTag: "\"a\"", .cacheControl: "no-cache"]
        return request.headers[.ifNoneMatch] == nil
            ? .text("hi", headers: headers) : .status(.notModified, headers: headers)
    }

    @Test(.tags(.alone)) func repeatedCancelsCompleteOnceAndLeakNothing() async throws {
        let (rounds, count) = (20, Scale.pick(150, whole: 10_000))
        // Its records would grow with the rounds, and look like a leak.
        var configuration = MockServer.Configuration()
        configuration.maximumRecordedRequests = 0
        let server = try MockServer(configuration: configuration) { Self.answer($0) }
        let (ends, activity, passing) = (Locked(0), ActivityMonitor(), Passing())
        let unexpected = Locked<[RequestError.Code]>([])
        let client = HTTPClient(maxConcurrentRequests: 16, transport: CurlTransport()) {
            $0.interceptors = [passing]
            $0.validators = [passing]
            $0.retry = RetryPolicy(limit: 2, backoff: .none)
            $0.cache = ResponseCache(memoryLimit: 1 << 20)
            $0.rateLimiter = RateLimiter(1_000_000, per: .seconds(1), burst: 100)
            $0.hostLimiter = HostLimiter(limit: 8)
            $0.monitors = [activity]
        }
        var random = Fuzz()
        func round() async throws {
            let (before, isOver) = (ends.withLock { $0 }, Gate())
            for number in 0..<count {
                let operation = client.makeOperation(for: Call(server.url("/\(number % 200)"))) { result in
                    let number = ends.withLock { ends in
                        ends += 1
                        return ends
                    }
                    if number == before + count { isOver.open() }
                    guard case .failure(let error) = result else { return }
                    guard error.code != .cancelled, error.code != .connectionLost else { return }
                    unexpected.withLock { $0.append(error.code) }
                }
                client.addOperation(operation)
                if number.isMultiple(of: 3) {
                    DispatchQueue.global().async { operation.cancel() }
                } else if number.isMultiple(of: 2) {
                    let delay = DispatchTime.now() + .microseconds(.random(in: 0...20 * count, using: &random))
                    DispatchQueue.global().asyncAfter(deadline: delay) { operation.cancel() }
                }
            }
            try await isOver.wait(timeout: .seconds(Scale.timeLimit))
            // Operations are finished a moment after their completions were enqueued.
            try await eventually { client.operations.isEmpty }
        }

        for _ in 0..<rounds / 4 { try await round() }
        let (memory, descriptors) = (Usage.allocatedMemory, Usage.descriptors)
        for _ in 0..<rounds { try await round() }
        let (memoryAfter, descriptorsAfter) = (Usage.allocatedMemory, Usage.descriptors)
        let total = (rounds + rounds / 4) * count

        #expect(ends.withLock { $0 } == total)
        #expect(unexpected.withLock { $0 } == [], "seed \(Fuzz.seed)")
        #expect(client.operations.isEmpty && activity.count == 0)
        // With few rounds, the result means nothing.
        guard Scale.isWhole else { return }
        #expect(descriptorsAfter - descriptors < 100, "\(descriptors), then \(descriptorsAfter)")
        #expect(!Usage.isMemoryExact || memoryAfter - memory < 32 << 20, "\(memory), then \(memoryAfter)")
    }
}
#endif
