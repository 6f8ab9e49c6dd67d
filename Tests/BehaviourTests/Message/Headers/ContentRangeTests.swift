// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct ContentRangeTests {
    @Test(
        arguments: [
            // RFC 9110, 14.4.
            ("bytes 42-1233/1234", HTTPField.ContentRange(42...1233, of: 1234)),
            ("bytes 42-1233/*", HTTPField.ContentRange(42...1233)),
            ("bytes */1234", HTTPField.ContentRange(unsatisfiedOf: 1234)),
            ("bytes 0-499/1234", HTTPField.ContentRange(0...499, of: 1234)),
            ("bytes 734-1233/1234", HTTPField.ContentRange(734...1233, of: 1234)),
            ("bytes */0", HTTPField.ContentRange(unsatisfiedOf: 0)),
            (" Bytes  0-0/1 ", HTTPField.ContentRange(0...0, of: 1)),
            ("bytes 007-8/9", HTTPField.ContentRange(7...8, of: 9)),
            (
                "bytes 0-9223372036854775806/9223372036854775807",
                HTTPField.ContentRange(0...9_223_372_036_854_775_806, of: 9_223_372_036_854_775_807)
            ),
        ] as [(String, HTTPField.ContentRange)]
    )
    func parsesContentRanges(text: String, range: HTTPField.ContentRange) {
        #expect(HTTPField.ContentRange(parsing: text) == range)
        #expect(HTTPField.ContentRange(parsing: range.rawValue) == range)
    }

    @Test(
        arguments: [
            "", "bytes", "bytes ", "bytes 1-2", "bytes 2-1/3", "bytes 0-3/3", "bytes 0-9/3", "bytes */*",
            "bytes -1-2/3",
            "bytes 1-/3", "bytes -2/3", "bytes 1-2/", "bytes 1-2/3, 4-5/6", "bytes 1-2/3 4", "bytes=1-2/3",
            "bytes1-2/3",
            "lines 1-2/3", "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775808/*",
            "bytes 0-1/18446744073709551616",
            "bytes +0-1/2", "bytes 0x0-1/2", "bytes ٠-١/٢", "bytes 0 - 1/2", "bytes 0-1/-2", "bytes\t0-1/2",
        ]
    )
    func malformedRangeIsNotParsed(_ text: String) {
        #expect(HTTPField.ContentRange(parsing: text) == nil)
    }

    @Test(
        arguments: [
            HTTPField.ContentRange(-1...2, of: 3), HTTPField.ContentRange(0...3, of: 3),
            HTTPField.ContentRange(unsatisfiedOf: -1),
        ]
    )
    func invalidRangesAreRejected(_ range: HTTPField.ContentRange) {
        #expect(throws: InvalidValue.self) { try range.validated() }
    }

    @Test func createsRangeFields() {
        #expect(
            HTTPField(.contentRange, HTTPField.ContentRange(0...1, of: 2)).description == "Content-Range: bytes 0-1/2"
        )
        #expect(HTTPField.range(500...).description == "Range: bytes=500-")
    }
}
