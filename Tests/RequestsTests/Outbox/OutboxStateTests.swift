// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsOutbox

/// The time that an outbox with many entries takes, under its lock.
@Suite(.bounded, .tags(.alone)) struct OutboxStateTests {
    private static let count = 20_000
    /// The numbers of categories: one for each entry is the slowest case of a search in the schedule.
    private static let categories = Scale.pick([count], whole: [1, 100, count / 3, count])

    /// Returns the state of an outbox with many entries.
    private static func state(categories: Int) -> (state: OutboxState, ids: [UUID]) {
        let ids = (0..<count).map { _ in UUID() }
        let parts = ids.enumerated().map { index, id in
            var entry = Outbox.Entry(id: id, type: "note", added: .distantPast)
            entry.category = "\(index % categories)"
            return OutboxRecord.Part.record(.added(entry, content: "{}", position: index + 1, version: 2))
        }
        var settings = Outbox.Settings()
        settings.connectivity = Connectivity()
        return (OutboxState(parts, settings, at: .distantPast), ids)
    }

    @Test(arguments: categories) func removesAllEntriesInLinearTime(categories: Int) {
        var (state, ids) = Self.state(categories: categories)

        let start = ProcessorTime.ofProcess
        _ = state.commit(.discarded(ids), at: .zero)

        #expect(ProcessorTime.ofProcess - start < .seconds(2))
        #expect(state.isEmpty && state.isDrained)
    }

    @Test(arguments: categories) func sendsAllEntriesInLinearTime(categories: Int) {
        var (state, ids) = Self.state(categories: categories)
        var sent: [UUID] = []

        let start = ProcessorTime.ofProcess
        while !state.isDrained {
            let items = state.next(at: .zero, .distantPast).compactMap {
                if case .send(let item) = $0 { item } else { nil }
            }
            for item in items {
                sent.append(item.entry.id)
                _ = state.attemptSucceeded(item.entry.id, HTTPResponseHead(status: .ok))
                _ = state.didWrite(1, at: .zero)
            }
        }

        #expect(ProcessorTime.ofProcess - start < .seconds(4))
        #expect(state.isEmpty && sent == ids)
    }
}
