// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that upgrades the connection of its request, and creates its value while the connection is open.
///
/// Until the 101 response, the operation is like any other. From then on, it doesn't occupy a slot of the host, and the
/// deadline of the environment no longer applies. A deadline of the request itself still applies. The operation doesn't
/// count toward a client's limit on concurrent requests. Once its connection has been open, the operation isn't
/// retried, and finishes when the connection has ended.
package protocol UpgradingOperation: AnyObject, Sendable {
    /// The type of the value.
    associatedtype Success: Sendable
    /// The type of the connection.
    associatedtype Connection: UpgradedConnection

    /// The state of the upgrade.
    var upgrade: ConnectionUpgrade<Connection> { get }

    /// Modifies the request after it has been built.
    ///
    /// - Throws: An error for a request that can't upgrade a connection.
    func prepareUpgrade(of request: inout HTTPRequest) throws

    /// Creates the connection for a transfer, and may add header fields that are valid only for that connection.
    ///
    /// - Parameters:
    ///   - request: The request that will be sent.
    ///   - timeout: The idle timeout.
    ///   - flow: Pauses and cancels the connection.
    ///   - context: The details for errors.
    /// - Returns: The connection; `nil` if the operation no longer has a request.
    func makeConnection(
        for request: inout HTTPRequest,
        timeout: Duration,
        _ flow: FlowControl,
        _ context: ReceivingContext
    ) -> Connection?

    /// Creates the value of the operation while the connection is open.
    ///
    /// - Throws: The failure of the operation.
    func use(_ connection: Connection, _ head: HTTPResponseHead) async throws -> Success
}

/// The state of the upgrade of an operation.
package final class ConnectionUpgrade<Connection: UpgradedConnection>: Sendable {
    /// The closure that creates the operation's value from the open connection; `nil` if no connection was opened.
    fileprivate let connectionUse = OneShot<(@Sendable () async -> Void)?>()
    /// The most recently upgraded connection.
    fileprivate let connection = Locked<Connection?>(nil)
    fileprivate let task: Task<Void, Never>

    /// Creates the state, and a task that waits for the connection and inherits the caller's task-local values.
    package init() {
        task = Task { [connectionUse] in await connectionUse.value()?() }
    }

    deinit { connectionUse.fill(nil) }
}

extension OperationConfiguration {
    /// Configures the operation to upgrade the connection of the request.
    ///
    /// - Parameter type: The class whose initializer calls this method, or a superclass of it. The engine casts
    ///   operations to this type without a check.
    package mutating func upgradeConnection<Owner>(for type: Owner.Type)
    where Owner: NetworkOperation<R>, Owner: UpgradingOperation, Owner.Success == R.Success {
        kind = UpgradeHandling<R, Owner>.self
    }
}

/// The response handling that opens a connection from the response and passes it to the operation's `use` closure.
private struct UpgradeHandling<Request, Owner>: NetworkHandling
where Owner: NetworkOperation<Request>, Owner: UpgradingOperation, Owner.Success == Request.Success {
    let operation: Owner

    static var content: ContentDelivery { .openEnded }
    static var ignoresConcurrencyLimit: Bool { true }

    func refusalReason(of status: HTTPStatus) -> String? {
        guard successfulStatusCodes.contains(status.code) else { return nil }
        return "\(Owner.Connection.title) requires \(HTTPStatus.switchingProtocols)"
    }

    func makeRequest() async throws -> HTTPRequest {
        guard let declared = operation.request else { throw CancellationError() }
        var request = try await declared.makeHTTPRequest(operation.configuration)
        // Set this field now, because redirects of a request that opens a WebSocket accept ws and wss URLs, and refuse
        // a change from wss to ws. The other fields of the upgrade belong to one connection, and are set later.
        request.headers.set(HTTPField(.upgrade, Owner.Connection.upgradeToken).attributedToLibrary())
        try operation.prepareUpgrade(of: &request)
        return request
    }

    func transport(for sent: inout HTTPRequest) throws -> (any HTTPTransport)? {
        guard let base = operation.ownTransport else { return nil }
        let timeout = sent.timeout ?? operation.configuration.timeout ?? TransportRequest.defaultTimeout
        let (flow, context) = (FlowControl(), ReceivingContext(of: operation))
        sent.headers[.connection] = "Upgrade"
        sent.headers[.upgrade] = Owner.Connection.upgradeToken
        guard let connection = operation.makeConnection(for: &sent, timeout: timeout, flow, context) else { return nil }
        return UpgradingTransport(base, connection, flow, timeout: timeout, context) { [self] in adopt($0) }
    }

    /// Opens an upgraded connection and stores it for the operation, or cancels it if the operation has ended.
    ///
    /// The connection counts as an additional transfer, so the operation finishes only after the connection has ended.
    private func adopt(_ connection: Owner.Connection) {
        let isAccepted = operation.transition(.transferBegins) == .send
        connection.open { [operation] in if isAccepted { operation.advance(.transferEnded) } }
        if operation.configuration.options.deadline == nil { operation.endDeadline() }
        let previous = operation.upgrade.connection.withLock { current in
            defer { if isAccepted { current = connection } }
            return isAccepted ? current : connection
        }
        previous?.cancel(RequestError(.cancelled, phase: .receiving))
        // If the operation got its result in the meantime, there was no connection to close yet, so close the
        // connection here.
        if isAccepted, operation.core.withLock({ $0.result != nil }) { closeConnection() }
    }

    func conclude(_ response: RawResponse, of sent: HTTPRequest) async throws(RunFailure) {
        guard response.status == .switchingProtocols, let open = operation.upgrade.connection.withLock({ $0 }) else {
            let reason = "the server didn't accept the upgrade to \(Owner.Connection.title)"
            let error = RequestError(.badResponse, phase: .receiving, reason: reason)
            throw RunFailure(error, in: .receiving, response: response.map { $0.data ?? Data() })
        }
        operation.upgrade.connectionUse.fill { [operation, head = response.head] in
            await operation.finish { try await operation.use(open, head) }
        }
    }

    /// Closes the connection when it is no longer needed; `use` gets the operation's error.
    private func closeConnection() {
        let error = operation.failure ?? RequestError(.cancelled, phase: .receiving)
        operation.upgrade.connection.withLock { $0 }?.cancel(error)
    }

    // Close the connection before the completions are called, because nothing may be sent once a completion has run.
    func willDeliver(_ result: OperationCore.AnyResult?) { closeConnection() }

    func didDeliver() {
        operation.releaseSource()
        operation.upgrade.task.cancel()
    }
}
