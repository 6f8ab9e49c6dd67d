// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct QueryEncoderTests {
    struct Page: Encodable {
        var number = 2
        var pageSize: Int?
    }

    struct Search: Encodable {
        enum Order: String, Encodable { case newest }
        var searchText = "Michael Bublé"
        var tags = ["a", "b"]
        var isOpen = true
        var page = Page()
        var order = Order.newest
        var limit: UInt8? = nil
        var note: String? = nil
    }

    private func text(_ value: some Encodable, _ change: (inout QueryEncoder) -> Void = { _ in }) throws -> String {
        var encoder = QueryEncoder()
        change(&encoder)
        return try encoder.encode(value).map { item in item.value.map { "\(item.name)=\($0)" } ?? item.name }
            .joined(separator: "&")
    }

    @Test func propertiesAreEncodedInDeclarationOrder() throws {
        #expect(
            try text(Search())
                == "searchText=Michael Bublé&tags[]=a&tags[]=b&isOpen=true&page[number]=2&order=newest"
        )
        #expect(
            try QueryEncoder().encode(Search()).percentEncoded
                == "searchText=Michael%20Bubl%C3%A9&tags%5B%5D=a&tags%5B%5D=b&isOpen=true&page%5Bnumber%5D=2&order=newest"
        )
    }

    @Test func dictionaryOfAnyValuesIsSorted() throws {
        let query = try QueryEncoder().encode(
            [
                "b": ["x", 1, true, nil, ["k": "v"]],
                "a": ["z": 1, "y": ["w": Int?.none, "v": Int?.some(2)]] as [String: Any],
                "c": nil, "d": NSNull(), "e": 1.5, "f": Page(), "g": URL(string: "http://h/?a=b")!,
                "h": Set(["q", "p"]),
            ] as [String: Any?]
        )

        #expect(
            query.map { "\($0.name)=\($0.value ?? "-")" } == [
                "a[y][v]=2", "a[z]=1", "b[]=x", "b[]=1", "b[]=true", "b[][k]=v", "e=1.5", "f[number]=2",
                "g=http://h/?a=b",
                "h[]=p", "h[]=q",
            ]
        )
    }

    @Test func setsOfAnyValuesAreSorted() throws {
        let query = try QueryEncoder().encode(
            [
                "a": Set<AnyHashable>(["d", "b", 1, "c", true]), "b": NSSet(array: ["z", "y", "x"]),
                "c": [Set<AnyHashable>([["k": "w"], ["k": "v"]])], "d": Set<AnyHashable>(),
            ] as [String: Any?]
        )

        #expect(
            query.map { "\($0.name)=\($0.value ?? "-")" } == [
                "a[]=1", "a[]=b", "a[]=c", "a[]=d", "a[]=true", "b[]=x", "b[]=y", "b[]=z", "c[][][k]=v", "c[][][k]=w",
            ]
        )
    }

    @Test func arraysKeepDuplicateElements() throws {
        #expect(try QueryEncoder().encode(["t": ["a", "b", "a"]]).percentEncoded == "t%5B%5D=a&t%5B%5D=b&t%5B%5D=a")
    }

    @Test func jsonObjectsKeepTheirTypes() throws {
        let json = try JSONSerialization.jsonObject(
            with: Data(#"{"a":[1,0,true,false,1.5,"1",null],"b":{"c":-7}}"#.utf8)
        )

        let query = try QueryEncoder().encode(#require(json as? [String: Any]))

        #expect(query[values: "a[]"] == ["1", "0", "true", "false", "1.5", "1"])
        #expect(query["b[c]"] == "-7")
    }

    @Test func arrayStrategyIsApplied() throws {
        let value = ["t": [["x"], ["y", "z"]]]

        #expect(try text(value) == "t[][]=x&t[][]=y&t[][]=z")
        #expect(try text(value) { $0.arrays = .noBrackets } == "t=x&t=y&t=z")
        #expect(try text(value) { $0.arrays = .indexed } == "t[0][0]=x&t[1][0]=y&t[1][1]=z")
        #expect(try text(value) { $0.arrays = .custom { "\($0)-\($1)" } } == "t-0-0=x&t-1-0=y&t-1-1=z")
        #expect(try text(["t": [String]()]) == "")
    }

    @Test func boolStrategyIsApplied() throws {
        #expect(try text(["a": true, "b": false]) == "a=true&b=false")
        #expect(try text(["a": true, "b": false]) { $0.bools = .numeric } == "a=1&b=0")
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (-0.5, "1969-12-31T23:59:59.500Z"),
            (1_767_225_599.9, "2025-12-31T23:59:59.900Z"), (1.0004, "1970-01-01T00:00:01Z"),
            (0.001, "1970-01-01T00:00:00.001Z"),
            (253_402_300_799.9999, "9999-12-31T23:59:59.999Z"), (1.29, "1970-01-01T00:00:01.290Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (-62_167_219_200, "0000-01-01T00:00:00Z"),
            (-62_162_035_200, "0000-03-01T00:00:00Z"),
        ] as [(TimeInterval, String)]
    )
    func datesDefaultToISO8601(time: TimeInterval, expected: String) throws {
        #expect(try text(["d": Date(timeIntervalSince1970: time)]) == "d=\(expected)")
    }

    @Test func iso8601DatesMatchFoundation() throws {
        let style = Date.ISO8601FormatStyle()
        for day in stride(from: -40_000, to: 106_097, by: Scale.pick(487, whole: 97)) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 3723)
            #expect(try text(["d": date]) == "d=\(date.formatted(style))")
        }
    }

    @Test func dateStrategyIsApplied() throws {
        let value = ["d": Date(timeIntervalSince1970: 1000.25)]

        #expect(try text(value) { $0.dates = .secondsSince1970 } == "d=1000.25")
        #expect(try text(["d": Date(timeIntervalSince1970: 5)]) { $0.dates = .secondsSince1970 } == "d=5")
        #expect(try text(value) { $0.dates = .millisecondsSince1970 } == "d=1000250")
        #expect(try text(value) { $0.dates = .deferred } == "d=-978306199.75")
        #expect(try text(value) { $0.dates = .custom { _ in "now" } } == "d=now")
    }

    @Test(arguments: [1e300, -1e300, .infinity, .nan, 253_402_300_800, -62_167_219_201] as [TimeInterval])
    func outOfRangeDatesFail(_ time: TimeInterval) {
        #expect(throws: InvalidValue.self) { try text(["d": Date(timeIntervalSince1970: time)]) }
        #expect((try? text(["d": Date(timeIntervalSince1970: time)]) { $0.dates = .millisecondsSince1970 }) != "d=")
    }

    @Test func dataStrategyIsApplied() throws {
        let value = ["d": Data([251, 255])]

        #expect(try text(value) == "d=+/8=")
        #expect(try QueryEncoder().encode(value).percentEncoded == "d=%2B/8%3D")
        #expect(try text(value) { $0.data = .custom { "\($0.count)" } } == "d=2")
    }

    @Test(arguments: [
        ("pageSize", "page_size", "page-size"),
        ("myURLProperty", "my_url_property", "my-url-property"),
        ("URL", "url", "url"), ("a", "a", "a"), ("", "", ""),
        ("_privateName", "_private_name", "_private-name"),
        ("item2Name", "item2_name", "item2-name"),
        ("already_snake", "already_snake", "already_snake"),
        ("größeÄußern", "größe_äußern", "größe-äußern"),
    ])
    func keyStrategyIsApplied(key: String, snake: String, kebab: String) throws {
        let value = [key: 1]

        #expect(try text(value) == "\(key)=1")
        #expect(try text(value) { $0.keys = .snakeCase } == "\(snake)=1")
        #expect(try text(value) { $0.keys = .kebabCase } == "\(kebab)=1")
        #expect(try text(value) { $0.keys = .custom { "<\($0)>" } } == "<\(key)>=1")
    }

    @Test func setsOfContainersHaveStableOrder() throws {
        struct Pair: Encodable, Hashable { let a: Int, b: Int }
        let lists = Set((0..<9).map { ["x", "\($0)"] })
        let pairs = Set((0..<9).map { Pair(a: 1, b: $0) })

        #expect(try text(["s": lists]) == (0..<9).map { "s[][]=x&s[][]=\($0)" }.joined(separator: "&"))
        #expect(try text(["s": pairs]) == (0..<9).map { "s[][a]=1&s[][b]=\($0)" }.joined(separator: "&"))
    }

    @Test func keyPathStrategyIsApplied() throws {
        let value = ["outerKey": ["innerKey": ["x": [1]]]]

        #expect(try text(value) == "outerKey[innerKey][x][]=1")
        #expect(try text(value) { $0.keyPaths = .dots } == "outerKey.innerKey.x[]=1")
        #expect(try text(value) { $0.keyPaths = .custom { "\($0)/\($1)" } } == "outerKey/innerKey/x[]=1")
        #expect(try text(value) { $0.keys = .snakeCase } == "outer_key[inner_key][x][]=1")
    }

    @Test func nilStrategyIsApplied() throws {
        let value = Page(number: 1, pageSize: nil)

        #expect(try text(value) == "number=1")
        #expect(try text(value) { $0.nils = .dropValue } == "number=1&pageSize")
        #expect(try text(value) { $0.nils = .empty } == "number=1&pageSize=")
        #expect(try text(value) { $0.nils = .null } == "number=1&pageSize=null")
        #expect(try text(["a": [1, nil, 3]]) { $0.nils = .null } == "a[]=1&a[]=null&a[]=3")
    }

    @Test func encodesOptionalNumbersOfAllTypes() throws {
        struct Numbers: Encodable {
            var a: Int8? = -1, b: Int16? = 2, c: Int32? = 3, d: Int64? = .min, e: UInt? = 5, f: UInt8? = 6
            var g: UInt16? = 7, h: UInt32? = 8, i: UInt64? = .max, j: Float? = 0.5, k: Double? = 1e21, l: Bool? = true,
                m: Int? = 0
            var n: Decimal? = 1.25, o: String? = "", p: [Int]? = []
        }
        let none = Numbers(
            a: nil,
            b: nil,
            c: nil,
            d: nil,
            e: nil,
            f: nil,
            g: nil,
            h: nil,
            i: nil,
            j: nil,
            k: nil,
            l: nil,
            m: nil,
            n: nil,
            o: nil,
            p: nil
        )

        #expect(
            try text(Numbers())
                == "a=-1&b=2&c=3&d=-9223372036854775808&e=5&f=6&g=7&h=8&i=18446744073709551615&j=0.5&k=1e+21"
                + "&l=true&m=0&n=1.25&o="
        )
        #expect(try text(none) { $0.nils = .dropValue } == "a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p")
        #expect(try text(none) == "")
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan]) func nonFiniteNumbersFail(_ number: Double) throws {
        #expect(throws: InvalidValue.self) { try text(["a": ["b": number]]) }
        #expect(throws: InvalidValue.self) { try QueryEncoder().encode(["a": number as Any]) }
    }

    /// Includes numbers that could be mistaken for a bool: 0, 1 and single-byte numbers.
    @Test(
        arguments: [
            (0, "0"), (1, "1"), (5, "5"), (1.5, "1.5"), (true, "true"), (false, "false"), (Int8(1), "1"),
            (Int8(5), "5"), (UInt8(1), "1"),
        ] as [(any Sendable, String)]
    )
    func nsNumberIsEncodedAsItsValue(_ number: any Sendable, _ expected: String) throws {
        let object =
            switch number {
            case let value as Bool: NSNumber(value: value)
            case let value as Int8: NSNumber(value: value)
            case let value as UInt8: NSNumber(value: value)
            case let value as Double: NSNumber(value: value)
            default: NSNumber(value: try #require(number as? Int))
            }
        let encoder = QueryEncoder()
        let optional: Any? = object

        #expect(try encoder.encode(["a": object]).percentEncoded == "a=\(expected)")
        #expect(try encoder.encode(["a": optional] as [String: Any?]).percentEncoded == "a=\(expected)")
        #expect(try encoder.encode(["a": ["b": object]]).percentEncoded == "a%5Bb%5D=\(expected)")
        #expect(try encoder.encode(["a": [object]]).percentEncoded == "a%5B%5D=\(expected)")
        #expect(try encoder.encode(["a": NSArray(array: [object])]).percentEncoded == "a%5B%5D=\(expected)")
    }

    @Test func numericBoolsAndPlusesFollowPHP() throws {
        var encoder = QueryEncoder()
        (encoder.bools, encoder.spaces) = (.numeric, .plus)
        let query = try encoder.encode(Search(searchText: "a b+c"))

        #expect(
            query.percentEncoded
                == "searchText=a+b%2Bc&tags%5B%5D=a&tags%5B%5D=b&isOpen=1&page%5Bnumber%5D=2&order=newest"
        )
    }

    @Test func topLevelValueWithoutKeysFails() {
        #expect(throws: InvalidValue.self) { try text(1) }
        #expect(throws: InvalidValue.self) { try text("a") }
        #expect(throws: InvalidValue.self) { try text([1, 2]) }
        #expect(throws: InvalidValue.self) { try text(Page?.none) }
        #expect(throws: InvalidValue.self) { try QueryEncoder().encode(["a": { 1 }]) }
    }

    @Test func errorNamesCodingPath() {
        let error = #expect(throws: InvalidValue.self) { try text(["outer": ["inner": [1, .nan]]]) }

        #expect(error?.kind == .query)
        #expect(error?.excerpt == "outer.inner.1")
    }

    @Test func emptyStructEncodesToEmptyQuery() throws {
        struct Nothing: Encodable {}

        #expect(try text(Nothing()) == "")
        #expect(try text(["a": Nothing()]) == "")
    }

    @Test func nestedDictionariesAndSetsAreSorted() throws {
        struct Value: Encodable {
            var map = Dictionary(uniqueKeysWithValues: "hgfedcba".map { (String($0), 1) })
            var set = Set("hgfedcba".map(String.init))
            var byNumber = [2: "b", 1: "a"]
        }

        #expect(
            try text(Value()) == "abcdefgh".map { "map[\($0)]=1" }.joined(separator: "&") + "&"
                + "abcdefgh".map { "set[]=\($0)" }.joined(separator: "&") + "&byNumber[1]=a&byNumber[2]=b"
        )
    }

    @Test func supportsAllEncodingContainers() throws {
        class Base: Encodable {
            enum Keys: CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(1, forKey: .a)
                try container.encode(2, forKey: .a)
            }
        }
        final class Derived: Base {
            override func encode(to encoder: any Encoder) throws {
                try super.encode(to: encoder)
                var container = encoder.container(keyedBy: Keys.self)
                var nested = container.nestedUnkeyedContainer(forKey: .b)
                try nested.encode("x")
                try nested.encodeNil()
                var keyed = nested.nestedContainer(keyedBy: Keys.self)
                try keyed.encode(true, forKey: .a)
                var unkeyed = nested.nestedUnkeyedContainer()
                try unkeyed.encode(3)
                try 4.encode(to: unkeyed.superEncoder())
                #expect(nested.count == 4 && unkeyed.count == 2)
                try Page(number: 5).encode(to: container.superEncoder())
            }
        }

        #expect(try text(Derived()) == "a=2&b[]=x&b[][a]=true&b[][]=3&b[][]=4&super[number]=5")
    }

    @Test func mixingContainerKindsFails() {
        struct Odd: Encodable {
            enum Keys: CodingKey { case a }
            func encode(to encoder: any Encoder) throws {
                _ = encoder.unkeyedContainer()
                _ = encoder.container(keyedBy: Keys.self)
            }
        }

        #expect(throws: InvalidValue.self) { try text(Odd()) }
        #expect(throws: InvalidValue.self) { try text(["a": Odd()]) }
    }

    @Test func infinitelyNestedValuesFail() {
        struct Endless: Encodable {
            enum Kind { case keyed, unkeyed, single, nested }
            enum Keys: CodingKey { case a }
            var kind: Kind
            func encode(to encoder: any Encoder) throws {
                switch kind {
                case .keyed:
                    var container = encoder.container(keyedBy: Keys.self)
                    try container.encode(self, forKey: .a)
                case .unkeyed:
                    var container = encoder.unkeyedContainer()
                    try container.encode(self)
                case .single:
                    var container = encoder.singleValueContainer()
                    try container.encode(self)
                case .nested:
                    var container = encoder.unkeyedContainer()
                    for _ in 0..<Scale.pick(10_000, whole: 100_000) { container = container.nestedUnkeyedContainer() }
                    try container.encode(1)
                }
            }
        }
        for kind in [Endless.Kind.keyed, .unkeyed, .single, .nested] {
            #expect(throws: InvalidValue.self) { try text(["a": Endless(kind: kind)]) }
        }
        var deep: Any = 1
        for _ in 0..<1000 { deep = [deep] }
        #expect(throws: InvalidValue.self) { try QueryEncoder().encode(["a": deep]) }
    }

    @Test func nestingUpToLimitIsEncoded() throws {
        var value: Any = 1
        for _ in 0..<120 { value = ["k": value] }

        let query = try QueryEncoder().encode(["k": value])

        #expect(query.first?.name == "k" + String(repeating: "[k]", count: 120))
    }

    @Test func reservedCharactersAreEscaped() throws {
        let query = try QueryEncoder().encode(["a&b=c#\r\n": ["]=x&y": "1&2=3#\0"]])

        #expect(query.percentEncoded == "a%26b%3Dc%23%0D%0A%5B%5D%3Dx%26y%5D=1%262%3D3%23%00")
    }
}
