// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

/// The rules of Combine for a subscription to one result, tested without Combine.
@Suite(.bounded) struct ResultSubscriptionTests {
    private let operation = BlockOperation {}

    @Test func nothingStartsWithoutDemandAndNothingTwice() {
        var subscription = ResultSubscription()

        let starts = [false, true, true].map { subscription.request(isPositive: $0) }

        #expect(starts == [false, true, false])
    }

    @Test func oneValueAndOneCompletionAreDelivered() {
        var subscription = ResultSubscription()
        _ = subscription.request(isPositive: true)
        _ = subscription.keep(operation)

        let calls = [subscription.beginDelivery(), subscription.endDelivery(), subscription.beginDelivery()]

        #expect(calls == [true, true, false])
    }

    @Test func cancelCancelsTheOperationAndNothingFollows() {
        var subscription = ResultSubscription()
        _ = subscription.request(isPositive: true)
        _ = subscription.keep(operation)

        let cancelled = subscription.cancel()
        let later = [subscription.beginDelivery(), subscription.endDelivery(), subscription.request(isPositive: true)]

        #expect(cancelled === operation && later == [false, false, false])
    }

    @Test func aSubscriberThatCancelsAtTheValueReceivesNoCompletion() {
        var subscription = ResultSubscription()
        _ = subscription.request(isPositive: true)
        _ = subscription.beginDelivery()

        let cancelled = subscription.cancel()
        let completes = subscription.endDelivery()

        #expect(cancelled == nil && !completes)
    }

    @Test func anOperationThatCameTooLateIsNotKept() {
        var subscription = ResultSubscription()
        _ = subscription.request(isPositive: true)
        _ = subscription.cancel()

        let isKept = subscription.keep(operation)

        #expect(!isKept)
    }

    @Test func aCancelBeforeAnyDemandStartsNothing() {
        var subscription = ResultSubscription()

        let cancelled = subscription.cancel()
        let starts = subscription.request(isPositive: true)

        #expect(cancelled == nil && !starts)
    }
}
