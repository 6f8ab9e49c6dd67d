// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The connection breaks while the loop that reads the content begins.
@Suite(.bounded) struct StreamCutRaceTests {
    private struct Joining: StreamRequest {
        typealias Success = Void
        typealias Failure = RequestError

        let read: Recorder<String>
        var identifier: String { "joining" }

        func makeURLRequest(completion: @escaping BuildCompletion) { completion(.success(URLRequest(url: home))) }

        func process(_ stream: ResponseStream) async throws {
            for try await chunk in stream { read.record(String(decoding: chunk, as: UTF8.self)) }
        }
    }

    private func client(cutting text: String) -> HTTPClient {
        HTTPClient(transport: InMemoryTransport { _ in StreamErrorTests.content(text).reset(after: text.utf8.count) })
    }

    /// Covers content that arrives before the loop begins, and content that arrives while the loop waits.
    @Test(arguments: ["", "1", "12345678"]) func connectionLossIsThrownAfterReceivedBytes(_ text: String) async throws {
        for _ in 0..<Scale.races {
            let client = client(cutting: text)
            let stream = try await client.stream(HTTPRequest(url: home))
            var read = ""
            let error = await #expect(throws: RequestError.self) {
                for try await chunk in stream { read += String(decoding: chunk, as: UTF8.self) }
            }
            #expect(read == text && error?.code == .connectionLost)
            #expect(error?.request?.url == home && error?.response?.status == .ok && error?.transfers.count == 1)
        }
    }

    @Test func processReceivesBytesBeforeConnectionLoss() async {
        for _ in 0..<Scale.races {
            let read = Recorder<String>()
            let error = await #expect(throws: RequestError.self) {
                try await client(cutting: "12345678").fetch(Joining(read: read))
            }
            #expect(read.elements.joined() == "12345678" && error?.code == .connectionLost)
        }
    }

    /// The operation ends once and releases its slot, whichever comes first.
    @Test func connectionLossRacesCancellation() async {
        for _ in 0..<Scale.races {
            let queue = TestQueue(client(cutting: "12345678").transport, width: 1)
            let probe = Probe(adding: Joining(read: Recorder()), to: queue)
            probe.operation.cancel()
            let results = await probe.ended()
            #expect(results.count == 1 && [.cancelled, .connectionLost].contains(results.first?.error?.code))
        }
    }
}
