// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The subrequests that end with the one for whom they are sent: with an operation, when it has its result, or with a
/// client and all clients derived from it.
final class SubrequestOwner: OperationObserver {
    typealias Completion = @Sendable (SubrequestOperation.Outcome) -> Void

    /// The purpose of a subrequest that outlives an operation; only one of each purpose runs at a time.
    struct Purpose: Sendable, Hashable {
        private let method: HTTPMethod
        private let url: URL
        private let author: NestingContext.Author?
        /// The state of the client's environment, which says whose request it is.
        private let revision: UUID?
        /// A name, if one address has several purposes.
        private let name: String?

        init(
            _ request: HTTPRequest,
            in environment: RequestEnvironment,
            by author: NestingContext.Author? = nil,
            name: String? = nil
        ) {
            (method, url, self.author, self.name) = (request.method, request.url, author, name)
            revision = environment.revision
        }
    }

    private struct State: Sendable {
        var running: [ObjectIdentifier: SubrequestOperation] = [:]
        var purposes: Set<Purpose> = []
        var isOver = false
    }

    /// The owner for queues without a client; it never ends.
    private static let shared = SubrequestOwner()
    private let state = Locked(State())

    /// The owner of subrequests that outlive an operation: the client of its environment.
    static func outliving(operationsIn environment: RequestEnvironment) -> SubrequestOwner {
        environment.subrequestOwner ?? shared
    }

    /// Sends a subrequest, and waits for its response.
    func exchange(_ request: SubrequestOperation) async throws(RequestError) -> HTTPResponse<Data> {
        own(request)
        defer { release(request) }
        return try await request.outcome().get()
    }

    /// Starts a subrequest, unless one of the same purpose is running, or the owner has ended.
    ///
    /// - Parameters:
    ///   - purpose: Its purpose.
    ///   - completion: Called with the outcome.
    ///   - make: Creates the subrequest.
    /// - Returns: Whether it was started.
    func start(
        _ purpose: Purpose,
        _ completion: @escaping Completion = { _ in },
        _ make: () -> SubrequestOperation
    ) -> Bool {
        guard state.withLock({ !$0.isOver && $0.purposes.insert(purpose).inserted }) else { return false }
        let request = make()
        own(request)
        _ = RunExecutor.detachedTask { [self] in
            let outcome = await NestingContext.run(in: request.scope) { await request.outcome() }
            release(request, purpose)
            completion(outcome)
        }
        return true
    }

    /// Cancels the running subrequests; none is sent after this.
    func end() {
        let running = state.withLock { state in
            state.isOver = true
            return state.running.values
        }
        for request in running { request.cancel() }
    }

    // The cancellation of the operation's task would be too late: it is the last step of the end.
    func observe(_ event: OperationEvent) {
        if case .operationEnded = event { end() }
    }

    private func own(_ request: SubrequestOperation) {
        let isOver = state.withLock { state in
            state.running[ObjectIdentifier(request)] = request
            return state.isOver
        }
        if isOver { request.cancel() }
    }

    private func release(_ request: SubrequestOperation, _ purpose: Purpose? = nil) {
        state.withLock { state in
            state.running[ObjectIdentifier(request)] = nil
            if let purpose { state.purposes.remove(purpose) }
        }
    }
}
