// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// A request to a server that responds with redirects first, and then with 200.
struct RedirectRun: Sendable {
    /// The requests that were sent, in order.
    let sent: [TransportRequest]
    /// The response; `nil` if the request failed.
    let response: HTTPResponse<Data>?
    /// The error; `nil` if there is a response.
    let error: RequestError?

    /// The request that was sent after the first redirect; `nil` if the redirect wasn't followed.
    var next: TransportRequest? { sent.dropFirst().first }

    /// Sends a request. The server responds to each request with the next redirect.
    init(
        _ request: HTTPRequest,
        _ policy: RedirectPolicy = .follow(),
        _ status: HTTPStatus = .found,
        to locations: String...
    ) async {
        await self.init(request, policy, answers: locations.map { .redirect(to: $0, status: status) })
    }

    /// Sends a request. The server responds to each request with the next response.
    init(
        _ request: HTTPRequest,
        _ policy: RedirectPolicy = .follow(),
        answers: [StubResponse],
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) async {
        let answers = Locked(answers[...])
        let transport = InMemoryTransport { _ in answers.withLock { $0.popFirst() } ?? .status(.ok) }
        let client = HTTPClient(transport: transport) {
            $0.headers = []
            $0.redirect = policy
            configure(&$0)
        }
        do {
            (response, error) = (try await client.send(request), nil)
        } catch {
            (response, self.error) = (nil, error)
        }
        sent = transport.requests.compactMap(\.transportRequest)
    }
}
