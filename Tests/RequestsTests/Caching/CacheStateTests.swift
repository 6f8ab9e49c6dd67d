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

    private let start = CacheSample.start
    private var state = CacheState(memoryLimit: 1 << 20)

    private mutating func found() -> CacheRecord? {
        state.find(Self.key).record
    }

    private mutating func keep(_ record: CacheRecord, askedAt time: Date) -> Bool {
        state.keep([(Self.key, record)], askedAt: time, now: time + 2)
    }

    @Test mutating func recordReadFromAFileIsFoundAgain() {
        let finding = state.find(Self.key)
        #expect(finding.record == nil)

        state.take(Self.old, for: Self.key, after: finding)

        let record = found()
        #expect(record == Self.old)
    }

    @Test mutating func readRecordReplacesNoNewerOne() {
        let finding = state.find(Self.key)

        _ = keep(Self.new, askedAt: start)
        state.take(Self.old, for: Self.key, after: finding)

        let record = found()
        #expect(record == Self.new)
    }

    static let removals: [@Sendable (inout CacheState) -> Void] = [
        { $0.removeAll(at: CacheSample.start) },
        { $0.remove(key.resource, at: CacheSample.start) },
        // Of another resource: removals aren't distinguished by resource.
        { $0.remove("another", at: CacheSample.start) },
    ]

    @Test(arguments: removals.indices) mutating func recordReadDuringARemovalIsDiscarded(index: Int) {
        let finding = state.find(Self.key)

        Self.removals[index](&state)
        state.take(Self.old, for: Self.key, after: finding)

        let record = found()
        #expect(record == nil)
        #expect(state.memorySize == 0)
    }

    @Test(arguments: [(0, false), (1, false), (2, true)])
    mutating func responseRequestedBeforeARemovalIsNotKept(index: Int, isKept: Bool) {
        Self.removals[index](&state)

        let isKeptBefore = keep(Self.old, askedAt: start - 1)
        let isKeptAfter = keep(Self.new, askedAt: start + 1)

        #expect(isKeptBefore == isKept)
        #expect(isKeptAfter)
        let record = found()
        #expect(record == Self.new)
    }

    @Test mutating func oneRecordCanBeForgotten() {
        _ = keep(Self.old, askedAt: start)

        state.forget(Self.key)

        let record = found()
        #expect(record == nil)
    }
}
