// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct DurationInWordsTests {
    @Test(arguments: [
        (Duration.zero, "0.0 ms"), (.microseconds(49), "0.0 ms"), (.microseconds(50), "0.1 ms"),
        (.milliseconds(1234), "1234.0 ms"), (.seconds(10), "10.0 s"), (.milliseconds(59_960), "60.0 s"),
        (.milliseconds(-5), "-5.0 ms"), (.seconds(Int64.max), "1000000000000.0 s"),
    ])
    func durationsAreFormattedBriefly(_ duration: Duration, _ expected: String) {
        #expect(duration.displayString == expected)
    }
}
