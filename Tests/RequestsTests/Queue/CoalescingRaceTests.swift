// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting
import TestSupport
import Testing

@testable import Requests

/// Joining, leaving and ending a shared transfer at the same time.
@Suite(.bounded, .tags(.behaviour, .race)) struct CoalescingRaceTests {
    @Test func aCancelAgainstAJoin() async throws {
        let census = Census()
        for _ in 0..<Scale.races {
            let gate = Gate()
            let queue = TestQueue(InMemoryTransport { _ in .status(.ok, body: Data("shared".utf8)).held(by: gate) })
            let first = Probe(adding: TextRequest(life: census.life()), to: queue, coalescing: true)
            let request = TextRequest(life: census.life())
            let second = Recorder<Probe<TextRequest>>()

            simultaneously {
                first.operation.cancel()
            } and: {
                second.record(Probe(adding: request, to: queue, coalescing: true))
            }
            gate.open()

            #expect(await first.ended().map(\.error?.code) == [.cancelled])
            let joined = try #require(second.elements.first)
            #expect(await joined.ended().map(\.value) == ["shared"])
        }
        await census.extinction()
    }

    @Test func cancelsOfAllAgainstOneAnother() async {
        let census = Census()
        for _ in 0..<Scale.races {
            let queue = TestQueue(InMemoryTransport { _ in .never })
            let probes = (0..<2).map { _ in
                Probe(adding: TextRequest(life: census.life()), to: queue, coalescing: true)
            }

            simultaneously {
                probes[0].operation.cancel()
            } and: {
                probes[1].operation.cancel()
            }

            for probe in probes { #expect(await probe.ended().map(\.error?.code) == [.cancelled]) }
        }
        await census.extinction()
    }

    @Test func theEndOfTheTransferAgainstAJoin() async throws {
        let census = Census()
        for _ in 0..<Scale.races {
            let gate = Gate()
            let transport = InMemoryTransport { _ in .status(.ok, body: Data("shared".utf8)).held(by: gate) }
            let queue = TestQueue(transport)
            let first = Probe(adding: TextRequest(life: census.life()), to: queue, coalescing: true)
            let request = TextRequest(life: census.life())
            let second = Recorder<Probe<TextRequest>>()

            simultaneously {
                gate.open()
            } and: {
                second.record(Probe(adding: request, to: queue, coalescing: true))
            }

            #expect(await first.ended().map(\.value) == ["shared"])
            let joined = try #require(second.elements.first)
            #expect(await joined.ended().map(\.value) == ["shared"])
            #expect((1...2).contains(transport.requests.count))
        }
        await census.extinction()
    }

    @Test func theEndOfTheTransferAgainstACancel() async throws {
        let census = Census()
        for _ in 0..<Scale.races {
            let transport = ManualTransport()
            let queue = TestQueue(transport)
            let probes = (0..<3).map { _ in
                Probe(adding: TextRequest(life: census.life()), to: queue, coalescing: true)
            }
            let transfer = try await transport.awaitTransfer()
            transfer.receive(.head(HTTPResponseHead(status: .ok)))

            simultaneously {
                transfer.receive(.end(nil))
            } and: {
                for probe in probes { probe.operation.cancel() }
            }

            for probe in probes { #expect(await probe.ended().count == 1) }
            #expect(transport.transfers.count == 1)
        }
        await census.extinction()
    }
}
