// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct QueryTests {
    @Test func dictionaryLiteralKeepsOrderDuplicatesAndNil() {
        let (text, page, missing): (String, Int?, String?) = ("alex", 2, nil)
        let query: Query = [
            "q": text, "flag": nil, "page": page, "q": "bob", "missing": missing, "on": true, "pi": 3.5,
        ]

        #expect(query.percentEncoded == "q=alex&flag&page=2&q=bob&missing&on=true&pi=3.5")
    }

    @Test func arrayLiteralCreatesItems() {
        let query: Query = [Query.Item("a", value: 1), Query.Item("b"), Query.Item("a", value: "x")]

        #expect(query.map(\.name) == ["a", "b", "a"])
        #expect(query.map(\.value) == ["1", nil, "x"])
    }

    @Test func dictionariesAreSorted() {
        #expect(Query(["b": 2, "a": 1, "c": 3] as [String: Int]).percentEncoded == "a=1&b=2&c=3")
    }

    @Test func itemsCanBeReadAndChanged() {
        var query: Query = ["a": 1, "b": nil, "a": 2]

        #expect(query["a"] == "1")
        #expect(query[values: "a"] == ["1", "2"])
        #expect(query["b"] == nil && query.contains("b") && !query.contains("c"))

        query.append("c", value: "x")
        query.append(contentsOf: ["d": 1] as Query)
        query.append(contentsOf: [Query.Item("e")])
        query["a"] = "3"
        query["f"] = "new"
        #expect(query.percentEncoded == "a=3&b&c=x&d=1&e&f=new")

        query.remove(named: "b")
        query["c"] = nil
        query.set(nil, for: "d")
        query.removeAll { $0.name == "f" }
        #expect(query.percentEncoded == "a=3&d&e")
    }

    @Test func customTypeCanBeQueryItem() {
        struct Page: Query.ItemConvertible {
            var queryItem: Query.Item { Query.Item("page", value: 2) }
        }
        var query = Query()

        query.append(Page())
        query.append(Query.Item("q", value: "x"))

        #expect(query.percentEncoded == "page=2&q=x")
    }

    @Test func copiesAreIndependent() {
        let original: Query = ["a": 1]
        var copy = original

        copy.append("b")

        #expect(original.count == 1 && copy.count == 2)
    }

    static let encodings = [
        ("", ""), ("azAZ09-._~/?", "azAZ09-._~/?"), (" ", "%20"), ("+", "%2B"), ("a+b c", "a%2Bb%20c"),
        ("100%", "100%25"),
        ("%20", "%2520"), (":#[]@!$&'()*+,;=", "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"),
        ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"), ("\0\r\n\u{7F}", "%00%0D%0A%7F"),
        ("Michael Bublé", "Michael%20Bubl%C3%A9"),
        ("😀", "%F0%9F%98%80"), ("e\u{301}", "e%CC%81"),
    ]

    @Test(arguments: encodings) func namesAndValuesAreEscapedOnce(text: String, escaped: String) {
        let query = Query([Query.Item("n" + text, value: text)])

        #expect(query.percentEncoded == "n\(escaped)=\(escaped)")
        #expect(Query(percentEncoded: query.percentEncoded) == query)
    }

    @Test func reservedBytesAreEscaped() {
        let kept = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?".utf8)
        for byte in UInt8.min..<128 {
            let text = String(decoding: [byte], as: UTF8.self)
            #expect((Query([Query.Item("n", value: text)]).percentEncoded == "n=\(text)") == kept.contains(byte))
        }
    }

    @Test func spaceEncodingIsConfigurable() {
        var query: Query = ["a b": "c d+e"]

        #expect(query.percentEncoded(spaces: .plus) == "a+b=c+d%2Be")
        #expect(query.percentEncoded(spaces: .percent) == "a%20b=c%20d%2Be")
        query.spaces = .plus
        #expect(query.percentEncoded == "a+b=c+d%2Be")
    }

    @Test func firstItemsDetermineSpaceEncoding() {
        var (empty, full): (Query, Query) = ([], ["a": " "])
        let forms = Query([Query.Item("b", value: " ")], spaces: .plus)

        empty.append(contentsOf: forms)
        full.append(contentsOf: forms)

        #expect(empty.percentEncoded == "b=+")
        #expect(full.percentEncoded == "a=%20&b=%20")
    }

    @Test func emptyQuerySerializesToEmptyString() {
        #expect(Query().percentEncoded == "")
        #expect(Query([Query.Item("")]).percentEncoded == "")
        #expect(Query([Query.Item(""), Query.Item("a"), Query.Item("")]).percentEncoded == "a")
        #expect(Query([Query.Item("", value: "")]).percentEncoded == "=")
    }

    static let texts: [(String, [(String, String?)])] = [
        ("", []), ("&", []), ("a", [("a", nil)]), ("a=", [("a", "")]), ("=", [("", "")]), ("=a", [("", "a")]),
        ("a=b=c", [("a", "b=c")]), ("a&&b&", [("a", nil), ("b", nil)]), ("a=1&a=2", [("a", "1"), ("a", "2")]),
        ("a%20b=c+d", [("a b", "c+d")]), ("a=%", [("a", "%")]), ("a=%2", [("a", "%2")]), ("a=%zz%41", [("a", "%zzA")]),
        ("a=%FF", [("a", "\u{FFFD}")]), ("a=%c3%A9é", [("a", "éé")]), ("a%26b=c%3Dd", [("a&b", "c=d")]),
        ("?a=/?", [("?a", "/?")]), ("a[]=1", [("a[]", "1")]), ("a=1;b=2", [("a", "1;b=2")]), ("a=%00", [("a", "\0")]),
    ]

    @Test(arguments: texts) func parsesPercentEncodedQueries(text: String, items: [(String, String?)]) {
        #expect(Array(Query(percentEncoded: text)) == items.map { Query.Item($0.0, value: $0.1) })
    }

    @Test func plusIsDecodedAsSpaceInForms() {
        #expect(Query(percentEncoded: "a+b=c+d%2B", spaces: .plus)["a b"] == "c d+")
    }

    // WHATWG URL, 5.2.
    @Test(arguments: [
        ("a b", "a+b"), ("*-._", "*-._"), ("~", "%7E"), ("a/b?c", "a%2Fb%3Fc"), ("+", "%2B"), ("é", "%C3%A9"),
        ("\r\n", "%0D%0A"),
        ("'()!", "%27%28%29%21"),
    ])
    func formEncodingFollowsURLStandard(text: String, escaped: String) {
        let query = Query([Query.Item("n", value: text)])

        #expect(String(decoding: query.formEncoded, as: UTF8.self) == "n=\(escaped)")
    }

    @Test func formEncodingKeepsAllItems() {
        let query: Query = ["a": nil, "": nil, "b": ""]

        #expect(String(decoding: query.formEncoded, as: UTF8.self) == "a=&=&b=")
    }

    @Test func urlQueryItemsAreBridged() {
        let items = [
            URLQueryItem(name: "a", value: "1 +"), URLQueryItem(name: "b", value: nil),
            URLQueryItem(name: "a", value: ""),
        ]

        #expect(Query(items).percentEncoded == "a=1%20%2B&b&a=")
    }

    @Test func descriptionOmitsValues() {
        #expect("\(["token": "secret", "flag": nil] as Query)" == "token=…&flag")
    }
}
