// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

@Suite(.bounded) struct WebSocketOperationTests {
    private let server: MockServer
    private let closed = Recorder<WebSocket.CloseCode?>()
    private let client: HTTPClient

    init() throws {
        server = try MockServer()
        client = HTTPClient(baseURL: server.url)
        server.route(
            .get,
            "/feed",
            .webSocket { socket in for text in ["a", "b"] { try socket.send(text) } }
        )
        server.route(
            .get,
            "/silent",
            .webSocket { [closed] socket in
                socket.awaitClose()
                closed.record(socket.closeCode)
            }
        )
        server.route(.get, "/text", .text("text"))
    }

    @Test func requestBuildsValueFromMessages() async throws {
        #expect(try await client.fetch(Feed()) == ["a", "b"])
        try await eventually { client.operations.isEmpty }
        try await server.awaitConnections(open: 0)
    }

    @Test func dependentOperationWaitsForSocketToEnd() async throws {
        let texts = Recorder<[String]>()
        let feed = client.addRequest(Feed())
        let after = BlockOperation { if case .success(let value)? = feed.result { texts.record(value) } }
        after.addDependency(feed)
        OperationQueue().addOperation(after)

        #expect(await texts.first(1) == [["a", "b"]])
    }

    @Test func returningValueClosesSocketNormally() async throws {
        let value = try await client.fetch(Feed(path: "silent") { _ in ["made"] })

        #expect(value == ["made"])
        #expect(await closed.first(1) == [.normalClosure])
    }

    @Test func thrownErrorClosesSocketAsGoingAway() async throws {
        struct Own: Error {}

        let error = await #expect(throws: RequestError.self) {
            try await client.fetch(Feed(path: "silent") { _ in throw Own() })
        }

        #expect(error?.underlying is Own)
        #expect(error?.response?.status == .switchingProtocols)
        #expect(await closed.first(1) == [.goingAway])
    }

    @Test func cancellationClosesSocketAndCancelsTask() async throws {
        let (isOpen, ends) = (Gate(), Recorder<String>())
        let operation = client.addRequest(
            Feed(path: "silent") { socket in
                isOpen.open()
                do { return try await socket.messages.reduce(into: []) { $0.append($1.text ?? "") } } catch {
                    ends.record("\((error as? RequestError)?.code.name ?? ""), \(Task.isCancelled)")
                    throw error
                }
            }
        )
        try await isOpen.wait()
        operation.cancel()

        let error = await #expect(throws: RequestError.self) { try await operation.value() }
        #expect(error?.code == .cancelled)
        #expect(await closed.first(1) == [.goingAway])
        #expect(await ends.first(1).first?.hasPrefix("cancelled") == true)
        try await eventually { operation.isFinished }
        #expect(closed.count == 1)
    }

    /// An unresponsive peer delays the end of the operation by at most one second.
    @Test func cancelledOperationFinishesAfterConnection() async throws {
        let (clock, isOpen) = (ManualClock(), Gate())
        server.route(.get, "/deaf", .webSocket { $0.ignore() })
        let client = client.inheriting { $0.clock = clock }
        let operation = client.addRequest(
            Feed(path: "deaf") { socket in
                isOpen.open()
                return try await socket.messages.reduce(into: []) { $0.append($1.text ?? "") }
            }
        )
        try await isOpen.wait()

        operation.cancel()
        #expect(operation.result != nil)
        #expect(!operation.isFinished)

        // While the socket is open, the clock has another sleeper, so the number of sleepers doesn't show that the end
        // is due.
        try await eventually {
            clock.advance(by: .seconds(1))
            return operation.isFinished
        }
        try await server.awaitConnections(open: 0)
    }

    @Test func unresponsivePeerIsDisconnected() async throws {
        let clock = ManualClock()
        server.route(.get, "/deaf", .webSocket { $0.ignore() })
        let socket = try await client.inheriting { $0.clock = clock }.webSocket("deaf")

        async let close: Void = socket.close()
        try await eventually {
            clock.advance(by: .seconds(1))
            return server.openConnections == 0
        }
        await close

        #expect(socket.closeCode == .abnormalClosure)
    }

    // MARK: Limits

    @Test func socketIgnoresClientConcurrencyLimits() async throws {
        let narrow = HTTPClient(baseURL: server.url, maxConcurrentRequests: 1) {
            $0.hostLimiter = HostLimiter(limit: 1)
        }

        let sockets = [try await narrow.webSocket("silent"), try await narrow.webSocket("silent")]
        let response = try await narrow.send(HTTPRequest("text"))

        #expect(response.status == .ok)
        try await eventually { narrow.operations.count == 2 }
        for socket in sockets { await socket.close() }
    }

    @Test func socketOccupiesOperationQueueSlot() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let ends = Recorder<String>()

        let socket = try await queue.webSocket(HTTPRequest(url: server.url("/silent")))
        queue.addOperation { ends.record("other") }
        #expect(ends.count == 0)
        await socket.close()

        #expect(await ends.first(1) == ["other"])
    }

    @Test func suspendedClientDefersSocket() async throws {
        client.isSuspended = true
        let operation = client.addRequest(Feed())
        #expect(client.operations.contains(operation))
        #expect(!operation.isExecuting)
        client.isSuspended = false

        #expect(try await operation.value() == ["a", "b"])
    }

    @Test func cancelAllRequestsCancelsSockets() async throws {
        let isOpen = Gate()
        let operation = client.addRequest(
            Feed(path: "silent") { socket in
                isOpen.open()
                return try await socket.messages.reduce(into: []) { $0.append($1.text ?? "") }
            }
        )
        try await isOpen.wait()
        client.cancelAllRequests()

        #expect(await closed.first(1) == [.goingAway])
        await #expect(throws: RequestError.self) { try await operation.value() }
    }

    // MARK: The pipeline

    @Test func failedHandshakeIsRetried() async throws {
        server.route(.get, "/busy", .status(.serviceUnavailable), .webSocket { try $0.send("open") })
        let client = client.inheriting { $0.retry = RetryPolicy(limit: 2, backoff: .none) }

        #expect(try await client.fetch(Feed(path: "busy")) == ["open"])
        #expect(server.requestCount == 2)
    }

    @Test func lostSocketIsNotRetried() async throws {
        server.route(.get, "/lost", .webSocket { $0.reset() })
        let client = client.inheriting { $0.retry = RetryPolicy(limit: 2, backoff: .none) }

        let error = await #expect(throws: RequestError.self) { try await client.fetch(Feed(path: "lost")) }

        #expect(error?.code == .connectionLost)
        #expect(server.requestCount == 1)
    }

    @Test func handshakeMetricsAreAvailableWhileOpen() async throws {
        let monitor = RecordingMonitor()
        let client = client.inheriting { $0.monitors = [monitor] }
        let isOpen = Gate()
        let operation = client.addRequest(
            Feed(path: "silent") { socket in
                isOpen.open()
                return try await socket.messages.reduce(into: []) { $0.append($1.text ?? "") }
            }
        )
        try await isOpen.wait()

        #expect(operation.response?.status == .switchingProtocols)
        #expect(operation.transfers.count == 1)
        let metrics = try #require(operation.metrics)
        #expect(metrics.connectEnd != nil)
        #expect(metrics.end != nil)
        #expect((metrics.responseHeadSize ?? 0) > 0)
        #expect(operation.urlRequest?.value(forHTTPHeaderField: "Sec-WebSocket-Key") != nil)
        operation.cancel()
        try await eventually { operation.isFinished }
        #expect("\(monitor.timeline)".contains("101"))
    }

    @Test func cURLCommandIncludesHandshakeFields() async throws {
        let client = client.inheriting { $0.validators = [] }
        let commands = Recorder<String?>()
        let probed = client.inheriting {
            $0.interceptors = [
                .transforming { response in commands.record(try response.cURL()) }
            ]
        }

        let socket = try await probed.webSocket("silent", protocols: ["chat"])
        await socket.close()

        let command = try #require(commands.elements.first ?? nil)
        #expect(command.contains("Upgrade: websocket"))
        #expect(command.contains("Sec-WebSocket-Protocol: chat"))
    }

    @Test func connectionLostOnResumeEndsSocket() async throws {
        let client = HTTPClient(baseURL: URL(string: "ws://feed.example"), transport: LosingTransport())
        let operation = client.makeOperation(for: Feed())

        operation.pause()
        client.addOperation(operation)
        let error = await #expect(throws: RequestError.self) { try await operation.value() }

        #expect(error?.code == .connectionLost)
        try await eventually { operation.isFinished }
    }
}

/// A transport that accepts a socket when it is paused, and loses it when it is resumed.
private final class LosingTransport: HTTPTransport {
    let capabilities: TransportCapabilities = [.concurrentDelivery, .pausing, .upgrades]

    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let transfer = LosingTransfer(request, receive)
        return transfer
    }
}

private final class LosingTransfer: TransferHandle {
    private let request: TransportRequest
    private let receive: @Sendable (TransferEvent) -> Void

    init(_ request: TransportRequest, _ receive: @escaping @Sendable (TransferEvent) -> Void) {
        (self.request, self.receive) = (request, receive)
    }

    func cancel() { receive(.end(RequestError(.cancelled, phase: .receiving))) }

    func pause() {
        let key = request.headers[WebSocketHandshake.keyName] ?? ""
        let headers: HTTPHeaders = [
            .upgrade: "websocket", .connection: "Upgrade",
            WebSocketHandshake.acceptName: WebSocketHandshake.accept(for: key),
        ]
        DispatchQueue.global().async { [receive] in
            receive(.head(HTTPResponseHead(status: .switchingProtocols, headers: headers)))
        }
    }

    func resume() { receive(.end(nil)) }
}
