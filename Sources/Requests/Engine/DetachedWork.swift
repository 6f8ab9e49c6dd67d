// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The requests that outlive the operations for which they were begun, one at a time for a resource.
///
/// A client and those that are derived from it have one, which ends with the last of them.
final class DetachedWork: Sendable {
    typealias Completion = @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void

    /// The resource of the work, and its author.
    struct Key: Sendable, Hashable {
        private let method: HTTPMethod
        private let url: URL
        private let author: NestingContext.Author?
        /// The state of the client's environment, which says whose request it is.
        private let revision: UUID?
        /// The name of the work, if one address has several.
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
        var tasks: [Key: (number: Int, task: Task<Void, Never>?)] = [:]
        var lastNumber = 0
        var isOver = false
    }

    /// The one of queues without a client; it never ends.
    private static let shared = DetachedWork()
    private let state = Locked(State())

    /// The one of the client that an environment belongs to.
    static func of(_ environment: RequestEnvironment) -> DetachedWork { environment.detachedWork ?? shared }

    /// Begins work on a resource; returns `false` if such work is running, or the client was deallocated.
    func begin(
        _ key: Key,
        _ completion: @escaping Completion = { _ in },
        _ work: @escaping @Sendable () async throws -> HTTPResponse<Data>
    ) -> Bool {
        let number = state.withLock { state -> Int? in
            guard !state.isOver, state.tasks[key] == nil else { return nil }
            state.lastNumber += 1
            state.tasks[key] = (state.lastNumber, nil)
            return state.lastNumber
        }
        guard let number else { return false }
        let task = RunExecutor.detachedTask { [self] in
            let result: Result<HTTPResponse<Data>, RequestError>
            do { result = .success(try await work()) } catch { result = .failure(RequestError(error)) }
            let former = state.withLock { $0.tasks.removeValue(forKey: key) }
            withExtendedLifetime(former) { completion(result) }
        }
        let isOver = state.withLock { state in
            // The work may have ended, and other work for the resource begun.
            if state.tasks[key]?.number == number { state.tasks[key]?.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
        return true
    }

    /// Cancels the running work; nothing begins after it.
    func end() {
        let tasks = state.withLock { state in
            state.isOver = true
            return state.tasks.values.compactMap(\.task)
        }
        for task in tasks { task.cancel() }
    }
}
