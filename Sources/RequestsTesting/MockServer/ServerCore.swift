// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Requests

/// The state, the listener, and the stop signal that the threads of a server share.
final class ServerCore: Sendable {
    struct State: Sendable {
        var handler: MockServer.Handler?
        var routes: [Route] = []
        var queue: [StubResponse] = []
        /// Whether any response may be due before the request's content; otherwise, request heads needn't be checked.
        var hasEarlyResponse = false
        var requests: [ReceivedRequest] = []
        var maximumRecordedRequests = Int.max
        var requestCount = 0
        var acceptedCount = 0
        var openCount = 0
        var isStopped = false
    }

    let state: AwaitableState<State>
    let configuration: MockServer.Configuration
    let port: Int
    /// Signals that the server stops; every `poll` includes it.
    let stopSignal: Wakeup
    /// The gate that opens when the server stops, and ends the waits of handlers.
    let stopGate = Gate()
    private let listener: Socket
    /// Signals that a connection was closed; `nil` if connections aren't limited.
    private let connectionClosedSignal: Wakeup?
    /// The group of all running threads.
    private let threads = DispatchGroup()

    init(_ configuration: MockServer.Configuration, _ handler: MockServer.Handler?) throws(SystemError) {
        self.configuration = configuration
        guard let port = UInt16(exactly: configuration.port) else { throw SystemError("bind", EINVAL) }
        stopSignal = try Wakeup()
        connectionClosedSignal = configuration.maximumConnections == nil ? nil : try Wakeup()
        (listener, self.port) = try Socket.listener(port: port, backlog: 1024)
        state = AwaitableState(
            State(handler: handler, maximumRecordedRequests: max(0, configuration.maximumRecordedRequests))
        )
        // Enter the group here, so that `stop()` waits for the thread that closes the listener even if that thread
        // hasn't started yet.
        threads.enter()
    }

    /// Starts accepting connections; must be called once.
    func start() {
        startThread("accept") { [self] in
            acceptConnections()
            listener.dispose()
            threads.leave()
        }
    }

    func stop() {
        // The handler and the routes may retain the server. Remove them here, and deallocate them outside the lock.
        let previous = state.withLock { state in
            let removed = (state.handler, state.routes, state.queue)
            state.isStopped = true
            (state.handler, state.routes, state.queue) = (nil, [], [])
            return removed
        }
        defer { withExtendedLifetime(previous) {} }
        stopSignal.signal()
        stopGate.open()
        // A handler that stops its own server must not wait for itself.
        if Gate.currentStopGate !== stopGate { threads.wait() }
    }

    private func acceptConnections() {
        var descriptors = [
            pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0), stopSignal.pollDescriptor,
        ]
        while awaitReadiness(&descriptors), descriptors[1].revents == 0 {
            guard waitForConnectionSlot() else { return }
            switch listener.acceptConnection() {
            case .accepted(let socket):
                begin(socket)
            case .none:
                break
            case .exhausted:
                // The listener remains readable, so without a pause, the loop would spin.
                var stop = [stopSignal.pollDescriptor]
                _ = awaitReadiness(&stop, until: .now + .milliseconds(5))
            }
        }
    }

    /// Waits until another connection is allowed; returns `false` if the server stops first.
    private func waitForConnectionSlot() -> Bool {
        guard let connectionClosedSignal, let limit = configuration.maximumConnections else { return true }
        var descriptors = [connectionClosedSignal.pollDescriptor, stopSignal.pollDescriptor]
        while true {
            // Clear the signal before the check, so that a connection that closes after the check ends the wait.
            connectionClosedSignal.clear()
            if state.withLock({ $0.openCount }) < max(1, limit) { return true }
            guard awaitReadiness(&descriptors), descriptors[1].revents == 0 else { return false }
        }
    }

    private func begin(_ socket: Socket) {
        let number = state.withLock { state in
            defer {
                state.acceptedCount += 1
                state.openCount += 1
            }
            return state.acceptedCount
        }
        threads.enter()
        startThread("connection \(number)") { [self] in
            Gate.$currentStopGate.withValue(stopGate) {
                var connection = Connection(number: number, socket: socket, core: self)
                connection.run()
                socket.dispose()
                if !connection.didReceiveFIN { recordClosedConnection() }
            }
            threads.leave()
        }
    }

    /// Records that a connection no longer counts as open, because it was closed, or half-closed by its client.
    func recordClosedConnection() {
        state.withLock { $0.openCount -= 1 }
        connectionClosedSignal?.signal()
    }

    /// Records a request whose head has arrived, and returns its response if that doesn't wait for the content.
    func respondEarly(
        to message: @autoclosure () -> RequestParser.Message,
        on connection: Int
    ) -> (ReceivedRequest, StubResponse)? {
        guard state.withLock({ $0.hasEarlyResponse }) else { return nil }
        let message = message()
        return state.withLock { state in
            var request = ReceivedRequest(message, connection: connection, index: state.requestCount)
            guard state.respondsEarly(to: request),
                case .scripted(let responses) = state.takeResponseSource(for: &request),
                let response = responses.first
            else { return nil }
            state.record(request)
            return (request, response)
        }
    }

    /// Records a complete request, and returns its response.
    func respond(to message: RequestParser.Message, on connection: Int) -> (ReceivedRequest, StubResponse) {
        let (request, source) = state.withLock { state in
            var request = ReceivedRequest(message, connection: connection, index: state.requestCount)
            let source = state.takeResponseSource(for: &request)
            state.record(request)
            return (request, source)
        }
        switch source {
        case .scripted(let responses):
            return (request, responses.first ?? .status(.notFound))
        case .handler(let handler):
            do {
                return (request, try handler(request))
            } catch {
                return (request, .text("the handler threw: \(error)", status: .internalServerError))
            }
        }
    }

    private func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "MockServer \(port) \(name)"
        thread.start()
    }
}

extension ReceivedRequest {
    init(_ message: RequestParser.Message, connection: Int, index: Int) {
        let head = message.head
        self.init(target: head.target, method: head.method, headers: head.headers, body: message.body)
        (version, trailers, rawBytes) = (head.version, message.trailers, message.rawBytes)
        (self.connection, self.index) = (connection, index)
    }

    /// Whether the client allows the connection to stay open (RFC 9112, 9.3); always `false` for HTTP/1.0.
    var keepsAlive: Bool { version != "HTTP/1.0" && !headers.requestsClose }
}

extension HTTPHeaders {
    /// Whether the connection must close after the message, according to the `Connection` field (RFC 9110, 7.6.1).
    var requestsClose: Bool {
        FieldScanner.members(of: self[values: .connection]).contains { $0.equalsIgnoringASCIICase("close") }
    }
}

extension ServerCore.State {
    /// Counts a request, and records it unless the maximum number is reached.
    mutating func record(_ request: ReceivedRequest) {
        requestCount += 1
        if requests.count < maximumRecordedRequests { requests.append(request) }
    }
}
