// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Adds an operation's details to errors that occur while its response is consumed, even after the operation has ended.
///
/// The consumer of endless content may outlive the operation, and may itself be the operation's result. So the context
/// doesn't retain the operation. When the connection has ended, the context copies the details for later errors.
package final class ReceivingContext: Sendable {
    /// The details to add to an error.
    private enum ErrorDetails: Sendable {
        /// The state of a running operation, from which the details are read when an error needs them.
        case running(Locked<OperationCore>)
        /// An error with the details of an operation whose connection has ended.
        case frozen(RequestError)
    }

    /// Creates the environment's JSON decoder, for a consumer without its own decoder.
    let makeDecoder: @Sendable () -> JSONDecoder
    /// The maximum byte count of the content in an error.
    let maximumErrorBodySize: Int
    private let details: Locked<ErrorDetails>

    /// Creates the context of an operation.
    init(of operation: AnyRequestOperation) {
        let environment = operation.configuration.environment
        makeDecoder = environment.makeDecoder
        maximumErrorBodySize = max(0, environment.maximumErrorBodySize)
        details = Locked(.running(operation.core))
    }

    /// Creates the context of a response without an operation, for tests of its consumers.
    init(_ head: HTTPResponseHead, makeDecoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }) {
        self.makeDecoder = makeDecoder
        maximumErrorBodySize = RequestEnvironment.unchanged.maximumErrorBodySize
        details = Locked(.frozen(RequestError(.other, phase: .receiving, response: head)))
    }

    /// Adds the request, the response and the transfers to an error.
    package func addContext(to error: RequestError) -> RequestError {
        let contextError =
            switch details.withLock({ $0 }) {
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

    /// Copies the details, because the connection has ended, and releases the operation's state.
    func freeze() {
        guard case .running(let core) = details.withLock({ $0 }) else { return }
        let contextError = addContext(to: RequestError(.other, phase: .receiving), by: core)
        details.withLock { $0 = .frozen(contextError) }
    }

    private func addContext(to error: RequestError, by core: Locked<OperationCore>) -> RequestError {
        core.withLock { $0.run.record }.addContext(to: error, in: error.phase, contentLimit: maximumErrorBodySize)
    }
}
