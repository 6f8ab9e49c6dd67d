// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Requests

@Suite(.timeLimit(.minutes(1))) struct HTTPHeadersTests {
    @Test func namesAreFoundWithoutRegardToCaseAndSentAsGiven() {
        let headers: HTTPHeaders = ["x-TRACE": "1"]

        #expect(headers["X-Trace"] == "1" && headers.contains("X-TRACE"))
        #expect(headers[0].name.rawValue == "x-TRACE")
        #expect(HTTPField.Name("A").hashValue == HTTPField.Name("a").hashValue)
        #expect(HTTPField.Name("Straße") != HTTPField.Name("STRASSE"))
    }

    @Test(arguments: [
        (HTTPField.Name.accept, "a, b"), (.cookie, "a; b"), (.setCookie, "a"),
    ]) func repeatedFieldsAreReadAsTheirNameWants(name: HTTPField.Name, joined: String) {
        let headers: HTTPHeaders = [name: "a", .date: "d", name: "b"]

        #expect(headers[name] == joined)
        #expect(headers[values: name] == ["a", "b"])
    }

    @Test func settingReplacesAllInThePlaceOfTheFirst() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]

        headers["a"] = "4"

        #expect(headers.map(\.value) == ["4", "2"])
        headers["A"] = nil
        #expect(headers.map(\.value) == ["2"])
    }

    @Test func addingKeepsWhatIsThere() {
        var headers: HTTPHeaders = ["A": "1"]

        headers.add("2", for: "a")

        #expect(headers[values: "A"] == ["1", "2"])
        headers.remove("A")
        #expect(headers.isEmpty)
    }

    @Test func mergingReplacesByName() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "A": "3"]

        headers.merge(["a": "4", "C": "5", "a": "6"])

        #expect(headers.map(\.description) == ["B: 2", "a: 4", "C: 5", "a: 6"])
    }

    @Test func aDictionaryHasAlwaysTheSameOrder() {
        #expect(HTTPHeaders(["b": "2", "a": "1"]).map(\.name) == ["a", "b"])
    }

    @Test(arguments: ["Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "x-api-key"])
    func descriptionsLeaveSecretsOut(_ name: String) {
        let headers = HTTPHeaders([HTTPField(HTTPField.Name(name), "hush")])

        #expect(headers.description == "\(name): <redacted>")
    }
}
