// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct RefreshDeadlockDetectorTests {
    private let objects = (0..<4).map { _ in Census() }
    private var ids: [ObjectIdentifier] { objects.map { ObjectIdentifier($0) } }

    @Test func circularWaitIsRejected() {
        var waits = RefreshDeadlockDetector()

        let begun = [
            waits.begin([ids[0]], for: ids[1]), waits.begin([ids[1]], for: ids[2]), waits.begin([ids[2]], for: ids[0]),
            waits.begin([ids[3], ids[2]], for: ids[0]), waits.begin([ids[3]], for: ids[0]),
        ]

        #expect(begun == [true, true, false, false, true])
    }

    @Test func duplicateWaitLastsUntilBothEnd() {
        var waits = RefreshDeadlockDetector()
        var begun = [waits.begin([ids[0]], for: ids[1]), waits.begin([ids[0]], for: ids[1])]

        for _ in 0..<2 {
            waits.end([ids[0]], for: ids[1])
            begun.append(waits.begin([ids[1]], for: ids[0]))
        }

        #expect(begun == [true, true, false, true])
    }
}
