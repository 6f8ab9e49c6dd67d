// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// Threads that read and write files while others remove them, one step after the other.
@Suite(.bounded) struct CacheStateTests {
    private static let key = CacheKey(CacheSample.get())
    private static let old = CacheRecord.response(CacheSample.cached(body: "old"))
    private static let new = CacheRecord.response(CacheSample.cached(body: "new"))

    private var state = CacheState(memoryLimit: 1 << 20)

    private mutating func found() -> CacheRecord? {
        state.find(Self.key)
    }

    private mutating func keep(_ record: CacheRecord, since removal: Int = 0) -> Bool {
        state.insert([(Self.key, record)], since: removal)
    }

    @Test mutating func recordInsertedFromDiskIsFound() {
        let before = found()
        #expect(before == nil)

        state.insertFromDisk(Self.old, for: Self.key, since: state.lastRemoval)

        let record = found()
        #expect(record == Self.old)
    }

    @Test mutating func recordFromDiskDoesNotReplaceNewerOne() {
        _ = keep(Self.new)
        state.insertFromDisk(Self.old, for: Self.key, since: state.lastRemoval)

        let record = found()
        #expect(record == Self.new)
    }

    static let removals: [@Sendable (inout CacheState) -> Void] = [
        { $0.removeAll() },
        { $0.remove(key.resource) },
        // Of another resource: removals aren't distinguished by resource.
        { $0.remove("another") },
    ]

    @Test(arguments: removals.indices) mutating func recordReadBeforeRemovalIsDiscarded(index: Int) {
        let removal = state.lastRemoval

        Self.removals[index](&state)
        state.insertFromDisk(Self.old, for: Self.key, since: removal)

        let record = found()
        #expect(record == nil)
        #expect(state.memorySize == 0)
    }

    @Test(arguments: [(0, false), (1, false), (2, true)])
    mutating func responseRequestedBeforeRemovalIsNotStored(index: Int, isKept: Bool) {
        let removal = state.lastRemoval
        Self.removals[index](&state)

        let isKeptBefore = keep(Self.old, since: removal)
        let isKeptAfter = keep(Self.new, since: state.lastRemoval)

        #expect(isKeptBefore == isKept)
        #expect(isKeptAfter)
        let record = found()
        #expect(record == Self.new)
    }

    @Test mutating func forgottenRemovalsRejectOlderResponses() {
        for index in 0...1000 { state.remove("\(index)") }

        let isKeptBefore = keep(Self.old, since: 1000)
        let isKeptAfter = keep(Self.new, since: 1001)

        #expect(!isKeptBefore && isKeptAfter)
    }

    @Test mutating func forgetRemovesSingleRecord() {
        _ = keep(Self.old)

        state.forget(Self.key)

        let record = found()
        #expect(record == nil)
    }
}
