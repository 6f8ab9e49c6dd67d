// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The state that the connection of a socket shares with the code that uses the socket.
///
/// The state machine is protected by a lock; the actions of a step are performed after unlocking.
package final class SocketCore: UpgradedConnection {
    typealias Reply<Value> = CheckedContinuation<Result<Value, RequestError>, Never>

    /// The settings of a socket.
    struct Settings: Sendable {
        var maximumMessageSize: Int
        /// The number of bytes above which a side waits.
        var bufferSize: Int
        /// The maximum time without data.
        var timeout: Duration
        var clock: any Clock<Duration>
    }

    /// The maximum time that the peer has to close the connection.
    private static let closingTime = Duration.seconds(5)
    /// The same after a cancellation, since the operation finishes only when the connection has ended.
    private static let cancellationGracePeriod = Duration.seconds(1)

    package static var upgradeToken: String { "websocket" }
    package static var title: String { "a WebSocket" }

    /// Pauses and cancels the connection.
    private let flow: FlowControl
    /// The facts for errors.
    private let context: ReceivingContext
    /// The bytes for the transport.
    package let source: TransportRequest.UpgradeSource
    private let settings: Settings
    private let state: Locked<SocketState>

    init(_ settings: Settings, _ flow: FlowControl, _ context: ReceivingContext) {
        let state = Locked(SocketState(settings))
        (self.settings, self.state, self.flow, self.context) = (settings, state, flow, context)
        source = TransportRequest.UpgradeSource { buffer in
            let (count, due) = state.withLock { ($0.take(into: buffer), $0.takeDue()) }
            for action in due { action() }
            return count
        }
    }

    var closing: (code: WebSocket.CloseCode, reason: String)? { state.withLock { $0.closing } }

    // MARK: The connection

    package static func flaw(in head: HTTPResponseHead, to headers: HTTPHeaders) -> String? {
        WebSocketHandshake.flaw(in: head, to: headers)
    }

    package func begin(
        _ request: TransportRequest,
        over transport: any HTTPTransport,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> (any TransferHandle)? {
        #if !canImport(FoundationNetworking)
        guard let session = transport as? any SessionTransport else { return nil }
        let size = settings.maximumMessageSize
        return SessionSocket.start(request, over: session, maximumMessageSize: size, receive: receive)
        #else
        return nil
        #endif
    }

    /// Begins to watch the connection.
    package func open(onClose: @escaping @Sendable () -> Void) {
        change { $0.onClose = onClose }
        watch()
    }

    package func receive(_ data: Data) {
        change { $0.receive(data) }
    }

    package func end(_ error: RequestError?) {
        change { $0.connectionEnded(error) }
    }

    /// Closes the socket, because nothing uses it any more; its users get the error.
    package func cancel(_ error: RequestError) {
        change { $0.end(.failure(error), sending: .goingAway) }
        limitClosing(to: Self.cancellationGracePeriod)
    }

    /// Ends the connection if the peer doesn't.
    private func limitClosing(to time: Duration) {
        guard change({ $0.limitClosing(to: time) }) else { return }
        let timer = DelayedAction(after: time, on: settings.clock) { [flow] in flow.cancel() }
        // Another thread may have set a shorter time since.
        change { if $0.closingTime == time { $0.replaceTimer(by: timer) } else { $0.due.append(timer.cancel) } }
    }

    /// Checks several times per timeout whether the peer has sent anything, and pings it if not.
    private func watch(_ number: Int = 1) {
        let interval = SocketState.checkInterval(timeout: settings.timeout)
        let timer = DelayedAction(after: interval, on: settings.clock) { [weak self] in
            guard let self, change({ $0.checkLife() }) else { return }
            watch(number + 1)
        }
        change { if $0.ending == nil { $0.replaceTimer(by: timer, number) } else { $0.due.append(timer.cancel) } }
    }

    // MARK: Its users

    /// Waits for the next message; `nil` at the end.
    func next() async throws(RequestError) -> WebSocket.Message? {
        let next = if let next = change({ $0.takeNext() }) { next } else { await wait { $0.read($1, $2) } }
        return try next.mapError(context.complete).get()
    }

    func send(_ message: WebSocket.Message) async throws(RequestError) {
        let sent = if let sent = change({ $0.send(message) }) { sent } else { await wait { $0.send(message, $1, $2) } }
        try sent.mapError(context.complete).get()
    }

    func ping() async throws(RequestError) {
        try await wait { $0.ping($1, $2) }.mapError(context.complete).get()
    }

    func close(_ code: WebSocket.CloseCode, reason: String = "") async {
        change { $0.end(.success(nil), sending: code, reason: reason) }
        await over()
    }

    /// Waits for the end of the connection.
    func over() async {
        _ = await wait { $0.awaitEnd($1, $2) }
    }

    private func wait<Value: Sendable>(
        _ begin: (inout SocketState, Reply<Value>, Int) -> Void
    ) async -> Result<Value, RequestError> {
        let number = change { $0.nextNumber() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { reply in
                change { begin(&$0, reply, number) }
                // The cancellation handler may have run before the wait was registered.
                if Task.isCancelled { change { $0.withdraw(number) } }
            }
        } onCancel: {
            change { $0.withdraw(number) }
        }
    }

    /// Changes the state, and performs the resulting actions.
    @discardableResult
    private func change<Value: Sendable>(_ change: (inout SocketState) -> Value) -> Value {
        let (value, due, wakes, closes) = state.withLock { state in
            let value = change(&state)
            return (value, state.takeDue(), state.machine.pendingCount > 0, state.needsClosingTime)
        }
        if wakes { source.wake() }
        for action in due { action() }
        if closes { limitClosing(to: Self.closingTime) }
        state.drain(
            next: { $0.pauses.next($0.isFull) },
            completed: { $0.pauses.didEmit() },
            perform: { flow.setFull($0) }
        )
        return value
    }
}
