// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

// A custom body needs one extension, which uses only public API.
private struct Table: Sendable {
    struct Ragged: Error {}
    var rows: [[String]]

    func encoded() throws -> Data {
        guard Set(rows.map(\.count)).count <= 1 else { throw Ragged() }
        return Data(rows.map { $0.joined(separator: ",") + "\r\n" }.joined().utf8)
    }
}

extension HTTPBody {
    fileprivate static func csv(_ table: Table) -> HTTPBody {
        HTTPBody(headers: [.contentType: "text/csv"], source: table) { .data(try table.encoded()) }
    }
}

@Suite(.bounded) struct HTTPBodyTests {
    struct Recipe: Codable, Hashable {
        var name = "Pancakes"
        var eggs: Double = 2
    }

    @Test func customBodyEncodesItsSource() throws {
        let body = HTTPBody.csv(Table(rows: [["a", "b"], ["c", "d"]]))

        #expect(try body.text() == "a,b\r\nc,d\r\n")
        #expect(body.headers == [.contentType: "text/csv"])
        #expect((body.source as? Table)?.rows.count == 2)
        #expect(throws: Table.Ragged.self) { try HTTPBody.csv(Table(rows: [["a"], []])).resolved() }
    }

    @Test(
        arguments: [
            (.none, [], ""),
            (.data(Data("ab".utf8)), ["application/octet-stream"], "ab"),
            (.data(Data("ab".utf8), type: .png), ["image/png"], "ab"),
            (.data(Data("ab".utf8), type: nil), [], "ab"),
            (.stream(HTTPBody.Stream { InputStream(data: Data("ab".utf8)) }), ["application/octet-stream"], "ab"),
            (.stream(HTTPBody.Stream { InputStream(data: Data("ab".utf8)) }, type: nil), [], "ab"),
            (.text("grün"), ["text/plain; charset=utf-8"], "grün"),
            (.text("<a>", type: .html), ["text/html; charset=utf-8"], "<a>"),
            (.text("{}", type: .json), ["application/json"], "{}"),
            (.text("a", type: .csv.charset("x-own")), ["text/csv; charset=x-own"], "a"),
            (.text("a", encoding: .ascii), ["text/plain; charset=us-ascii"], "a"),
            (.json(Recipe()), ["application/json"], #"{"eggs":2,"name":"Pancakes"}"#),
            (
                .json(["b": 1, "a": nil, "c": ["x", 2.5, true]]), ["application/json"],
                #"{"a":null,"b":1,"c":["x",2.5,true]}"#
            ),
            (.json("a/b"), ["application/json"], #""a/b""#),
        ] as [(HTTPBody, [String], String)]
    )
    func bodyDeclaresItsContentType(body: HTTPBody, types: [String], text: String) throws {
        #expect(body.headers[values: .contentType] == types)
        #expect(body.mandatoryHeaders.isEmpty)
        #expect(body.isReplayable)
        #expect(try body.text() == text)
        #expect(try body.text() == text)
    }

    @Test(arguments: [("a.png", "image/png"), ("a.TXT", "text/plain"), ("a", "application/octet-stream")])
    func fileExtensionDeterminesContentType(name: String, type: String) {
        #expect(HTTPBody.file(URL(fileURLWithPath: "/" + name)).headers[.contentType] == type)
        #expect(HTTPBody.file(URL(fileURLWithPath: "/" + name), type: .pdf).headers[.contentType] == "application/pdf")
    }

    @Test func bodyIsEncodedLazily() throws {
        let count = Recorder<Void>()
        let body = HTTPBody {
            count.record(())
            return .data(Data("\(count.count)".utf8))
        }
        _ = (body.length, body.isEmpty, body.isReplayable, body.headers)
        #expect(count.count == 0)

        let resolved = try body.resolved()

        #expect(try resolved.data() == Data("1".utf8) && resolved.resolved().data() == Data("1".utf8))
        #expect(try body.data() == Data("2".utf8))
    }

    @Test func unencodedBodyIsEncodedWhenStreamOpens() throws {
        guard case .stream(let stream) = HTTPBody.json([1, 2]).content,
            case .stream(let failing) = HTTPBody.json(Double.nan).content
        else {
            Issue.record("no stream")
            return
        }

        #expect(stream.length == nil && stream.isReplayable)
        #expect(try stream.open().readAll() == Data("[1,2]".utf8))
        #expect(throws: EncodingError.self) { try failing.open() }
    }

    @Test func lengthIsKnownIfNothingMustBeRead() throws {
        let stream = HTTPBody.Stream(length: 7) { InputStream(data: Data(count: 7)) }

        #expect(HTTPBody.none.length == 0 && HTTPBody.data(Data(count: 3)).length == 3)
        #expect(HTTPBody.stream(stream).length == 7)
        #expect(HTTPBody.file(URL(fileURLWithPath: "/a")).length == nil)
        #expect(HTTPBody.text("abc").length == nil)
        #expect(try HTTPBody.text("abc").resolved().length == 3)
    }

    @Test func onlyOneShotStreamIsNotReplayable() throws {
        let once = HTTPBody.stream(HTTPBody.Stream(InputStream(data: Data("ab".utf8))))
        let never = HTTPBody(isReplayable: false) { .data(Data("ab".utf8)) }

        #expect(!once.isReplayable && !never.isReplayable)
        #expect(try !once.resolved().isReplayable && !never.resolved().isReplayable)
        #expect(try once.text() == "ab")
        #expect(throws: HTTPBody.Stream.AlreadyRead.self) { try once.text() }
        #expect(try HTTPBody { .stream(HTTPBody.Stream(InputStream(data: Data()))) }.resolved().isReplayable == false)
    }

    @Test func unencodableValueFails() throws {
        #expect(throws: EncodingError.self) { try HTTPBody.json(Recipe(eggs: .infinity)).resolved() }
        #expect(throws: EncodingError.self) { try HTTPBody.json(["a": .value(Double.nan)]).resolved() }
        #expect(throws: InvalidValue.self) { try HTTPBody.text("grün", encoding: .ascii).resolved() }
        for body in [
            HTTPBody.data(Data(), type: "a\r\nb: c"), .text("", type: "text/\"html"),
            .file(URL(fileURLWithPath: "/a"), type: ""),
        ] {
            #expect(throws: InvalidValue.self) { try body.resolved() }
        }
    }

    @Test func givenEncoderIsUsed() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        struct Value: Encodable { var oneTwo: JSONValue = ["threeFour": 5] }

        #expect(try HTTPBody.json(Value(), encoder: encoder).text() == #"{"one_two":{"threeFour":5}}"#)
    }

    @Test func jsonObjectIsSerializedImmediately() throws {
        let object: [String: Any] = ["b": 1, "a": ["x", NSNull(), 2.5, true]]

        let body = try HTTPBody.jsonObject(object)

        #expect(try body.text() == #"{"a":["x",null,2.5,true],"b":1}"#)
        #expect(body.headers[.contentType] == "application/json")
        #expect(try HTTPBody.jsonObject("a", options: .fragmentsAllowed).text() == #""a""#)
        #expect(throws: InvalidValue.self) { try HTTPBody.jsonObject("a") }
        #expect(throws: InvalidValue.self) { try HTTPBody.jsonObject(["a": Double.nan]) }
        #expect(throws: InvalidValue.self) { try HTTPBody.jsonObject(["a": Date()]) }
        #expect(throws: InvalidValue.self) { try HTTPBody.jsonObject([1: "a"]) }
    }

    @Test func deeplyNestedObjectIsRejected() throws {
        var nested: Any = [Any]()
        for _ in 0..<2000 { nested = [nested] }

        #expect(throws: InvalidValue.self) { try HTTPBody.jsonObject(nested) }
    }
}
