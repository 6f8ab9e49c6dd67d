// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Provides a consumer of a response with the facts about its operation, even after the operation has ended.
///
/// The consumer of endless content may outlive the operation, and its values may be the operation's result. So the
/// context doesn't retain the operation. When the connection has ended, the context copies the facts for errors.
package final class ReceivingContext: Sendable {
    /// The facts for an error.
    private enum Facts: Sendable {
        /// The state of a running operation, read when an error needs its facts.
        case running(Locked<OperationCore>)
        /// An error with the facts of an operation whose connection has ended.
        case frozen(RequestError)
    }

    /// Creates a JSON decoder for a consumer without its own decoder, as the environment does.
    let makeDecoder: @Sendable () -> JSONDecoder
    /// The maximum byte count of the content in an error.
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
        let contextError =
            switch facts.withLock({ $0 }) {
            case .running(let core): addContext(to: RequestError(.other, phase: .receiving), by: core)
            case .frozen(let error): error
            }
        return error.withContext(
            request: contextError.request,
            response: contextError.response,
            body: contextError.body,
            transfers: contextError.transfers,
            wasNotSent: contextError.wasNotSent
        )
    }

    /// Copies the facts, because the connection has ended, and releases the operation's state.
    func freeze() {
        guard case .running(let core) = facts.withLock({ $0 }) else { return }
        let contextError = addContext(to: RequestError(.other, phase: .receiving), by: core)
        facts.withLock { $0 = .frozen(contextError) }
    }

    private func addContext(to error: RequestError, by core: Locked<OperationCore>) -> RequestError {
        core.withLock { $0.run.record }.addContext(to: error, in: error.phase, contentLimit: maximumErrorBodySize)
    }
}
