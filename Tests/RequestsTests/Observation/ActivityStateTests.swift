// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct ActivityStateTests {
    @Test func changesDuringAReportAreReportedAfterwardsOrNotAtAll() {
        var state = ActivityState()

        #expect(state.begin(1) == true)
        #expect(state.begin(2) == nil)
        #expect(state.end(1) == nil)
        #expect(state.end(2) == nil)  // Another thread is reporting, and continues.
        #expect(state.told(true) == false)
        #expect(state.begin(3) == nil)
        #expect(state.told(false) == true)
        #expect(state.end(3) == nil)
        #expect(state.begin(4) == nil)
        #expect(state.told(true) == nil)  // It has changed and changed back.
        #expect(state.end(4) == false)
        #expect(state.told(false) == nil)
    }
}
