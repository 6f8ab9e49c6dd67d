// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Stale responses that the server allows clients to use (RFC 5861).
@Suite(.bounded) struct StaleResponseTests {
    private let clock = ManualDate()
    private let transport = ManualTransport()

    private func makeClient() -> HTTPClient {
        let cache = ResponseCache(now: { [clock] in clock.now })
        return HTTPClient(transport: transport) { $0.cache = cache }
    }

    private func transfer(_ number: Int) async throws -> ManualTransfer {
        try await transport.awaitTransfer(count: number)
    }

    private func text(
        of request: HTTPRequest = HTTPRequest(url: server),
        from client: HTTPClient?
    ) async throws -> String {
        String(decoding: try await client?.send(request).body ?? Data(), as: UTF8.self)
    }

    /// Returns the stored response of a client's cache for a request, without a transfer.
    private func kept(_ request: HTTPRequest, by client: HTTPClient) async throws -> String {
        var request = request
        request.cachePolicy = .returnCacheDataDontLoad
        return try await text(of: request, from: client)
    }

    private func answer(
        _ transfer: ManualTransfer,
        _ headers: HTTPHeaders,
        status: HTTPStatus = .ok,
        _ text: String = ""
    ) {
        transfer.receive(.head(HTTPResponseHead(status: status, headers: headers)))
        if !text.isEmpty { transfer.receive(.data(Data(text.utf8))) }
        transfer.receive(.end(nil))
    }

    /// Sends a request, and completes the transfer that it needs.
    private func fill(_ client: HTTPClient, _ headers: HTTPHeaders, _ text: String) async throws {
        let operation = client.addRequest(HTTPRequest(url: server))
        answer(try await transfer(1), headers, text)
        await operation.end()
    }

    @Test func backgroundRevalidationReleasesOperation() async throws {
        let client = makeClient()
        try await fill(client, [.cacheControl: "max-age=1, stale-while-revalidate=60"], "old")
        clock.advance(by: 10)
        weak var finished: DataOperation<HTTPRequest>?
        do {
            let operation = client.addRequest(HTTPRequest(url: server))
            finished = operation
            await operation.end()
        }
        let validation = try await transfer(2)

        try await eventually { finished == nil }
        answer(validation, [.cacheControl: "max-age=60"], "new")
    }

    @Test func heuristicLifetimeAllowsStaleIfError() async throws {
        let headers: HTTPHeaders = [
            .cacheControl: "stale-if-error=60", .lastModified: HTTPDate(CacheSample.start - 100_000_000).rawValue,
        ]
        let transport = InMemoryTransport.answering([
            .status(.ok, headers: headers, body: Data("old".utf8)), .status(.badGateway),
        ])
        let clock = ManualDate(CacheSample.start)
        let cache = ResponseCache(identity: .cookies(ignoring: ["_ga"]), now: { clock.now })
        let client = HTTPClient(transport: transport) { $0.cache = cache }
        let request = CacheSample.get([.cookie: "_ga=1"])

        #expect(try await text(of: request, from: client) == "old")
        // The heuristic lifetime is one day, so the response has been stale for half a minute.
        clock.advance(by: 24 * 60 * 60 + 30)
        #expect(try await text(of: request, from: client) == "old")
        #expect(transport.requests.count == 2)
    }

    @Test func staleResponseIsServedDuringSingleRevalidation() async throws {
        let client = makeClient()
        try await fill(client, [.cacheControl: "max-age=60, stale-while-revalidate=60", .eTag: "\"1\""], "old")
        clock.advance(by: 90)

        for _ in 1...3 { #expect(try await text(from: client) == "old") }
        let validation = try await transfer(2)
        #expect(validation.request.headers[.ifNoneMatch] == "\"1\"")
        #expect(transport.transfers.count == 2)

        answer(validation, [.cacheControl: "max-age=60, stale-while-revalidate=60"], "new")
        try await eventually { try await kept(HTTPRequest(url: server), by: client) == "new" }
        #expect(try await text(from: client) == "new")
        #expect(transport.transfers.count == 2)
    }

    @Test func revalidationKeepsTrustAndCookies() async throws {
        let client = makeClient()
        let request = Get<Data>(HTTPRequest(url: server), decoding: .data).trust(.only([]))
        let operation = client.addRequest(request)
        let headers: HTTPHeaders = [.cacheControl: "max-age=60, stale-while-revalidate=60"]
        answer(try await transfer(1), headers, "old")
        await operation.end()
        clock.advance(by: 90)

        #expect(try await client.fetch(request) == Data("old".utf8))
        let validation = try await transfer(2)
        #expect(validation.request.trust == .only([]))
        answer(validation, headers.with(HTTPField(.setCookie, "theme=dark")), "new")

        try await eventually { client.environment.cookies?.cookies(for: server).map(\.rawValue) == ["theme=dark"] }
    }

    @Test func revalidationWithoutCookiesStoresNone() async throws {
        let client = makeClient()
        var request = HTTPRequest(url: server)
        request.usesCookies = false
        let headers: HTTPHeaders = [.cacheControl: "max-age=60, stale-while-revalidate=60"]
        let operation = client.addRequest(request)
        answer(try await transfer(1), headers, "old")
        await operation.end()
        clock.advance(by: 90)

        #expect(try await text(of: request, from: client) == "old")
        answer(try await transfer(2), headers.with(HTTPField(.setCookie, "theme=dark")), "new")

        try await eventually { try await kept(request, by: client) == "new" }
        #expect(client.environment.cookies?.cookies(for: server).isEmpty == true)
    }

    @Test func revalidationEndsWithItsClient() async throws {
        var client: HTTPClient? = makeClient()
        try await fill(try #require(client), [.cacheControl: "max-age=1, stale-while-revalidate=60"], "old")
        clock.advance(by: 30)

        #expect(try await text(from: client) == "old")
        let validation = try await transfer(2)
        #expect(validation.cancelCount == 0)
        client = nil

        try await validation.awaitCancel()
        validation.receive(.end(RequestError(.cancelled, phase: .sending)))
    }

    @Test func staleIfErrorWorksWithoutValidator() async throws {
        let client = makeClient()
        try await fill(client, [.cacheControl: "max-age=1, stale-if-error=60"], "old")
        clock.advance(by: 30)

        let lost = client.addRequest(HTTPRequest(url: server))
        try await transfer(2).receive(.end(RequestError(.connectionLost, phase: .sending)))
        await lost.end()
        #expect(lost.result?.value == Data("old".utf8))

        let failed = client.addRequest(HTTPRequest(url: server))
        answer(try await transfer(3), [:], status: .serviceUnavailable)
        await failed.end()
        #expect(failed.result?.value == Data("old".utf8))
    }

    @Test(arguments: [RequestError.Code.untrusted, .badResponse, .bodyTooLarge])
    func staleIfErrorDoesNotHideOtherErrors(code: RequestError.Code) async throws {
        let client = makeClient()
        try await fill(client, [.cacheControl: "max-age=1, stale-if-error=60"], "old")
        clock.advance(by: 30)

        let operation = client.addRequest(HTTPRequest(url: server))
        try await transfer(2).receive(.end(RequestError(code, phase: .sending)))
        await operation.end()

        #expect(operation.result?.error?.code == code)
    }

    @Test func freshErrorResponseIsServedFromCache() async throws {
        let client = makeClient()
        for number in 1...2 {
            let operation = client.addRequest(HTTPRequest(url: server))
            if number == 1 { answer(try await transfer(1), [.cacheControl: "max-age=60"], status: .serviceUnavailable) }
            await operation.end()
            #expect(operation.result?.error?.response?.status == .serviceUnavailable)
        }

        #expect(transport.transfers.count == 1)
    }

    @Test(arguments: [
        ("bytes=0-1", "01", "bytes 0-1/10"), ("bytes=7-", "789", "bytes 7-9/10"), ("bytes=-3", "789", "bytes 7-9/10"),
        ("bytes=5-99", "56789", "bytes 5-9/10"),
    ])
    func rangeIsServedFromCompleteResponse(range: String, text: String, field: String) async throws {
        let client = makeClient()
        try await fill(client, [.cacheControl: "max-age=60"], "0123456789")

        let part = try await client.send(HTTPRequest(url: server, headers: [.range: range]))

        #expect(part.status == .partialContent && part.body == Data(text.utf8) && part.headers[.contentRange] == field)
        #expect(transport.transfers.count == 1)
    }
}

extension HTTPHeaders {
    fileprivate func with(_ field: HTTPField) -> HTTPHeaders {
        var headers = self
        headers.add(field)
        return headers
    }
}
