// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The requests that interceptors are sending on behalf of an operation; they are cancelled when it has its result.
///
/// The cancellation of the operation's task would be too late for them: it is the last step of the end.
final class NestedRequests: OperationObserver {
    /// The running requests; `nil` once the operation has its result.
    private let running = Locked<[SubrequestOperation]?>([])

    /// Sends a request as a part of an operation, and waits for its response.
    static func exchange(
        _ request: SubrequestOperation,
        within operation: AnyRequestOperation
    ) async throws(RequestError) -> HTTPResponse<Data> {
        operation.add(NestedRequests())
        guard let requests = operation.observer(NestedRequests.self) else { return try await request.exchange() }
        let isWanted = requests.running.withLock { $0?.append(request) != nil }
        if !isWanted { request.cancel() }
        defer { requests.running.withLock { $0?.removeAll { $0 === request } } }
        return try await request.exchange()
    }

    func observe(_ event: OperationEvent) {
        guard case .operationEnded = event else { return }
        let requests = running.withLock { $0.take() }
        for request in requests ?? [] { request.cancel() }
    }
}
