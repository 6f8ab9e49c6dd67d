// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct RequestedRangeTests {
    static let ranges: [(String, Int, RequestedRange)] = [
        ("bytes=0-499", 10_000, .part(0..<500)),
        ("bytes=500-999", 10_000, .part(500..<1000)),
        ("bytes=-500", 10_000, .part(9500..<10_000)),
        ("bytes=9500-", 10_000, .part(9500..<10_000)),
        ("bytes=0-", 1, .part(0..<1)),
        ("Bytes= 1 - 2 ", 10, .part(1..<3)),
        ("bytes=0-99999999999999999999999", 10, .part(0..<10)),
        ("bytes=-99999999999999999999999", 10, .part(0..<10)),
        ("bytes=9-9", 10, .part(9..<10)),
        ("bytes=10-", 10, .unsatisfiable),
        ("bytes=99999999999999999999999-", 10, .unsatisfiable),
        ("bytes=0-", 0, .unsatisfiable),
        ("bytes=-0", 10, .unsatisfiable),
        ("bytes=-1", 0, .unsatisfiable),
        ("bytes=5-4", 10, .whole),
        ("bytes=0-0,2-3", 10, .whole),
        ("bytes=-", 10, .whole),
        ("bytes=", 10, .whole),
        ("bytes", 10, .whole),
        ("", 10, .whole),
        ("bytes=1", 10, .whole),
        ("bytes=a-b", 10, .whole),
        ("bytes=+1-2", 10, .whole),
        ("items=0-1", 10, .whole),
        ("bytes=1-2-3", 10, .whole),
        ("bytes=١-٢", 10, .whole),
    ]

    @Test(arguments: ranges)
    func aRangeIsWhatTheFieldSays(field: String, length: Int, expected: RequestedRange) {
        #expect(RequestedRange(field, of: length) == expected)
    }
}
