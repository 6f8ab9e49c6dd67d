// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

package struct User: Codable, Equatable, Sendable {
    package var id: Int
    package var name: String

    package init(id: Int = 1, name: String = "Ada") {
        self.id = id
        self.name = name
    }
}

package let server = URL(string: "https://api.example.com/v1?key=k")!

extension TestQueue {
    /// Runs a request against a base URL, and returns the request that was sent.
    package static func sent(
        _ request: some NetworkRequest,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    )
        async throws -> TransportRequest
    {
        let transport = InMemoryTransport { _ in StubResponse.status(.noContent) }
        let queue = TestQueue(transport) { environment in
            environment.baseURL = server
            configure(&environment)
        }
        let operation = queue.addRequest(request)
        await operation.end()
        guard let request = transport.requests.first?.transportRequest else {
            if case .failure(let error)? = operation.result { throw error }
            throw SampleError()
        }
        return request
    }
}
