// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// Literals of names and values, whose names may be equal at run time, which would trap in a Swift dictionary.
@Suite(.bounded) struct LiteralTests {
    // Read at run time, as user input is.
    private let one = "name"
    private let other = "name"
    private let first = "ada"
    private let second = "bob"
    private let page = 2
    private let isNew = true

    private func text(_ body: HTTPBody) throws -> String {
        String(decoding: try body.data() ?? Data(), as: UTF8.self)
    }

    @Test func aFormKeepsOrderRepetitionAndNil() throws {
        #expect(try text(.form([one: "z", other: "a"])) == "name=z&name=a")
        #expect(try text(.form([one: first, other: second])) == "name=ada&name=bob")
        #expect(try text(.form(["z": "1", "a": "2", "none": nil])) == "z=1&a=2&none=")
        #expect(try text(.form(["z": first, "page": page, "new": isNew])) == "z=ada&page=2&new=true")
    }

    @Test func aFormOfListsKeepsOrderAndRepetition() throws {
        var encoder = QueryEncoder()
        encoder.arrays = .noBrackets

        #expect(try text(.form([one: ["z", "a"], other: ["b"]], encoder: encoder)) == "name=z&name=a&name=b")
        #expect(try text(.form([one: "z", other: "a"], encoder: encoder)) == "name=z&name=a")
    }

    @Test func theLastMemberOfANameCountsInJSON() throws {
        #expect(try text(.json([one: 1, other: 2])) == #"{"name":2}"#)
        #expect(try text(.json([one: first, other: second])) == #"{"name":"bob"}"#)
        #expect(try text(.json([one: 1, other: 2], encoder: JSONEncoder())) == #"{"name":2}"#)
        #expect(try text(.json([one: first, other: second], encoder: JSONEncoder())) == #"{"name":"bob"}"#)
    }

    @Test func membersOfJSONMayBeOfAnyMixture() throws {
        let tags = ["a", "b"]

        #expect(
            try text(.json(["name": first, "page": page, "new": isNew, "tags": tags, "note": nil]))
                == #"{"name":"ada","new":true,"note":null,"page":2,"tags":["a","b"]}"#
        )
        #expect(try text(.json(["page": UInt64(7), "id": String(first.prefix(1))])) == #"{"id":"a","page":7}"#)
        #expect(try text(.json([:])) == "{}")
    }

    private struct Recipe: Encodable {
        let title: String
        var servings = 2
    }

    private let soup = Recipe(title: "Soup")
    private let cake = Recipe(title: "Cake")

    @Test func membersOfOnesOwnTypesMayHaveEqualNames() throws {
        let text = #"{"name":{"servings":2,"title":"Cake"}}"#

        #expect(try self.text(.json([one: soup, other: cake])) == text)
        #expect(try self.text(.json([one: soup, other: cake], encoder: JSONEncoder())).contains("Cake"))
        #expect(try self.text(.json([one: soup, other: nil])) == #"{"name":null}"#)
        #expect(
            try self.text(.json([one: page, other: soup, "new": isNew]))
                == #"{"name":{"servings":2,"title":"Soup"},"new":true}"#
        )
    }

    @Test func literalsWithinALiteralMayHaveEqualNamesAsFields() throws {
        #expect(
            try text(.json(["user": [one: first, other: second] as JSONValue.Fields])) == #"{"user":{"name":"bob"}}"#
        )
        #expect(try text(.json([[one: soup, other: page]] as [JSONValue.Fields])) == #"[{"name":2}]"#)
        #expect(
            try text(.json(["a": [one: soup, other: cake] as JSONValue.Fields, "b": page]))
                == #"{"a":{"name":{"servings":2,"title":"Cake"}},"b":2}"#
        )
    }

    @Test func theEncoderTreatsTheValuesOfALiteralAsEver() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        struct Visit: Encodable { let firstDay: Date }
        let day = Date(timeIntervalSince1970: 7)

        let text = try text(
            .json(["isNew": isNew, "lastDay": day, "theVisit": Visit(firstDay: day)], encoder: encoder)
        )

        #expect(text == #"{"isNew":true,"lastDay":7,"theVisit":{"first_day":7}}"#)
    }

    @Test func aLiteralShowsItsNamesOnly() {
        let fields: JSONValue.Fields = ["password": "hush", "user": soup]

        #expect("\(fields)" == "password, user" && !String(reflecting: fields).contains("hush"))
    }

    @Test func valuesThatAreNoLiteralsAreEncodedAsBefore() throws {
        let dictionary = ["b": 1, "a": 2]

        #expect(try text(.json(dictionary)) == #"{"a":2,"b":1}"#)
        #expect(try text(.form(["b": 1])) == "b=1")
        #expect(try text(.json([first, second])) == #"["ada","bob"]"#)
    }

    @Test func aBuilderTakesLiteralsWithEqualNames() throws {
        let request = HTTPRequest("/").body { [one: 1, other: 2] }
        let named = HTTPRequest("/").body { [one: first, other: second] }

        let mixed = HTTPRequest("/").body { [one: soup, other: page] }

        let own = HTTPRequest("/").body { [one: soup, other: cake] }

        #expect(try text(own.body) == #"{"name":{"servings":2,"title":"Cake"}}"#)
        #expect(try text(mixed.body) == #"{"name":2}"#)
        #expect(try text(request.body) == #"{"name":2}"# && text(named.body) == #"{"name":"bob"}"#)
    }

    @Test func valuesOfTheVocabularyTakeLiteralsWithEqualNames() throws {
        let query: Query = [one: "z", other: "a"]
        let mixed: Query = ["z": first, "a": page, "flag": nil]
        let variables: URITemplate.Variables = [one: first, other: second]

        #expect(query.percentEncoded == "name=z&name=a" && mixed.percentEncoded == "z=ada&a=2&flag")
        #expect(variables["name"] == .string("bob"))
        #expect(Array(HTTPHeaders(["Via": "1", "via": "2"])).map(\.value) == ["1", "2"])
        #expect(Array(HTTPHeaders([one: first, other: second])).map(\.value) == ["ada", "bob"])
        #expect(try QueryEncoder().encode([one: first, other: second]).percentEncoded == "name=ada&name=bob")
        #expect(try QueryEncoder().encode(["z": 1, "a": nil, "l": [1]]).percentEncoded == "z=1&l%5B%5D=1")
    }
}
