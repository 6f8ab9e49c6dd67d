// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct ASCIISetTests {
    @Test func tokenCharactersMatchRFC9110() {
        // RFC 9110, 5.6.2.
        let token = Set("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

        for byte in UInt8.min...UInt8.max { #expect(ASCIISet.token.contains(byte) == token.contains(byte)) }
    }

    @Test func fieldValuesExcludeControlCharacters() {
        // RFC 9110, 5.5.
        for byte in UInt8.min...UInt8.max {
            #expect(ASCIISet.fieldValue.contains(byte) == (byte == 0x09 || byte >= 0x20 && byte != 0x7F))
        }
    }

    @Test func hexDigitsOfBothCasesHaveValues() {
        for byte in UInt8.min...UInt8.max {
            #expect(byte.hexValue == (byte < 0x80 ? UInt8(String(Unicode.Scalar(byte)), radix: 16) : nil))
            #expect([byte].hexadecimal == (byte < 16 ? "0" : "") + String(byte, radix: 16))
        }
    }

    @Test func lowercasingAffectsOnlyASCIIUppercase() {
        for byte in UInt8.min...UInt8.max {
            let isUpper = (65...90).contains(byte)
            #expect(ASCII.lowercased(byte) == (isUpper ? byte + 32 : byte))
        }
    }

    @Test func shortenedTextIsEscapedAndBounded() {
        #expect("a\r\n\0b".shortened() == "a\\r\\n\\0b")
        #expect(String(repeating: "a", count: 100).shortened(to: 3) == "aaa…")
        #expect("abc".shortened(to: 3) == "abc")
    }
}
