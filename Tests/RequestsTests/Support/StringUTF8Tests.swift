// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct StringUTF8Tests {
    @Test(arguments: ["", "a\0b", "é", "e\u{301}", "\u{FEFF}a", "\u{FFFD}", "𝄞\r\n"])
    func validUTF8RoundTrips(text: String) {
        #expect(String(utf8: Array(text.utf8)).map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test(
        arguments: [
            [0x80], [0x61, 0xC3], [0xC3, 0x28], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xEF, 0xBF, 0xBD, 0xFF],
        ] as [[UInt8]]
    )
    func invalidUTF8ReturnsNil(bytes: [UInt8]) {
        #expect(String(utf8: bytes) == nil)
    }
}
