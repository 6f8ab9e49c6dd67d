// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The state that the connection of a socket shares with the code that uses the socket.
///
/// A lock protects the state machine. The actions that result from a change are performed after unlocking.
package final class SocketCore: UpgradedConnection {
    typealias Reply<Value> = CheckedContinuation<Result<Value, RequestError>, Never>

    struct Settings: Sendable {
        var maximumMessageSize: Int
        /// The number of buffered bytes above which the sender or the peer must wait.
        var bufferSize: Int
        /// The maximum time without data.
        var timeout: Duration
        var clock: any Clock<Duration>
    }

    /// The maximum time that the peer has to close the connection.
    private static let closingGracePeriod = Duration.seconds(5)
    /// The maximum time that the peer has after a cancellation; shorter, because the operation finishes only when the
    /// connection has ended.
    private static let cancellationGracePeriod = Duration.seconds(1)

    package static var upgradeToken: String { "websocket" }
    package static var title: String { "a WebSocket" }

    /// Pauses and cancels the connection.
    private let flow: FlowControl
    /// The context that is added to errors.
    private let context: ReceivingContext
    /// The source of the bytes that the transport sends.
    package let source: TransportRequest.UpgradeSource
    private let settings: Settings
    private let state: Locked<SocketState>

    init(_ settings: Settings, _ flow: FlowControl, _ context: ReceivingContext) {
        let state = Locked(SocketState(settings))
        (self.settings, self.state, self.flow, self.context) = (settings, state, flow, context)
        source = TransportRequest.UpgradeSource { buffer in
            let (count, actions) = state.withLock { ($0.take(into: buffer), $0.takeActions()) }
            for action in actions { action() }
            return count
        }
    }

    var closing: (code: WebSocket.CloseCode, reason: String)? { state.withLock { $0.closing } }

    // MARK: Connection

    package static func flaw(in head: HTTPResponseHead, to headers: HTTPHeaders) -> String? {
        WebSocketHandshake.flaw(in: head, to: headers)
    }

    package func startNatively(
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

    /// Starts checking whether the peer is alive.
    package func open(onClose: @escaping @Sendable () -> Void) {
        change { $0.onClose = onClose }
        scheduleLivenessCheck()
    }

    package func receive(_ data: Data) {
        change { $0.receive(data) }
    }

    package func end(_ error: RequestError?) {
        change { $0.connectionEnded(error) }
    }

    /// Closes a socket that is no longer used; pending calls fail with the given error.
    package func cancel(_ error: RequestError) {
        change { $0.end(.failure(error), sending: .goingAway) }
        limitClosing(to: Self.cancellationGracePeriod)
    }

    /// Cancels the connection if the peer doesn't end it in time.
    private func limitClosing(to time: Duration) {
        guard change({ $0.limitClosing(to: time) }) else { return }
        let timer = DelayedAction(after: time, on: settings.clock) { [flow] in flow.cancel() }
        // Another thread may have set a shorter limit in the meantime.
        change {
            if $0.closingTimeLimit == time { $0.replaceTimer(by: timer) } else { $0.actions.append(timer.cancel) }
        }
    }

    /// Checks several times per timeout whether the peer has sent anything, and pings it if it hasn't.
    private func scheduleLivenessCheck(_ generation: Int = 1) {
        let interval = SocketState.checkInterval(timeout: settings.timeout)
        let timer = DelayedAction(after: interval, on: settings.clock) { [weak self] in
            guard let self, change({ $0.checkLiveness() }) else { return }
            scheduleLivenessCheck(generation + 1)
        }
        change {
            if $0.ending == nil { $0.replaceTimer(by: timer, generation) } else { $0.actions.append(timer.cancel) }
        }
    }

    // MARK: Calls

    /// Returns the next message, and waits for it if necessary; `nil` at the end.
    func next() async throws(RequestError) -> WebSocket.Message? {
        let next = if let next = change({ $0.takeNext() }) { next } else { await wait { $0.enqueueReader($1, $2) } }
        return try next.mapError(context.addContext).get()
    }

    func send(_ message: WebSocket.Message) async throws(RequestError) {
        let sent = if let sent = change({ $0.send(message) }) { sent } else { await wait { $0.send(message, $1, $2) } }
        try sent.mapError(context.addContext).get()
    }

    func ping() async throws(RequestError) {
        try await wait { $0.ping($1, $2) }.mapError(context.addContext).get()
    }

    func close(_ code: WebSocket.CloseCode, reason: String = "") async {
        change { $0.end(.success(nil), sending: code, reason: reason) }
        await waitUntilOver()
    }

    /// Waits until the connection has ended.
    func waitUntilOver() async {
        _ = await wait { $0.awaitEnd($1, $2) }
    }

    private func wait<Value: Sendable>(
        _ begin: (inout SocketState, Reply<Value>, Int) -> Void
    ) async -> Result<Value, RequestError> {
        let id = change { $0.nextID() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { reply in
                change { begin(&$0, reply, id) }
                // The cancellation handler may have run before the call was registered.
                if Task.isCancelled { change { $0.cancelCall(id) } }
            }
        } onCancel: {
            change { $0.cancelCall(id) }
        }
    }

    /// Changes the state, and performs the resulting actions.
    @discardableResult
    private func change<Value: Sendable>(_ change: (inout SocketState) -> Value) -> Value {
        let (value, actions, wakes, closes) = state.withLock { state in
            let value = change(&state)
            return (value, state.takeActions(), state.machine.pendingCount > 0, state.needsClosingTimeLimit)
        }
        if wakes { source.wake() }
        for action in actions { action() }
        if closes { limitClosing(to: Self.closingGracePeriod) }
        state.drain(
            next: { $0.pauseFlag.next($0.isFull) },
            completed: { $0.pauseFlag.didEmit() },
            perform: { flow.setFull($0) }
        )
        return value
    }
}
