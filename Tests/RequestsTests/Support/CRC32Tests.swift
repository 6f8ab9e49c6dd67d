// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct CRC32Tests {
    @Test(arguments: [
        ("", 0), ("a", 0xE8B7_BE43), ("123456789", 0xCBF4_3926),
        ("The quick brown fox jumps over the lazy dog", 0x414F_A339),
    ])
    func checksumMatchesReferenceValues(text: String, value: UInt32) {
        #expect(CRC32.checksum(of: Data(text.utf8.prefix(3)), Data(text.utf8.dropFirst(3))) == value)
    }
}
