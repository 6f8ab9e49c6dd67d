// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that upgrades the connection of its request, and creates its value while the connection is open.
///
/// Until the 101, the operation is like any other. From then on, it holds no slot of the host, and the deadline of the
/// environment no longer applies; one of the request itself still does. A client's maximum of concurrent requests
/// ignores it. An operation whose connection was open isn't retried, and finishes when the connection has ended.
package protocol UpgradingOperation: AnyObject, Sendable {
    /// The type of the value.
    associatedtype Success: Sendable
    /// The type of the connection.
    associatedtype Connection: UpgradedConnection

    /// The state of the upgrade.
    var upgrade: ConnectionUpgrade<Connection> { get }

    /// Changes the request once it is built.
    ///
    /// - Throws: An error for a request that can't upgrade a connection.
    func prepareUpgrade(of request: inout HTTPRequest) throws

    /// Creates the connection for a transfer; may add fields that are valid for one connection only.
    ///
    /// - Parameters:
    ///   - request: The request that is sent.
    ///   - timeout: The maximum time without data.
    ///   - flow: Pauses and cancels the connection.
    ///   - context: The facts for errors.
    /// - Returns: The connection; `nil` if the operation has no request any more.
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
    /// Uses the connection; `nil` if none was opened.
    fileprivate let use = OneShot<(@Sendable () async -> Void)?>()
    /// The connection that was upgraded last.
    fileprivate let connection = Locked<Connection?>(nil)
    fileprivate let user: Task<Void, Never>

    /// Creates the state and a task that waits for the connection; the task inherits the task-locals of the caller.
    package init() {
        user = Task { [use] in await use.value()?() }
    }

    deinit { use.fill(nil) }
}

extension OperationConfiguration {
    /// Upgrades the connection of the request.
    ///
    /// - Parameter type: The class whose initializer calls this, or a superclass of it: the engine casts operations to it
    ///   without a check.
    package mutating func upgradeConnection<Owner>(for type: Owner.Type)
    where Owner: NetworkOperation<R>, Owner: UpgradingOperation, Owner.Success == R.Success {
        kind = UpgradeHandling<R, Owner>.self
    }
}

/// Opens a connection with the response, and passes it on to the operation's `use`.
private struct UpgradeHandling<Request, Owner>: NetworkHandling
where Owner: NetworkOperation<Request>, Owner: UpgradingOperation, Owner.Success == Request.Success {
    let operation: Owner

    static var content: ContentDelivery { .openEnded }
    static var ignoresConcurrencyLimit: Bool { true }

    func refusalReason(of status: HTTPStatus) -> String? {
        guard successfulStatusCodes.contains(status.code) else { return nil }
        return "\(Owner.Connection.title) needs \(HTTPStatus.switchingProtocols)"
    }

    func makeRequest() async throws -> HTTPRequest {
        guard let declared = operation.request else { throw CancellationError() }
        var request = try await declared.makeHTTPRequest(operation.configuration)
        // Redirects depend on it; the other fields of the upgrade are those of one connection.
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
        return UpgradingTransport(base, connection, flow, timeout: timeout, context) { [self] in keep($0) }
    }

    /// Keeps a connection that is open, as a transfer of its own.
    private func keep(_ connection: Owner.Connection) {
        let isWanted = operation.transition(.transferBegins) == .send
        connection.open { [operation] in if isWanted { operation.advance(.transferEnded) } }
        if operation.configuration.options.deadline == nil { operation.endDeadline() }
        let former = operation.upgrade.connection.withLock { kept in
            defer { if isWanted { kept = connection } }
            return isWanted ? kept : connection
        }
        former?.cancel(RequestError(.cancelled, phase: .receiving))
        // If the operation got its result in the meantime, there was no connection to close yet.
        if isWanted, operation.core.withLock({ $0.result != nil }) { endUse() }
    }

    func conclude(_ response: RawResponse, of sent: HTTPRequest) async throws(RunFailure) {
        guard response.status == .switchingProtocols, let open = operation.upgrade.connection.withLock({ $0 }) else {
            let reason = "the response doesn't open \(Owner.Connection.title)"
            let error = RequestError(.badResponse, phase: .receiving, reason: reason)
            throw RunFailure(error, in: .receiving, response: response.map { $0.data ?? Data() })
        }
        operation.upgrade.use.fill { [operation, head = response.head] in
            await operation.finish { try await operation.use(open, head) }
        }
    }

    /// Closes the connection, which isn't needed any more; `use` gets the error of the operation.
    private func endUse() {
        let error = operation.failure ?? RequestError(.cancelled, phase: .receiving)
        operation.upgrade.connection.withLock { $0 }?.cancel(error)
    }

    // Before the completions: when one is called, nothing is sent any more.
    func willDeliver(_ result: OperationCore.AnyResult?) { endUse() }

    func didDeliver() {
        operation.releaseSource()
        operation.upgrade.user.cancel()
    }
}
