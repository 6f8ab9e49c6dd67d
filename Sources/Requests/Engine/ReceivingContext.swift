// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What a consumer of a response needs of its operation while the content arrives, and afterwards.
///
/// The consumer of content without an end may outlive the operation, and its values may be the operation's result. So
/// the context doesn't hold the operation: when the connection has ended, the facts for errors are copied.
package final class ReceivingContext: Sendable {
    /// The facts for an error.
    private enum Facts: Sendable {
        /// The facts of a running operation, read when an error needs them.
        case running(Locked<OperationCore>)
        /// An error with the facts of an operation whose connection has ended.
        case frozen(RequestError)
    }

    /// Creates the JSON decoder of a consumer without one: that of the environment.
    let makeDecoder: @Sendable () -> JSONDecoder
    /// The maximum byte count of content in an error.
    let maximumErrorBodySize: Int
    private let facts: Locked<Facts>

    /// Creates the context of an operation.
    init(of operation: AnyRequestOperation) {
        let environment = operation.configuration.environment
        makeDecoder = environment.makeDecoder
        maximumErrorBodySize = max(0, environment.maximumErrorBodySize)
        facts = Locked(.running(operation.core))
    }

    /// Creates the context of a response without an operation, for tests of its consumers.
    init(_ head: HTTPResponseHead, makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }) {
        self.makeDecoder = makeDecoder
        maximumErrorBodySize = RequestEnvironment.unchanged.maximumErrorBodySize
        facts = Locked(.frozen(RequestError(.other, phase: .receiving, response: head)))
    }

    /// Adds the request, the response and the transfers to an error.
    package func addContext(to error: RequestError) -> RequestError {
        let known =
            switch facts.withLock({ $0 }) {
            case .running(let core): addContext(to: RequestError(.other, phase: .receiving), by: core)
            case .frozen(let known): known
            }
        return error.withContext(
            request: known.request,
            response: known.response,
            body: known.body,
            transfers: known.transfers,
            wasNotSent: known.wasNotSent
        )
    }

    /// Keeps the facts, since the connection has ended, and releases the operation.
    func freeze() {
        guard case .running(let core) = facts.withLock({ $0 }) else { return }
        let known = addContext(to: RequestError(.other, phase: .receiving), by: core)
        facts.withLock { $0 = .frozen(known) }
    }

    private func addContext(to error: RequestError, by core: Locked<OperationCore>) -> RequestError {
        core.withLock { $0.run.record }.addContext(to: error, in: error.phase, contentLimit: maximumErrorBodySize)
    }
}
