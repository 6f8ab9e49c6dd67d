// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Dictionary literals whose names may be equal at run time, which would trap in a Swift dictionary.
@Suite(.bounded) struct LiteralTests {
    // Determined at run time, like user input.
    private let one = "name"
    private let other = "name"
    private let first = "ada"
    private let second = "bob"
    private let page = 2
    private let isNew = true

    private struct Recipe: Encodable {
        let title: String
        var servings = 2
    }

    private let soup = Recipe(title: "Soup")

    private func text(_ body: HTTPBody) throws -> String {
        String(decoding: try body.data() ?? Data(), as: UTF8.self)
    }

    @Test func formKeepsOrderDuplicatesAndNil() throws {
        #expect(try text(.form([one: "z", other: "a"])) == "name=z&name=a")
        #expect(try text(.form([one: first, other: second])) == "name=ada&name=bob")
        #expect(try text(.form(["z": "1", "a": "2", "none": nil])) == "z=1&a=2&none=")
        #expect(try text(.form(["z": first, "page": page, "new": isNew])) == "z=ada&page=2&new=true")
    }

    @Test func formWithListsKeepsOrderAndDuplicates() throws {
        var encoder = QueryEncoder()
        encoder.arrays = .noBrackets

        #expect(try text(.form([one: ["z", "a"], other: ["b"]], encoder: encoder)) == "name=z&name=a&name=b")
        #expect(try text(.form([one: "z", other: "a"], encoder: encoder)) == "name=z&name=a")
    }

    @Test func duplicateJSONNamesFail() throws {
        let bodies: [HTTPBody] = [
            .json([one: 1, other: 2]), .json([one: first, other: second]), .json([one: soup, other: nil]),
            .json([one: .value(first), other: 2]), .json(["user": [one: .value(first), other: .value(second)]]),
            .json([[one: 1, other: 2]]), .json([one: 1, other: 2], encoder: JSONEncoder()),
            HTTPRequest("/").body([one: first, other: second]).body, HTTPRequest("/").body { [one: 1, other: 2] }.body,
        ]

        for body in bodies { #expect(throws: EncodingError.self) { try body.resolved() } }
    }

    @Test func duplicateNamesFailRequest() async throws {
        let transport = InMemoryTransport { _ in .json([one: 1, other: 2]) }
        let client = HTTPClient(baseURL: URL(string: "https://a.example"), transport: transport)

        let sent = await #expect(throws: RequestError.self) {
            try await client.fetch(Post<Void>("a").body(.json(["user": [one: .value(first), other: 2]])))
        }
        let received = await #expect(throws: RequestError.self) { try await client.fetch(Get<JSONValue>("a")) }

        #expect(sent?.code == .encoding && received?.code == .encoding)
        let reason = sent.map { "\($0)" }
        #expect(reason?.contains("the body has two members named “name” in one object at “user”") == true)
        #expect(transport.requests.map(\.method) == [.get])
    }

    @Test func literalsCanNestVariables() throws {
        let (none, price, day): (String?, Decimal, Date) = (nil, 1.5, Date(timeIntervalSince1970: 978_307_200))
        let counts = ["a": 1]

        let texts: [(HTTPBody, String)] = [
            (
                .json(["model": .value(first), "options": ["role": "user", "n": 3]]),
                #"{"model":"ada","options":{"n":3,"role":"user"}}"#
            ),
            (.json([["status": 403, "message": .value(first)]]), #"[{"message":"ada","status":403}]"#),
            (
                .json([one: [.value(page + 1), .value(UInt8(1)), .value(Float(0.5)), 0.5, -1, .value(isNew)]]),
                #"{"name":[3,1,0.5,0.5,-1,true]}"#
            ),
            (.json([[], [:], nil, .value(none), .value(price), .value(day)]), "[[],{},null,null,1.5,0]"),
            (
                .json(["a": ["\(first)!", .value(soup), .value(counts)]]),
                #"{"a":["ada!",{"servings":2,"title":"Soup"},{"a":1}]}"#
            ),
            (.json([]), "[]"), (.json([:]), "{}"), (.json(nil), "null"), (.json([:], encoder: JSONEncoder()), "{}"),
        ]

        for (body, expected) in texts { #expect(try text(body) == expected) }
    }

    @Test func stubsAndConditionsAcceptLiterals() async throws {
        let stubber = HTTPStubber()
        stubber.stub(.post, "/a", .jsonBody(["n": [1, .value(first)], "o": ["x": nil]])).respond(
            with: .json(["error": ["status": 403, "message": .value(second)], "tags": []])
        )
        let condition = StubCondition.jsonBody(containing: ["n": .value(page)])
        stubber.stub(.post, "/b", condition).respond(with: .json([["status": 403], []]))
        let client = HTTPClient(baseURL: URL(string: "https://a.example"), transport: stubber)

        let object = try await client.fetch(Post<JSONValue>("a").body(["n": [1, .value(first)], "o": ["x": nil]]))
        let array = try await client.fetch(Post<JSONValue>("b").body(["n": page, "m": first]))

        #expect(object == ["error": ["status": 403, "message": "bob"], "tags": []])
        #expect(array == [["status": 403], []])
    }

    @Test func jsonMembersMayHaveMixedTypes() throws {
        let tags = ["a", "b"]

        #expect(
            try text(.json(["name": first, "page": page, "new": isNew, "tags": tags, "note": nil]))
                == #"{"name":"ada","new":true,"note":null,"page":2,"tags":["a","b"]}"#
        )
        #expect(try text(.json(["page": UInt64(7), "id": String(first.prefix(1))])) == #"{"id":"a","page":7}"#)
        #expect(try text(.json([:])) == "{}")
    }

    @Test func encoderStrategiesApplyToLiteralValues() throws {
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

    @Test func literalDescriptionShowsOnlyNames() {
        let literal: JSONValue.Literal = ["password": "hush", "user": .value(soup)]

        #expect("\(literal)" == "password, user" && !String(reflecting: literal).contains("hush"))
    }

    @Test func nonLiteralValuesAreEncodedNormally() throws {
        let dictionary = ["b": 1, "a": 2]

        #expect(try text(.json(dictionary)) == #"{"a":2,"b":1}"#)
        #expect(try text(.form(["b": 1])) == "b=1")
        #expect(try text(.json([first, second])) == #"["ada","bob"]"#)
    }

    @Test func bodyBuilderAcceptsLiterals() throws {
        let nested = HTTPRequest("/").body { ["a": [1, .value(first)]] }
        let flat = HTTPRequest("/").body { ["a": soup, "b": page] }
        let array = HTTPRequest("/").body { [["a": .value(page)], []] }

        #expect(try text(nested.body) == #"{"a":[1,"ada"]}"#)
        #expect(try text(flat.body) == #"{"a":{"servings":2,"title":"Soup"},"b":2}"#)
        #expect(try text(array.body) == #"[{"a":2},[]]"#)
        #expect(try HTTPRequest("/").body { nil }.body.resolved().data() == nil)
    }

    @Test func queriesAndHeadersAcceptDuplicateNames() throws {
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
