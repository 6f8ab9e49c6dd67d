// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct TokenBucketTests {
    @Test func backwardTimeCountsAsZero() {
        var bucket = TokenBucket(1, per: .seconds(1))
        bucket.take(1)

        #expect(bucket.available(at: .milliseconds(900)) == 0)
        #expect(bucket.available(at: .milliseconds(100)) == 0)
        #expect(bucket.nextToken(at: .zero) == .seconds(1))
        #expect(bucket.available(at: .seconds(1)) == 1)
    }
}
