// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct GzipTests {
    @Test func frameMatchesRFC1952() {
        // RFC 1952, 2.2 and 2.3; the checksum is the standard check value of these digits.
        let frame = Gzip.frame(Data([1, 2, 3]), of: Data("123456789".utf8))

        #expect(
            [UInt8](frame) == [
                0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 1, 2, 3, 0x26, 0x39, 0xF4, 0xCB, 9, 0, 0, 0,
            ]
        )
    }
}
