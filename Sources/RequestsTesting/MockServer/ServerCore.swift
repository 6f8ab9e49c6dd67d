// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Requests

/// What the threads of a server share: the state, the listener and the signal to stop.
final class ServerCore: Sendable {
    struct State: Sendable {
        var handler: MockServer.Handler?
        var routes: [Route: Answer] = [:]
        var queue: [MockResponse] = []
        /// Whether an answer may be due before the body; otherwise nobody need look at each head.
        var mayAnswerEarly = false
        var requests: [RecordedRequest] = []
        var accepted = 0
        var open = 0
        var isStopped = false
        var nextWaiter = 0
        var waiters: [Int: ServerWaiter] = [:]
    }

    let state: Locked<State>
    let port: Int
    /// Becomes readable when the server stops; part of every `poll`.
    let stopSignal: Wakeup
    /// Opens when the server stops; ends the waits of handlers.
    let stopGate = Gate()
    private let listener: Socket
    /// Every thread is a member, as long as it runs.
    private let threads = DispatchGroup()

    init(_ handler: MockServer.Handler?) throws(MockServerError) {
        stopSignal = try Wakeup()
        (listener, port) = try Socket.listener(backlog: 1024)
        state = Locked(State(handler: handler))
        // Entered here, so that a stop before the start has the thread to wait for that closes the listener.
        threads.enter()
    }

    /// Starts to accept connections; called once.
    func start() {
        startThread("accept") { [self] in
            acceptConnections()
            listener.dispose()
            threads.leave()
        }
    }

    func stop() {
        let waiters = state.withLock { state -> [Int: ServerWaiter] in
            state.isStopped = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        stopSignal.signal()
        stopGate.open()
        for waiter in waiters.values { waiter.continuation.resume(throwing: MockServerError.stopped) }
        // A handler that stops its own server would wait for itself.
        if Gate.ending !== stopGate { threads.wait() }
    }

    private func acceptConnections() {
        var descriptors = [
            pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0), stopSignal.pollDescriptor,
        ]
        while awaitReadiness(&descriptors), descriptors[1].revents == 0 {
            switch listener.acceptConnection() {
            case .accepted(let socket):
                begin(socket)
            case .none:
                break
            case .exhausted:
                // The listener stays readable: without a pause this would be a busy loop.
                var stop = [stopSignal.pollDescriptor]
                _ = awaitReadiness(&stop, until: .now + .milliseconds(5))
            }
        }
    }

    private func begin(_ socket: Socket) {
        let number = state.withLock { state in
            defer {
                state.accepted += 1
                state.open += 1
            }
            return state.accepted
        }
        notify()
        threads.enter()
        startThread("connection \(number)") { [self] in
            Gate.$ending.withValue(stopGate) {
                var connection = Connection(number: number, socket: socket, core: self)
                connection.run()
            }
            socket.dispose()
            state.withLock { $0.open -= 1 }
            notify()
            threads.leave()
        }
    }

    /// Records a request whose head is there and says what to answer, where that doesn't wait for the body.
    func respondEarly(
        to message: @autoclosure () -> RequestParser.Message,
        on connection: Int
    ) -> (RecordedRequest, MockResponse)? {
        guard state.withLock({ $0.mayAnswerEarly }) else { return nil }
        let message = message()
        let (early, waiters) = state.withLock { state in
            let request = RecordedRequest(message, connection: connection, index: state.requests.count)
            guard case .fixed(let response) = state.answer(to: request), response.isEarly else {
                return ((RecordedRequest, MockResponse)?.none, [CheckedContinuation<Void, any Error>]())
            }
            _ = state.takeAnswer(to: request)
            state.requests.append(request)
            return ((request, response), state.takeSatisfiedWaiters())
        }
        for waiter in waiters { waiter.resume() }
        return early
    }

    /// Records a complete request and says what to answer.
    func respond(to message: RequestParser.Message, on connection: Int) -> (RecordedRequest, MockResponse) {
        let (request, answer, waiters) = state.withLock { state in
            let request = RecordedRequest(message, connection: connection, index: state.requests.count)
            state.requests.append(request)
            return (request, state.takeAnswer(to: request), state.takeSatisfiedWaiters())
        }
        for waiter in waiters { waiter.resume() }
        switch answer {
        case .fixed(let response):
            return (request, response)
        case .made(let handler):
            do {
                return (request, try handler(request))
            } catch {
                return (request, .text("the handler threw: \(error)", status: .internalServerError))
            }
        }
    }

    private func notify() {
        for waiter in state.withLock({ $0.takeSatisfiedWaiters() }) { waiter.resume() }
    }

    private func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = "MockServer \(port) \(name)"
        thread.start()
    }
}

extension RecordedRequest {
    init(_ message: RequestParser.Message, connection: Int, index: Int) {
        self.init(
            method: message.head.method,
            target: message.head.target,
            version: message.head.version,
            headers: message.head.headers,
            body: message.body,
            trailers: message.trailers,
            rawBytes: message.rawBytes,
            connection: connection,
            index: index
        )
    }
}
