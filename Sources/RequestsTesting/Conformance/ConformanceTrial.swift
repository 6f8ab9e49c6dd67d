// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport, a server, and what went wrong between them: what the script of a check has in its hands.
final class ConformanceTrial: Sendable {
    /// Thrown by a script whose question doesn't arise.
    struct Skip: Error {
        let reason: String
    }

    /// Thrown where a script can't go on; the problem has been noted.
    struct Abort: Error {}

    private struct State {
        var problems: [String] = []
        var transfers: [WatchedTransfer] = []
    }

    let transport: any HTTPTransport
    /// Gets no request where the transport is put to another server.
    let server: MockServer
    /// The address of the server that the transport is put to, without a slash at its end.
    private let address: String
    /// Whether that is one that tells nothing.
    let isElsewhere: Bool
    let patience: Duration
    private let state = Locked(State())

    init(_ transport: any HTTPTransport, at other: URL?, patience: Duration) throws {
        self.transport = transport
        self.patience = patience
        server = try MockServer()
        isElsewhere = other != nil
        let address = (other ?? server.url).absoluteString
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        server.routeConformance()
        server.route(.get, "/last", .text("last").closing)
    }

    // MARK: What went wrong

    /// The problems that were noted, and the rules that events broke.
    var problems: [String] {
        let (problems, transfers) = state.withLock { ($0.problems, $0.transfers) }
        return problems
            + transfers.flatMap { transfer in
                transfer.log.violations.map { "\(transfer.name): \($0)" }
            }
    }

    /// The requests with their events.
    var transcript: [String] {
        state.withLock { $0.transfers }.map { "\($0.name): \($0.log)" }
    }

    func note(_ problem: String) {
        state.withLock { $0.problems.append(problem) }
    }

    func expect(_ condition: Bool, _ problem: @autoclosure () -> String) {
        if !condition { note(problem()) }
    }

    func skip(unless condition: Bool, _ reason: String) throws {
        if !condition { throw Skip(reason: reason) }
    }

    /// Gives what must not come the time to come: a second end has no other moment at which it is due.
    func settle() async {
        for transfer in state.withLock({ $0.transfers }) where !transfer.log.hasEnded { transfer.cancel() }
        try? await Task.sleep(for: .milliseconds(20))
        server.stop()
    }

    // MARK: Sending

    /// The address of a target.
    func url(_ target: String) -> URL { URL(string: address + target) ?? server.url(target) }

    /// Begins a transfer.
    func start(
        _ target: String,
        _ method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration? = nil,
        maximumBodySize: Int = .max,
        trust: TrustPolicy = .system,
        react: @escaping @Sendable (TransferEvent, WatchedTransfer) -> Void = { _, _ in }
    ) -> WatchedTransfer {
        let url = target.hasPrefix("/") ? self.url(target) : URL(string: target) ?? server.url
        let request = HTTPRequest(url: url, method: method, headers: headers, body: body)
        let transfer = WatchedTransfer(name: "\(method) \(target)")
        state.withLock { $0.transfers.append(transfer) }
        transfer.start(
            TransportRequest(request, timeout: timeout, maximumBodySize: maximumBodySize, trust: trust),
            over: transport,
            react: react
        )
        return transfer
    }

    /// Waits for the end of a transfer.
    func finish(_ transfer: WatchedTransfer) async throws -> EventLog {
        try await wait(for: transfer.end, "\(transfer.name): no end came")
        return transfer.log
    }

    /// Sends a request and waits for its end.
    func send(
        _ target: String,
        _ method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none
    ) async throws -> EventLog {
        try await finish(start(target, method, headers: headers, body: body))
    }

    // MARK: Waiting

    /// Waits for a gate, as long as patience lasts.
    func wait(for gate: Gate, _ problem: String) async throws {
        try await within(problem) {
            await gate.wait()
        } isLate: {
            gate.isOpen
        }
    }

    /// Waits until the server has so many requests.
    @discardableResult
    func awaitRequest(count: Int = 1) async throws -> RecordedRequest {
        try await within("request \(count) didn't reach the server") { [server] in
            (try? await server.awaitRequest(count: count)) != nil
        } isLate: { [server] in
            server.requests.count >= count
        }
        return server.requests[count - 1]
    }

    /// Waits until the server has a request; at a server that doesn't tell, so long as one takes.
    func awaitArrival() async throws {
        guard isElsewhere else { return _ = try await awaitRequest() }
        try await Task.sleep(for: .milliseconds(200))
    }

    /// Waits as long as patience lasts; what a busy machine tells of only then has come nonetheless.
    private func within(
        _ problem: String,
        _ body: @escaping @Sendable () async -> Bool,
        isLate: () -> Bool
    ) async throws {
        let patience = patience
        let isDone = await withTaskGroup(of: Bool.self) { group in
            group.addTask(operation: { await body() })
            group.addTask {
                try? await Task.sleep(for: patience)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        guard isDone || isLate() else {
            note("\(problem) within \(patience)")
            throw Abort()
        }
    }

    // MARK: Common expectations

    /// Expects an answer that was completed without an error.
    func expectAnswer(
        _ log: EventLog,
        _ status: HTTPStatus = .ok,
        content: String? = nil,
        _ context: String = "the transfer"
    ) {
        expect(log.error == nil, "\(context) ended with \(log.error.map { "\($0)" } ?? "")")
        expect(
            log.head?.status == status,
            "\(context) has \(log.head.map { "\($0.status)" } ?? "no head"), not \(status)"
        )
        if let content {
            let text = String(decoding: log.content.prefix(80), as: UTF8.self)
            expect(log.content == Data(content.utf8), "\(context) has \(log.content.count) bytes of content: \(text)")
        }
    }

    /// Expects an error of one of these codes; of any where there are none.
    func expectError(_ log: EventLog, _ codes: RequestError.Code..., context: String = "the transfer") {
        guard let error = log.error else { return note("\(context) ended without an error") }
        guard !codes.isEmpty, !codes.contains(error.code) else { return }
        note("\(context) ended with \(error), not \(codes.map(\.name).joined(separator: " or "))")
    }

    /// Expects that the transport still works; over a connection that ends with it, where the next is to be new.
    ///
    /// A peer that has just ended a connection without a word, or said more than it was asked, may have spoilt it for
    /// the next request, which a transport doesn't send again (RFC 9112, 9.3.1): `mayLose` allows for one such.
    func expectLife(after what: String, thenCloses closes: Bool = false, mayLose: Bool = false) async throws {
        let target = closes ? "/last" : "/text"
        var log = try await send(target)
        if mayLose, [.connectionLost, .badResponse].contains(log.error?.code) { log = try await send(target) }
        expectAnswer(log, content: closes ? "last" : "text", "the request after \(what)")
    }
}
