// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct TimestampTests {
    @Test(arguments: [
        (0, "2026-11-21T10:00:00.000Z"), (1500, "2026-11-21T10:00:01.500Z"), (50_400_000, "2026-11-22T00:00:00.000Z"),
    ])
    func timesAreWrittenAsTheStandardSays(_ milliseconds: Int, _ expected: String) {
        let timeline = RequestTimeline(start: SampleOperation.start, end: .zero)

        #expect(timeline.timestamp(at: .milliseconds(milliseconds)) == expected)
    }
}
