// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

struct User: Codable, Equatable, Sendable {
    var id = 1
    var name = "Ada"
}

let server = URL(string: "https://api.example.com/v1?key=k")!

extension TestQueue {
    /// Runs a request against a base URL, and gives what was sent.
    static func sent(
        _ request: some NetworkRequest,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    )
        async throws -> TransportRequest
    {
        let sent = Recorder<TransportRequest>()
        let transport = RecordingTransport(sent)
        let queue = TestQueue(transport) { environment in
            environment.baseURL = server
            configure(&environment)
        }
        let operation = queue.addRequest(request)
        await operation.end()
        guard let request = sent.elements.first else {
            if case .failure(let error)? = operation.result { throw error }
            throw SampleError()
        }
        return request
    }
}

/// Answers everything with nothing, and keeps what was asked.
final class RecordingTransport: HTTPTransport {
    private let sent: Recorder<TransportRequest>
    let capabilities: TransportCapabilities = [.concurrentDelivery, .bodyWithAnyMethod]

    init(_ sent: Recorder<TransportRequest>) {
        self.sent = sent
    }

    func send(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any Transfer {
        sent.record(request)
        receive(.head(HTTPResponseHead(status: .noContent, url: request.url)))
        receive(.end(nil))
        return Ended()
    }

    private final class Ended: Transfer {
        func cancel() {}
    }
}
