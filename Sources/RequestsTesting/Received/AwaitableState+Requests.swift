// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

extension AwaitableState {
    /// Waits for the first recorded request, and returns it.
    func awaitRequest(
        _ limit: Duration,
        _ callSite: CallSite,
        of recorder: String,
        requests: @escaping @Sendable (State) -> [ReceivedRequest]
    ) async throws -> ReceivedRequest {
        let first = try await awaitRequests(1, limit, callSite, of: recorder, requests: requests).first
        guard let first else { throw CancellationError() }
        return first
    }

    /// Waits for the first `count` recorded requests, and returns them.
    func awaitRequests(
        _ count: Int,
        _ limit: Duration,
        _ callSite: CallSite,
        of recorder: String,
        requests: @escaping @Sendable (State) -> [ReceivedRequest]
    ) async throws -> [ReceivedRequest] {
        let awaited = count == 1 ? "a request" : "\(count) requests"
        let state = try await wait(for: awaited, timeout: limit, at: callSite) {
            "\(recorder) has \(requests($0).count.counting("request"))"
        } until: {
            requests($0).count >= count
        }
        return Array(requests(state).prefix(max(0, count)))
    }
}
