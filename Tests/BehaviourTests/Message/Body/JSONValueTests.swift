// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct JSONValueTests {
    private func encoded(_ value: JSONValue) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func decoded(_ text: String) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    }

    @Test(
        arguments: [
            ("null", nil), ("true", true), ("false", false), ("1", 1), ("-0.5", -0.5), (#""a""#, "a"), ("[]", []),
            ("{}", [:]), (#"[1,"a",null,[true]]"#, [1, "a", nil, [true]]),
            (#"{"a":{"b":[1.5]},"c":""}"#, ["a": ["b": [1.5]], "c": ""]),
            ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)),
        ] as [(String, JSONValue)]
    )
    func literalsRoundTripAsJSON(text: String, value: JSONValue) throws {
        #expect(try decoded(text) == value)
        #expect(try encoded(value) == text)
    }

    @Test func integerBeyond64BitsBecomesDouble() throws {
        #expect(try decoded("18446744073709551616") == .double(18_446_744_073_709_551_616))
    }

    @Test func nonConformingFloatNamesStayStrings() throws {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "NaN"
        )

        let value = try decoder.decode(JSONValue.self, from: Data(#"["NaN", "inf", "-inf", "1", 1.5]"#.utf8))

        #expect(value == ["NaN", "inf", "-inf", "1", 1.5])
    }

    @Test func subscriptsFindMembersAndElements() {
        let name = "b"
        let value: JSONValue = ["a": [1, ["b": "\(name)c"]]]

        #expect(value["a"]?[1]?["b"] == "bc")
        #expect(value["x"] == nil && value[0] == nil && value["a"]?[2] == nil && value["a"]?[-1] == nil)
    }

    @Test func lastDuplicateMemberWins() {
        #expect((["a": 1, "a": 2] as JSONValue) == ["a": 2])
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func excessiveNestingFailsDecoding(open: String, close: String) throws {
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }

        #expect(try encoded(decoded(nested(60))) == nested(60))
        #expect(throws: DecodingError.self) { try decoded(nested(10_000)) }
        #expect(throws: DecodingError.self) { try decoded(String(repeating: open, count: 100_000)) }
    }

    @Test func excessiveNestingFailsEncoding() throws {
        var array: JSONValue = 1
        var object: JSONValue = 1
        for _ in 0..<2000 {
            array = [array]
            object = ["a": object]
        }

        #expect(throws: EncodingError.self) { try encoded(array) }
        #expect(throws: EncodingError.self) { try encoded(object) }
    }
}

/// A JSON value in a string.
@Suite(.bounded) struct JSONTextTests {
    @Test(
        arguments: [
            (
                ["next_page_token": "abc", "monkey": "see", "first_key": 1],
                #"{"first_key":1,"monkey":"see","next_page_token":"abc"}"#
            ),
            (
                ["password": "hush", "urls": ["https://a.example/?token=x"]],
                #"{"password":"hush","urls":["https://a.example/?token=x"]}"#
            ),
            ("text", #""text""#), (["a", nil, 1.5, true], #"["a",null,1.5,true]"#), ([:], "{}"), (nil, "null"),
        ] as [(JSONValue, String)]
    )
    func descriptionIsJSON(_ value: JSONValue, _ text: String) throws {
        #expect("\(value)" == text && String(describing: value) == text && String(reflecting: value) == text)
        #expect("\([value])" == "[\(text)]" && "\([1: value])" == "[1: \(text)]")
        #expect(try JSONDecoder().decode(JSONValue.self, from: Data("\(value)".utf8)) == value)
    }
}
