// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct RetryAfterTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        arguments: [
            ("120", .seconds(120)), ("0", .zero), (" 5 ", .seconds(5)), ("0005", .seconds(5)),
            ("1.5", .milliseconds(1500)), ("0.25", .milliseconds(250)), (" 2.0 ", .seconds(2)),
            (String(repeating: "9", count: 400) + ".5", .seconds(1_000_000_000)),
            ("9223372036854775808", .seconds(1_000_000_000)),
            (String(repeating: "9", count: 10_000), .seconds(1_000_000_000)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", .seconds(10)), ("Sunday, 06-Nov-94 08:49:38 GMT", .seconds(1)),
            ("Sun, 06 Nov 1994 08:49:36 GMT", .zero), ("Mon, 01 Jan 0001 00:00:00 GMT", .zero),
            ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(1_000_000_000)),
        ] as [(String, Duration)]
    )
    func parsesSecondsAndDates(text: String, delay: Duration) {
        #expect(Duration(retryAfter: text, now: now) == delay)
    }

    @Test(arguments: [
        "", "-1", "+1", "1.", ".5", "1.5.2", "1,5", "-1.5", "1.5e3", "1 2", "0x10", "1e3", "soon", "٣", "12\r\n",
        "Sun, 99 Nov 1994 08:49:47 GMT",
    ])
    func malformedDelayIsInvalid(_ text: String) {
        #expect(Duration(retryAfter: text, now: now) == nil)
    }

    /// OpenAI and Azure send milliseconds in addition to whole seconds.
    @Test(
        arguments: [
            (["Retry-After-Ms": "250", "Retry-After": "1"], .milliseconds(250)),
            (["retry-after-ms": "1"], .milliseconds(1)),
            (["retry-after-ms": "12.5"], .microseconds(12_500)),
            (["retry-after-ms": "soon", "Retry-After": "2"], .seconds(2)),
            (["retry-after-ms": "-1"], nil), (["Retry-After": "1.5"], .milliseconds(1500)),
        ] as [(HTTPHeaders, Duration?)]
    )
    func parsesRetryAfterMilliseconds(headers: HTTPHeaders, delay: Duration?) {
        let head = HTTPResponseHead(status: .tooManyRequests, headers: headers)

        #expect(RequestError(.unacceptableStatus, phase: .validating, response: head).retryAfter(from: now) == delay)
    }

    @Test func extremeDatesDoNotTrap() {
        for seconds in [TimeInterval.infinity, -.infinity, .nan, 1e300, -1e300] {
            let present = Date(timeIntervalSince1970: seconds)
            let delay = Duration(retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT", now: present) ?? .seconds(-1)
            #expect((.zero)...(.seconds(1_000_000_000)) ~= delay)
        }
    }
}
