// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CacheRemovalsTests {
    private let start = CacheSample.start

    @Test func responseRequestedBeforeARemovalIsOutdated() {
        var removals = CacheRemovals()

        removals.note("a", at: start)

        #expect(removals.outdate("a", askedAt: start - 1, now: start + 1))
        #expect(!removals.outdate("a", askedAt: start, now: start + 1))
        #expect(!removals.outdate("b", askedAt: start - 1, now: start + 1))
        #expect(removals.generation == 1)
    }

    @Test func aRemovalOfEverythingIsOfEachOne() {
        var removals = CacheRemovals()

        removals.noteAll(at: start)

        #expect(removals.outdate("a", askedAt: start - 1, now: start + 1))
        #expect(!removals.outdate("a", askedAt: start, now: start + 1))
    }

    @Test func aClockThatIsSetBackDoesNotKeepEverythingOut() {
        var removals = CacheRemovals()

        removals.noteAll(at: start)

        #expect(!removals.outdate("a", askedAt: start - 3600, now: start - 3599))
    }

    @Test func manyRemovalsAreForgottenOnTheSafeSide() {
        var removals = CacheRemovals()

        for index in 0...1000 { removals.note("\(index)", at: start + TimeInterval(index)) }

        #expect(removals.outdate("another", askedAt: start + 999, now: start + 2000))
        #expect(!removals.outdate("0", askedAt: start + 1000, now: start + 2000))
    }
}
