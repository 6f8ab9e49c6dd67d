// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// A run of a check, with its transport, its server, and the problems that the script of the check finds.
final class ConformanceTrial: Sendable {
    /// An error for a script that can't continue; the problem is already recorded.
    struct Abort: Error {}

    private struct State {
        var problems: [String] = []
        var transfers: [ObservedTransfer] = []
    }

    let transport: any HTTPTransport
    /// The built-in server of the trial; it receives no requests if the transport is tested with an external server.
    let server: MockServer
    /// The base URL of the server that the transport is tested with, without a trailing slash.
    private let address: String
    /// Whether the transport is tested with an external server, whose received requests the check can't inspect.
    let usesExternalServer: Bool
    let maximumWait: Duration
    private let state = Locked(State())

    init(_ transport: any HTTPTransport, at other: URL?, maximumWait: Duration) throws {
        self.transport = transport
        self.maximumWait = maximumWait
        server = try MockServer()
        usesExternalServer = other != nil
        let address = (other ?? server.url).absoluteString
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        server.addConformanceRoutes()
        server.route(.get, "/last", .text("last").closing)
    }

    // MARK: Problems

    /// The recorded problems, and the rules that events violated.
    var problems: [String] {
        let (problems, transfers) = state.withLock { ($0.problems, $0.transfers) }
        return problems
            + transfers.flatMap { transfer in
                transfer.log.violations.map { "\(transfer.name): \($0)" }
            }
    }

    /// The requests, each with its events.
    var transcript: [String] {
        state.withLock { $0.transfers }.map { "\($0.name): \($0.log)" }
    }

    func recordProblem(_ problem: String) {
        state.withLock { $0.problems.append(problem) }
    }

    func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
        if !condition { recordProblem(problem()) }
    }

    /// Waits briefly for events that must not occur, such as a second end event, because no event shows that they
    /// won't.
    func awaitLateEvents() async {
        for transfer in state.withLock({ $0.transfers }) where !transfer.log.hasEnded { transfer.cancel() }
        try? await Task.sleep(for: .milliseconds(20))
        server.stop()
    }

    // MARK: Sending

    /// Returns the URL of a request target.
    func url(_ target: String) -> URL { URL(string: address + target) ?? server.url(target) }

    /// Starts a transfer.
    func start(
        _ target: String,
        _ method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration? = nil,
        maximumBodySize: Int = .max,
        trust: TrustPolicy = .system,
        react: @escaping @Sendable (TransferEvent, ObservedTransfer) -> Void = { _, _ in }
    ) -> ObservedTransfer {
        let url = target.hasPrefix("/") ? self.url(target) : URL(string: target) ?? server.url
        let request = HTTPRequest(url: url, method: method, headers: headers, body: body)
        let transfer = prepareTransfer("\(method) \(target)")
        transfer.start(
            TransportRequest(request, timeout: timeout, maximumBodySize: maximumBodySize, trust: trust),
            over: transport,
            react: react
        )
        return transfer
    }

    /// Creates a transfer without starting it.
    func prepareTransfer(_ name: String) -> ObservedTransfer {
        let transfer = ObservedTransfer(name: name)
        state.withLock { $0.transfers.append(transfer) }
        return transfer
    }

    /// Waits for a transfer to finish, and returns its events.
    func finish(_ transfer: ObservedTransfer) async throws -> EventLog {
        try await wait(for: transfer.end, "\(transfer.name): no end was reported")
        return transfer.log
    }

    /// Sends a request, waits for the transfer to finish, and returns its events.
    func send(
        _ target: String,
        _ method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none
    ) async throws -> EventLog {
        try await finish(start(target, method, headers: headers, body: body))
    }

    // MARK: Waiting

    /// Waits for a gate, up to `maximumWait`.
    func wait(for gate: Gate, _ problem: String) async throws {
        do { try await gate.wait(timeout: maximumWait) } catch { throw abort("\(problem) within \(maximumWait)") }
    }

    /// Waits until the built-in server has received a request.
    @discardableResult
    func awaitRequest() async throws -> ReceivedRequest {
        do {
            return try await server.awaitRequest(timeout: maximumWait)
        } catch {
            throw abort("no request reached the server within \(maximumWait)")
        }
    }

    private func abort(_ problem: String) -> Abort {
        recordProblem(problem)
        return Abort()
    }

    /// Waits until the server has received a request; with an external server, waits for as long as that usually takes.
    func awaitArrival() async throws {
        guard usesExternalServer else { return _ = try await awaitRequest() }
        try await Task.sleep(for: .milliseconds(200))
    }

    // MARK: Expectations

    /// Expects that a transfer completed without an error, with this status and content.
    func expectResponse(
        _ log: EventLog,
        _ status: HTTPStatus = .ok,
        content: String? = nil,
        _ context: String = "the transfer"
    ) {
        expect(log.error == nil, "\(context) ended with \(log.error.map { "\($0)" } ?? "")")
        expect(
            log.head?.status == status,
            "\(context) has \(log.head.map { "\($0.status)" } ?? "no head"), expected \(status)"
        )
        if let content {
            let text = String(decoding: log.content.prefix(80), as: UTF8.self)
            expect(log.content == Data(content.utf8), "\(context) has \(log.content.count) bytes of content: \(text)")
        }
    }

    /// Expects that a transfer completed without an error, with this number of content bytes.
    func expectResponse(_ log: EventLog, byteCount: Int) {
        expectResponse(log)
        expect(log.content.count == byteCount, "received \(log.content.count) bytes, expected \(byteCount)")
    }

    /// Expects that a response of the server arrives with its status and content.
    func expectArrival(
        of response: StubResponse,
        at target: String = "/response",
        _ method: HTTPMethod = .get,
        content: String? = nil,
        context: String = "the transfer"
    ) async throws {
        server.route(method, target, response)
        expectResponse(try await send(target, method), response.status ?? .ok, content: content, context)
    }

    /// Expects that the built-in server has received this number of requests.
    func expectRequests(_ count: Int) {
        let seen = server.requests.count
        expect(seen == count, "\(seen) requests were sent, expected \(count)")
    }

    /// Expects an error with one of these codes, or any error if no code is given.
    func expectError(_ log: EventLog, _ codes: RequestError.Code..., context: String = "the transfer") {
        guard let error = log.error else { return recordProblem("\(context) ended without an error") }
        guard !codes.isEmpty, !codes.contains(error.code) else { return }
        recordProblem("\(context) ended with \(error), expected \(codes.map(\.name).joined(separator: " or "))")
    }

    /// Expects that the transport still works.
    ///
    /// With `closes`, the server closes the connection after the response, so that the next request needs a new
    /// connection.
    ///
    /// A peer that has just closed a connection, or sent more than it should, may break the next request on that
    /// connection. A transport must not retry such a request (RFC 9112, 9.3.1), so `allowsOneFailure` permits one
    /// failure.
    func expectStillWorking(
        after what: String,
        thenCloses closes: Bool = false,
        allowsOneFailure: Bool = false
    ) async throws {
        let target = closes ? "/last" : "/text"
        var log = try await send(target)
        if allowsOneFailure, [.connectionLost, .badResponse].contains(log.error?.code) { log = try await send(target) }
        expectResponse(log, content: closes ? "last" : "text", "the request after \(what)")
    }
}
