// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting

/// A client with a cache. The test controls its clock and its server.
final class CacheTrial: Sendable {
    let cache: ResponseCache
    private let client: HTTPClient
    private let server = CacheTrialServer()
    private let clock = ManualDate()

    convenience init() {
        self.init { ResponseCache(now: $0) }
    }

    init(_ makeCache: (_ now: @escaping @Sendable () -> Date) throws -> ResponseCache) rethrows {
        cache = try makeCache { [clock] in clock.now }
        client = HTTPClient(transport: server) { [cache] in
            $0.headers = []
            $0.cookies = nil
            $0.cache = cache
        }
    }

    /// Sets the clock forward, or back.
    func advance(by seconds: TimeInterval) { clock.advance(by: seconds) }

    /// A request and its outcome.
    struct Exchange: Sendable {
        let request: HTTPRequest
        /// The request that reached the server, if any.
        let sent: TransportRequest?
        let response: HTTPResponse<Data>?
        let error: RequestError?

        /// How the cache was used, as one word for tables.
        var word: String {
            guard let sent else { return error == nil ? "fresh" : error?.code == .notCached ? "unavailable" : "failed" }
            if response?.headers.contains(.age) == true { return "stale" }
            let conditions: [HTTPField.Name] = [.ifNoneMatch, .ifModifiedSince]
            return conditions.contains { sent.headers[$0] != request.headers[$0] } ? "revalidate" : "miss"
        }

        var text: String? { response.map { String(decoding: $0.body, as: UTF8.self) } }
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - answer: The server's response, if it receives the request.
    ///   - delay: The time that the server takes to respond, in seconds.
    ///   - isSentLater: Whether to wait until the server has received the request, because a stale response may arrive
    ///     first.
    ///   - work: Called when the server receives the request.
    /// - Returns: The outcome.
    @discardableResult
    func send(
        _ request: HTTPRequest = CacheSample.get(),
        _ answer: StubResponse = .text("new"),
        delay: TimeInterval = 0,
        isSentLater: Bool = false,
        meanwhile work: @escaping @Sendable () -> Void = {}
    ) async -> Exchange {
        let isAsked = server.prepare(answer, delay, work)
        var (response, failure): (HTTPResponse<Data>?, RequestError?)
        do { response = try await client.send(request.acceptingAnyStatus()) } catch { failure = error }
        if isSentLater { try? await isAsked.wait(timeout: .seconds(10)) }
        return Exchange(request: request, sent: server.asked, response: response, error: failure)
    }

    /// Sends a request whose response is received as a stream.
    func stream(_ request: HTTPRequest, _ answer: StubResponse) async throws {
        _ = server.prepare(answer, 0) {}
        for try await _ in try await client.stream(request.acceptingAnyStatus()) {}
    }

    /// Loads a response with the body “content” from the server.
    func load(
        _ headers: HTTPHeaders = [.cacheControl: "max-age=60"],
        status: HTTPStatus = .ok,
        for request: HTTPRequest = CacheSample.get(),
        delay: TimeInterval = 0,
        meanwhile work: @escaping @Sendable () -> Void = {}
    ) async {
        let answer = StubResponse.status(status, headers: headers, body: Data("content".utf8))
        await send(request, answer, delay: delay, meanwhile: work)
    }

    /// Whether a response for an address is stored, fresh or not.
    func isStored(for url: URL = CacheSample.url) -> Bool { !cache.responses(for: url).isEmpty }
}

/// A transport without a network that reports how long a response takes, by its own clock.
private final class CacheTrialServer: HTTPTransport {
    private struct State {
        var answer = StubResponse.status(.ok)
        var metrics = TransferRecord.Metrics(start: CacheSample.start)
        var asked: TransportRequest?
        var isAsked = Gate()
        var work: @Sendable () -> Void = {}
    }

    private let state = Locked(State())

    var capabilities: TransportCapabilities { [.concurrentDelivery, .bodyWithAnyMethod] }

    /// The request since the last preparation.
    var asked: TransportRequest? { state.withLock { $0.asked } }

    /// Prepares a response, and returns a gate that opens when the server receives the request.
    func prepare(_ answer: StubResponse, _ delay: TimeInterval, _ work: @escaping @Sendable () -> Void) -> Gate {
        state.withLock { state in
            state = State(answer: answer, work: work)
            state.metrics.end = .seconds(delay)
            return state.isAsked
        }
    }

    func send(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle {
        let state = state.withLock { state in
            state.asked = request
            return state
        }
        defer { state.isAsked.open() }
        state.work()
        return InMemoryTransport { _ in state.answer }.send(request) { event in
            if case .end = event { receive(.metrics(state.metrics)) }
            receive(event)
        }
    }
}
