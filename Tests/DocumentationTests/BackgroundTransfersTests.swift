// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The snippets of BackgroundTransfers that run on every system; Apple's are in AppleRecipes.
@Suite(.bounded) struct BackgroundTransfersTests {
    private struct Stopwatch: Interceptor {
        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            try await next(request)
        }
    }

    private let client = HTTPClient(
        baseURL: URL(string: "https://api.example.com"),
        transport: InMemoryTransport { _ in .text("") }
    ) {
        $0.headers[.userAgent] = "Films/1"
    }

    @Test func preparesURLRequest() async throws {
        let request = try await client.urlRequest(for: Get<Data>("films/7"))

        #expect(request.url?.absoluteString == "https://api.example.com/films/7")
        #expect(request.value(forHTTPHeaderField: "User-Agent") == "Films/1")
    }

    @Test func bypassesTransferInterceptor() async throws {
        let client = client.inheriting { $0.interceptors = [Stopwatch()] }

        let error = await #expect(throws: RequestError.self) {
            try await client.urlRequest(for: Get<Data>("films/7"))
        }
        #expect(error?.code == .unsupported && error?.reason?.contains("Stopwatch") == true)

        let request = try await client.urlRequest(for: Get<Data>("films/7").bypassing(Stopwatch.self))

        #expect(request.httpMethod == "GET")
    }
}
