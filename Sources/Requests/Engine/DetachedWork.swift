// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The requests that have outlived the operations that they were begun for, one at a time for a resource.
///
/// A client and those that are derived from it have one, which ends with the last of them.
final class DetachedWork: Sendable {
    typealias Completion = @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void

    /// The resource of the work, and its author.
    struct Key: Sendable, Hashable {
        let method: HTTPMethod
        let url: URL
        let author: CallScope.Author?
        /// The state of the client's environment, which says whose request it is.
        let revision: EnvironmentRevision?
        /// The name of what is worked on, if one address has several.
        var name: String?
    }

    private struct State: Sendable {
        var tasks: [Key: Task<Void, Never>] = [:]
        var isOver = false
    }

    /// The one of queues without a client; it never ends.
    static let shared = DetachedWork()
    private let state = Locked(State())

    /// Begins to work on something, unless that is worked on already.
    func begin(
        _ key: Key,
        _ completion: @escaping Completion = { _ in },
        _ work: @escaping @Sendable () async throws -> HTTPResponse<Data>
    ) -> Bool {
        state.withLock { state in
            guard !state.isOver, state.tasks[key] == nil else { return false }
            state.tasks[key] = CallExecutor.detachedTask { [self] in
                let result: Result<HTTPResponse<Data>, RequestError>
                do { result = .success(try await work()) } catch { result = .failure(RequestError(error)) }
                let former = self.state.withLock { $0.tasks.removeValue(forKey: key) }
                withExtendedLifetime(former) { completion(result) }
            }
            return true
        }
    }

    /// Cancels what is under way, and begins nothing any more.
    func end() {
        let tasks = state.withLock { state in
            state.isOver = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }
}
