// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Cancels subrequests when their owner ends.
///
/// The owner is either an operation, which ends when it has its result, or a client, which ends when it and all clients
/// derived from it have been deallocated.
final class SubrequestOwner: OperationObserver {
    typealias Completion = @Sendable (SubrequestOperation.Outcome) -> Void

    /// The purpose of a subrequest that outlives an operation; only one subrequest for each purpose runs at a time.
    struct Purpose: Sendable, Hashable {
        private let method: HTTPMethod
        private let url: URL
        private let author: NestingContext.Author?
        /// The revision of the client's environment, which separates the requests of different clients.
        private let revision: UUID?
        /// A name that distinguishes several purposes with the same URL.
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

    /// Returns the owner of subrequests that outlive an operation: the client of the environment, if any.
    static func outliving(operationsIn environment: RequestEnvironment) -> SubrequestOwner {
        environment.subrequestOwner ?? shared
    }

    /// Sends a subrequest, and waits for its response.
    func exchange(_ request: SubrequestOperation) async throws(RequestError) -> HTTPResponse<Data> {
        track(request)
        defer { release(request) }
        return try await request.outcome().get()
    }

    /// Starts a subrequest, unless a subrequest with the same purpose is running, or the owner has ended.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the subrequest.
    ///   - completion: Called with the outcome.
    ///   - make: Creates the subrequest.
    /// - Returns: Whether the subrequest was started.
    func start(
        _ purpose: Purpose,
        _ completion: @escaping Completion = { _ in },
        _ make: () -> SubrequestOperation
    ) -> Bool {
        guard state.withLock({ !$0.isOver && $0.purposes.insert(purpose).inserted }) else { return false }
        let request = make()
        track(request)
        _ = RunExecutor.detachedTask { [self] in
            let outcome = await NestingContext.run(in: request.scope) { await request.outcome() }
            release(request, purpose)
            completion(outcome)
        }
        return true
    }

    /// Cancels the running subrequests, and prevents further ones.
    func end() {
        let running = state.withLock { state in
            state.isOver = true
            return state.running.values
        }
        for request in running { request.cancel() }
    }

    // Cancelling the operation's task wouldn't be enough, because that happens only after the completions are called.
    func observe(_ event: OperationEvent) {
        if case .operationEnded = event { end() }
    }

    private func track(_ request: SubrequestOperation) {
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
