// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The interceptor that an error names.
@Suite(.bounded) struct InterceptorErrorTests {
    private struct Failing: Interceptor {
        enum Place: CaseIterable { case adapt, before, after, transform }
        let place: Place

        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            if place == .adapt { throw SampleError() }
        }

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            if place == .before { throw SampleError() }
            let answer = try await next(request)
            if place == .after { throw SampleError() }
            return answer
        }

        func transform(_ response: inout HTTPResponse<Data>, context: InterceptorChain.Context) throws {
            if place == .transform { throw SampleError() }
        }
    }

    private struct Passing: Interceptor {}

    private struct Catching: Interceptor {
        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            do { return try await next(request) } catch { throw RequestError(.rejected, phase: .validating) }
        }
    }

    @Test(arguments: Failing.Place.allCases) private func errorNamesItsInterceptor(_ place: Failing.Place) async {
        let queue = TestQueue { $0.interceptors = [Passing(), Failing(place: place), Passing()] }

        let error = await #expect(throws: RequestError.self) { try await queue.fetch(TextRequest()) }

        // A failed transform is reported with one of the library's own errors.
        #expect(error?.interceptor == (place == .transform ? nil : "Failing"))
        #expect(error?.underlying is SampleError)
    }

    @Test func transportErrorNamesNoInterceptor() async {
        let queue = TestQueue(InMemoryTransport { _ in .failure(RequestError(.connectionLost, phase: .sending)) }) {
            $0.interceptors = [Passing()]
        }

        let error = await #expect(throws: RequestError.self) { try await queue.fetch(TextRequest()) }

        #expect(error?.code == .connectionLost && error?.interceptor == nil)
    }

    @Test func replacedErrorNamesNoInterceptor() async {
        let queue = TestQueue { $0.interceptors = [Catching(), Failing(place: .before)] }

        let error = await #expect(throws: RequestError.self) { try await queue.fetch(TextRequest()) }

        #expect(error?.code == .rejected && error?.interceptor == nil)
    }

    @Test func cancelledOperationDoesNotPrepareRetry() async throws {
        let (adapted, census) = (Recorder<Int>(), Census())
        let (isAsked, mayAnswer) = (Gate(), Gate())
        do {
            let queue = TestQueue(InMemoryTransport { _ in .status(.serviceUnavailable) }) {
                $0.interceptors = [
                    .adapting { _ in adapted.record(1) },
                    .retrying { _ in
                        isAsked.open()
                        try? await mayAnswer.wait()
                        return .retry(after: .zero)
                    },
                ]
            }
            let probe = Probe(adding: TextRequest(life: census.life()), to: queue)
            try await isAsked.wait()

            probe.operation.cancel()
            mayAnswer.open()
            _ = await probe.ended()
        }

        // The operation is released after its run.
        await census.extinction()
        #expect(adapted.count == 1)
    }

    /// A failover interceptor must not mistake the request for the next part of a download for a failure.
    @Test func interceptorsSeeNoErrorBetweenDownloadParts() async throws {
        let caught = Recorder<String>()
        let asked = Recorder<String?>()
        let whole = Data("0123456789".utf8)
        let transport = InMemoryTransport { request in
            let range = request.headers[.range]
            asked.record(range)
            guard let range, let first = Int(range.dropFirst("bytes=".count).prefix { $0.isNumber }) else {
                let headers: HTTPHeaders = [.eTag: "\"a\"", .contentLength: "10"]
                return StubResponse.status(.ok, headers: headers, body: whole).reset(after: 4)
            }
            let last = min(first + 2, 9)
            let headers: HTTPHeaders = [.eTag: "\"a\"", .contentRange: "bytes \(first)-\(last)/10"]
            return .status(.partialContent, headers: headers, body: whole[first...last])
        }
        let queue = TestQueue(transport) {
            $0.retry = RetryPolicy(limit: 1, backoff: .none)
            $0.interceptors = [
                .intercepting { request, next in
                    do {
                        return try await next(request)
                    } catch {
                        caught.record("\((error as? RequestError)?.code ?? .other)")
                        throw error
                    }
                }
            ]
        }
        let folder = TemporaryFolder()

        let file = try await queue.fetch(
            Download(HTTPRequest(url: home), to: .file(folder.url.appendingPathComponent("file")))
        )

        #expect(try Data(contentsOf: file) == whole)
        // Only the lost connection of the first transfer; each part is a transfer of the second attempt.
        #expect(caught.elements == ["connectionLost"])
        #expect(asked.elements == [nil, "bytes=4-", "bytes=7-"])
    }
}
