// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Detached requests, which outlive the operation that sends them.
@Suite(.bounded) struct DetachedRequestTests {
    /// Sends an additional request for each request that it sees.
    private struct ReadingAhead: Interceptor {
        let seen = Recorder<String>()
        let begun = Recorder<Bool>()
        let ends = Recorder<RequestError.Code?>()

        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            seen.record(request.url.lastPathComponent)
            let isBegun = context.detached(HTTPRequest("ahead")) { result in
                if case .failure(let error) = result { ends.record(error.code) } else { ends.record(nil) }
            }
            begun.record(isBegun)
        }
    }

    private let transport = ManualTransport()
    private let interceptor = ReadingAhead()

    private func makeClient() -> HTTPClient {
        HTTPClient(baseURL: server, maxConcurrentRequests: 1, transport: transport) { $0.interceptors = [interceptor] }
    }

    private func transfer(to path: String) async throws -> ManualTransfer {
        try await eventually { transport.transfers.contains { $0.request.url.lastPathComponent == path } }
        return try #require(transport.transfers.first { $0.request.url.lastPathComponent == path })
    }

    private func end(_ transfer: ManualTransfer) {
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.end(nil))
    }

    @Test func detachedRequestOutlivesItsOperation() async throws {
        let client = makeClient()
        let operation = client.addRequest(HTTPRequest("recipes"))
        let ahead = try await transfer(to: "ahead")

        operation.cancel()
        end(try await transfer(to: "recipes"))
        await operation.end()
        #expect(ahead.cancelCount == 0)
        end(ahead)

        #expect(await interceptor.ends.first(1) == [nil])
        #expect(interceptor.seen.elements == ["recipes"])
    }

    @Test func detachedRequestsAreDeduplicated() async throws {
        let client = makeClient()
        for number in 1...3 {
            let operation = client.addRequest(HTTPRequest("\(number)"))
            end(try await transfer(to: "\(number)"))
            await operation.end()
        }
        #expect(interceptor.begun.elements == [true, false, false])
        end(try await transfer(to: "ahead"))
        await interceptor.ends.first(1)

        client.addRequest(HTTPRequest("4"))
        #expect(await interceptor.begun.first(4).last == true)
    }

    @Test func detachedRequestEndsWithLastClient() async throws {
        var client: HTTPClient? = makeClient()
        var derived = client?.inheriting { $0.headers["X-Role"] = "admin" }
        let operation = try #require(client?.addRequest(HTTPRequest("recipes")))
        let ahead = try await transfer(to: "ahead")
        end(try await transfer(to: "recipes"))
        await operation.end()

        client = nil
        #expect(derived != nil && ahead.cancelCount == 0)
        derived = nil
        try await ahead.awaitCancel()
        ahead.receive(.end(RequestError(.cancelled, phase: .sending)))

        #expect(await interceptor.ends.first(1) == [.cancelled])
    }
}
