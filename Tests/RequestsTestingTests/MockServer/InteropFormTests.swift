// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Python's strict parser of forms and queries, an independent implementation, reads the library's output.
@Suite(.bounded, .enabled(if: Tool.python.exists, "Python is not installed"))
struct InteropFormTests {
    private static let program = """
        import json, sys, urllib.parse
        with open(sys.argv[1], "rb") as file: lines = file.read().decode("ascii").split("\\n")
        print(json.dumps([urllib.parse.parse_qsl(line, keep_blank_values=True, strict_parsing=True, encoding="utf-8",
            errors="strict", max_num_fields=100000) if line else [] for line in lines]))
        """

    /// Returns the items that Python finds in texts.
    private func parsed(_ texts: [String]) async throws -> [[[String]]] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(texts.joined(separator: "\n").utf8).write(to: file)
        let result = try await Tool.python("-c", Self.program, file.path)
        #expect(result.errors == "")
        return try JSONDecoder().decode([[[String]]].self, from: Data(result.output.utf8))
    }

    /// Returns the text that a server receives: as form content, and as a query, with both spellings of spaces.
    private func received(_ query: Query) async throws -> [String] {
        let server = try MockServer { _ in .noContent }
        let client = HTTPClient(baseURL: server.url, transport: HTTPClient.defaultTransport)

        _ = try await client.fetch(HTTPRequest(method: .post, "/", body: .form(query)))
        for spaces in [Query.Spaces.percent, .plus] {
            var query = query
            query.spaces = spaces
            _ = try await client.fetch(HTTPRequest("/", query: query))
        }

        let requests = server.requests
        try #require(requests.count == 3)
        #expect(requests[0].headers[.contentType] == "application/x-www-form-urlencoded")
        return [requests[0].text] + requests.dropFirst().map { String($0.target.drop { $0 != "?" }.dropFirst()) }
    }

    static let lists: [[(String, String)]] = [
        [("a", "b")], [("a", "1"), ("a", "2"), ("b", ""), ("", "c"), ("a", "3")],
        [("grün", "🥞 e\u{301}"), ("日本", "語"), ("\u{FEFF}", "\u{202E}")],
        [(" a b ", " c  d ")], [("+", "+"), ("a+b", "c+d")], [("&=;#?/%", "&=;#?/%"), ("%41", "%zz")],
        [("a[]", "1"), ("a[b][0]", "2")], [("a\r\nb", "c\r\nd"), ("\t", "\u{1}\u{7F}")], [("~*-._!'()", "~*-._!'()")],
        [("long", String(repeating: "ü ", count: Scale.pick(2000, whole: 50_000)))],
    ]

    @Test(arguments: lists.indices)
    func queryItemsRoundTrip(index: Int) async throws {
        let list = Self.lists[index]

        let texts = try await received(Query(list.map { Query.Item($0.0, value: $0.1) }))

        #expect(try await parsed(texts) == Array(repeating: list.map { [$0.0, $0.1] }, count: 3))
    }

    @Test func thousandFieldsRoundTrip() async throws {
        let fields = (0..<1_000).map { ["field \($0 % 10)", "\($0) & \u{1F95E}"] }

        let texts = try await received(Query(fields.map { Query.Item($0[0], value: $0[1]) }))

        #expect(try await parsed(texts) == Array(repeating: fields, count: 3))
    }

    @Test func charactersUpToU02FFRoundTrip() async throws {
        let scalars = (0...0x2FF).compactMap { Unicode.Scalar(UInt32($0)) }.map { String($0) }

        let texts = try await received(Query(scalars.map { Query.Item($0, value: $0) }))

        #expect(try await parsed(texts) == Array(repeating: scalars.map { [$0, $0] }, count: 3))
    }

    @Test func formFieldWithoutValueIsEmpty() async throws {
        let form = HTTPBody.form([Query.Item("flag"), Query.Item("a", value: "b")])

        let text = String(decoding: try #require(try form.data()), as: UTF8.self)

        #expect(try await parsed([text]) == [[["flag", ""], ["a", "b"]]])
    }

    @Test func emptyFormProducesEmptyBody() async throws {
        #expect(try HTTPBody.form([]).data() == Data())
        #expect(try await received([]) == ["", "", ""])
    }

    // MARK: Values

    private struct Search: Encodable, Sendable {
        struct Page: Encodable, Sendable {
            var number = 2
            var itemCount = 50
        }
        var text = "a & b=ü+"
        var tags = ["x y", "z"]
        var page = Page()
        var isNew = true
        var until: String? = .none
        var date = Date(timeIntervalSince1970: 1_783_758_600.5)
        var data = Data([0xFB, 0xFF, 0x3E])
        var price = 2.5

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(text, forKey: .text)
            try container.encode(tags, forKey: .tags)
            try container.encode(page, forKey: .page)
            try container.encode(isNew, forKey: .isNew)
            try container.encode(until, forKey: .until)
            try container.encode(date, forKey: .date)
            try container.encode(data, forKey: .data)
            try container.encode(price, forKey: .price)
        }

        private enum Key: CodingKey { case text, tags, page, isNew, until, date, data, price }
    }

    private static let plain = [
        ["text", "a & b=ü+"], ["tags[]", "x y"], ["tags[]", "z"], ["page[number]", "2"], ["page[itemCount]", "50"],
        ["isNew", "true"], ["date", "2026-07-11T08:30:00.500Z"], ["data", "+/8+"], ["price", "2.5"],
    ]

    /// The effect of each option on the plain fields: those of a prefix are replaced by others.
    static let options: [(change: @Sendable (inout QueryEncoder) -> Void, prefix: String, fields: [[String]])] = [
        ({ _ in }, "text", [["text", "a & b=ü+"]]),
        ({ $0.arrays = .noBrackets }, "tags", [["tags", "x y"], ["tags", "z"]]),
        ({ $0.arrays = .indexed }, "tags", [["tags[0]", "x y"], ["tags[1]", "z"]]),
        ({ $0.arrays = .custom { "\($0)&\($1)" } }, "tags", [["tags&0", "x y"], ["tags&1", "z"]]),
        ({ $0.bools = .numeric }, "isNew", [["isNew", "1"]]),
        ({ $0.dates = .secondsSince1970 }, "date", [["date", "1783758600.5"]]),
        ({ $0.dates = .millisecondsSince1970 }, "date", [["date", "1783758600500"]]),
        ({ $0.dates = .deferred }, "date", [["date", "805451400.5"]]),
        ({ $0.dates = .custom { _ in "a day & more" } }, "date", [["date", "a day & more"]]),
        ({ $0.data = .custom { "\($0.count) bytes" } }, "data", [["data", "3 bytes"]]),
        ({ $0.keyPaths = .dots }, "page", [["page.number", "2"], ["page.itemCount", "50"]]),
        ({ $0.keyPaths = .custom { "\($0) \($1)" } }, "page", [["page number", "2"], ["page itemCount", "50"]]),
        ({ $0.nils = .empty }, "date", [["until", ""], ["date", "2026-07-11T08:30:00.500Z"]]),
        ({ $0.nils = .null }, "date", [["until", "null"], ["date", "2026-07-11T08:30:00.500Z"]]),
    ]

    @Test(arguments: options.indices)
    func queryEncoderOptionsRoundTrip(index: Int) async throws {
        let (change, prefix, fields) = Self.options[index]
        var encoder = QueryEncoder()
        change(&encoder)
        let place = try #require(Self.plain.firstIndex { $0[0].hasPrefix(prefix) })
        var expected = Self.plain.filter { !$0[0].hasPrefix(prefix) }
        expected.insert(contentsOf: fields, at: place)

        let texts = try await received(try encoder.encode(Search()))

        #expect(try await parsed(texts) == Array(repeating: expected, count: 3))
        let form = try #require(try HTTPBody.form(Search(), encoder: encoder).data())
        #expect(texts[0] == String(decoding: form, as: UTF8.self))
    }

    @Test func bothSpaceEncodingsAreParsed() async throws {
        for spaces in [Query.Spaces.percent, .plus] {
            var encoder = QueryEncoder()
            encoder.spaces = spaces

            let text = try encoder.encode(["a b": "c + d"]).percentEncoded

            #expect(try await parsed([text]) == [[["a b", "c + d"]]])
        }
    }

    @Test func renamedKeysAreEncoded() async throws {
        struct Named: Encodable { var itemCount = 1 }
        var encoder = QueryEncoder()
        encoder.keys = .snakeCase

        #expect(try await parsed([try encoder.encode(Named()).percentEncoded]) == [[["item_count", "1"]]])
    }

    @Test func phpStyleArraysRoundTrip() async throws {
        var encoder = QueryEncoder()
        (encoder.bools, encoder.spaces) = (.numeric, .plus)
        let query = try encoder.encode(["a": [true, false], "b c": "d e"] as [String: Any?])

        #expect(try await parsed([query.percentEncoded]) == [[["a[]", "1"], ["a[]", "0"], ["b c", "d e"]]])
    }
}
