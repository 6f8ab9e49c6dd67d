// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// The rules of Combine for a subscription to one result, tested without Combine.
@Suite(.bounded) struct ResultSubscriptionTests {
    private let operation = BlockOperation {}

    @Test func startsOnceOnFirstDemand() {
        var subscription = ResultSubscription()

        let starts = [false, true, true].map { subscription.request(isPositive: $0) }

        #expect(starts == [false, true, false])
    }

    @Test func deliversOneValueAndOneCompletion() {
        var subscription = ResultSubscription()
        _ = subscription.request(isPositive: true)
        _ = subscription.store(operation)

        let calls = [subscription.isRunning, subscription.end().wasRunning, subscription.isRunning]

        #expect(calls == [true, true, false])
    }

    @Test func cancelCancelsOperationAndEndsSubscription() {
        var subscription = ResultSubscription()
        _ = subscription.request(isPositive: true)
        _ = subscription.store(operation)

        let cancelled = subscription.end().operation
        let later = [subscription.isRunning, subscription.end().wasRunning, subscription.request(isPositive: true)]

        #expect(cancelled === operation && later == [false, false, false])
    }

    @Test func cancelOnValueSuppressesCompletion() {
        var subscription = ResultSubscription()
        _ = subscription.request(isPositive: true)
        let isDue = subscription.isRunning

        let cancelled = subscription.end().operation
        let completes = subscription.end().wasRunning

        #expect(isDue && cancelled == nil && !completes)
    }

    @Test func operationStoredAfterEndIsNotRetained() {
        var subscription = ResultSubscription()
        _ = subscription.request(isPositive: true)
        _ = subscription.end()

        let isKept = subscription.store(operation)

        #expect(!isKept)
    }

    @Test func cancelBeforeDemandStartsNothing() {
        var subscription = ResultSubscription()

        let cancelled = subscription.end().operation
        let starts = subscription.request(isPositive: true)

        #expect(cancelled == nil && !starts)
    }
}
