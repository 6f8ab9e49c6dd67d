// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ExchangeRecorderRaceTests {
    @Test func completionRacesCancellation() async throws {
        for round in 0..<Scale.races {
            let gate = Gate()
            let network = InMemoryTransport { _ in .json("[1]").held(by: gate) }
            let recorder = ExchangeRecorder(network)
            let ended = Gate()
            let request = HTTPRequest(url: URL(string: "https://a/\(round)")!)
            let transfer = recorder.send(TransportRequest(request)) { event in
                guard case .end = event else { return }
                // An exchange is recorded before its end is reported.
                #expect(recorder.exchanges.count == 1)
                ended.open()
            }

            await withTaskGroup { group in
                group.addTask { gate.open() }
                group.addTask { transfer.cancel() }
                group.addTask { _ = recorder.exchanges }
            }
            try await ended.wait()

            let exchange = recorder.exchanges.first
            // A cancel may come between the head and the end.
            #expect(exchange?.error.map { $0.code == .cancelled } ?? (exchange?.response?.text == "[1]"))
            recorder.reset()
            #expect(recorder.exchanges.isEmpty)
        }
    }
}
