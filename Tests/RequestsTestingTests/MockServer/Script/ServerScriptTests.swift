// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct ServerScriptTests {
    private func server(_ script: String, folder: URL = URL(fileURLWithPath: "/nowhere")) throws -> MockServer {
        let script = try ServerScript(Data(script.utf8), folder: folder)
        return try script.start(script.configuration)
    }

    private func ask(_ server: MockServer, _ target: String, method: String = "GET") throws -> String {
        let client = try RawClient(port: server.port)
        client.send("\(method) \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        return client.readToEnd()
    }

    @Test func aScriptIsWhatTheServerDoes() throws {
        let server = try server(
            """
            {
              "routes": [
                {"path": "/recipes/{id}", "answers": [
                    {"status": 503, "headers": {"Retry-After": "1", "Set-Cookie": ["a=1", "b=2"]}},
                    {"json": {"name": "Pancakes", "eggs": [1, 2.5, null, true]}}
                ]},
                {"method": "POST", "path": "/photos", "answers": [{"status": 201, "text": "größer"}]},
                {"path": "/bytes", "answers": [{"base64": "aGVsbG8=", "type": "image/png"}]},
                {"path": "/chunks", "answers": [{"text": "hello", "chunks": 2, "trailers": {"X-Sum": "9"}}]}
              ],
              "otherwise": {"status": 418, "text": "a teapot"}
            }
            """
        )

        let first = try ask(server, "/recipes/7")
        #expect(
            first.hasPrefix(
                "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
            )
        )
        let second = try ask(server, "/recipes/8")
        #expect(second.contains("\r\nContent-Type: application/json\r\n"))
        #expect(second.hasSuffix("\r\n\r\n" + #"{"eggs":[1,2.5,null,true],"name":"Pancakes"}"#))
        #expect(try ask(server, "/recipes/9") == second)
        let photo = try ask(server, "/photos", method: "POST")
        #expect(photo.hasPrefix("HTTP/1.1 201 Created\r\n") && photo.hasSuffix("\r\n\r\ngrößer"))
        let bytes = try ask(server, "/bytes")
        #expect(bytes.contains("\r\nContent-Type: image/png\r\n") && bytes.hasSuffix("\r\n\r\nhello"))
        #expect(try ask(server, "/chunks").hasSuffix("2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n0\r\nX-Sum: 9\r\n\r\n"))
        #expect(try ask(server, "/photos").hasPrefix("HTTP/1.1 418 "))
    }

    @Test func faultsAreScripted() throws {
        let server = try server(
            """
            {"routes": [
                {"path": "/close", "answers": [{"text": "hello", "closeAfter": 2}]},
                {"path": "/reset", "answers": [{"text": "hello", "resetAfter": 5, "delay": 0.001}]},
                {"path": "/lost", "answers": [{"instead": "reset"}, {"instead": "close"}]},
                {"path": "/stall", "answers": [{"text": "hello", "stallAfter": 3}]},
                {"path": "/slow", "answers": [{"text": "hello", "bytesPerSecond": 100000, "close": true}]},
                {"path": "/drip", "answers": [{"text": "hello", "drip": {"bytes": 50, "every": 0.001}}]},
                {"method": "POST", "path": "/early", "answers": [{"status": 413, "early": true}]}
            ]}
            """
        )

        #expect(try ask(server, "/close").hasSuffix("\r\n\r\nhe"))
        let reset = try RawClient(port: server.port)
        reset.get("/reset")
        #expect(reset.readToEnd().hasSuffix("\r\n\r\nhello") && reset.wasReset)
        let lost = try RawClient(port: server.port)
        lost.get("/lost")
        #expect(lost.readToEnd() == "" && lost.wasReset)
        #expect(try ask(server, "/lost") == "")
        let stalled = try RawClient(port: server.port)
        stalled.get("/stall")
        #expect(stalled.read(upTo: "\r\n\r\nhel").hasPrefix("HTTP/1.1 200 OK"))
        #expect(try ask(server, "/slow").hasSuffix("Connection: close\r\n\r\nhello"))
        #expect(try ask(server, "/drip").hasSuffix("\r\n\r\nhello"))
        let early = try RawClient(port: server.port)
        early.send("POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n")
        #expect(early.readToEnd().hasPrefix("HTTP/1.1 413 "))
    }

    @Test func filesAreLookedForBesideTheScript() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("<p>".utf8).write(to: folder.appending(path: "page.html"))

        let server = try server(#"{"routes": [{"path": "/", "answers": [{"file": "page.html"}]}]}"#, folder: folder)

        let answer = try ask(server, "/")
        #expect(answer.contains("\r\nContent-Type: text/html; charset=utf-8\r\n") && answer.hasSuffix("\r\n\r\n<p>"))
        #expect(try ask(server, "/other").hasPrefix("HTTP/1.1 404 "))
    }

    @Test func connectionsAreConfigured() throws {
        let text = #"{"connections": {"most": 3, "requests": 2, "idle": 1.5, "head": 1000, "body": 0}}"#
        var expected = MockServer.Configuration()
        expected.maximumConnections = 3
        expected.maximumRequestsPerConnection = 2
        expected.idleTimeout = .milliseconds(1500)
        expected.maximumHeadSize = 1000
        expected.maximumBodySize = 0

        #expect(try ServerScript(Data(text.utf8), folder: URL(fileURLWithPath: "/")).configuration == expected)
    }

    private static func answer(_ text: String) -> String {
        #"{"routes": [{"path": "/", "answers": [{}]}, {"path": "/a", "answers": [{}, \#(text)]}]}"#
    }

    static let faults: [(String, String)] = [
        ("[]", "the script isn't an object"),
        ("{", "the script isn't JSON: "),
        (#"{"routs": []}"#, "routs: isn't known here; there are connections, routes, otherwise"),
        (#"{"routes": {}}"#, "routes: isn't an array"),
        (#"{"routes": [1]}"#, "routes[0]: isn't an object"),
        (#"{"routes": [{"answers": [{}]}]}"#, "routes[0]: has no path"),
        (#"{"routes": [{"path": 1, "answers": [{}]}]}"#, "routes[0].path: isn't a text"),
        (#"{"routes": [{"path": "a", "answers": [{}]}]}"#, "routes[0].path: doesn't begin with a slash"),
        (#"{"routes": [{"path": "/{a", "answers": [{}]}]}"#, "routes[0].path: isn't a URI template: "),
        (#"{"routes": [{"path": "/"}]}"#, "routes[0]: has no answers"),
        (#"{"routes": [{"path": "/", "answers": []}]}"#, "routes[0].answers: is empty"),
        (#"{"routes": [{"path": "/", "answers": [{}], "answer": 1}]}"#, "routes[0].answer: isn't known here"),
        (#"{"routes": [{"method": "G T", "path": "/", "answers": [{}]}]}"#, "routes[0].method: isn't a method"),
        (#"{"connections": {"most": 0}}"#, "connections.most: isn't a whole number, from 1 to 1000000"),
        (#"{"connections": {"requests": 0}}"#, "connections.requests: isn't a whole number, 1 or more"),
        (#"{"otherwise": {"status": "200"}}"#, "otherwise.status: isn't a whole number, from 200 to 999"),
        (answer(#"{"status": 100}"#), "routes[1].answers[1].status: isn't a whole number, from 200 to 999"),
        (answer(#"{"statsu": 1}"#), "routes[1].answers[1].statsu: isn't known here; there are status, headers, text,"),
        (answer(#"{"headers": {"A B": "1"}}"#), "routes[1].answers[1].headers.A B: isn't the name of a field"),
        (answer(#"{"headers": {"A": 1}}"#), "routes[1].answers[1].headers.A: isn't a text"),
        (
            answer(#"{"headers": {"A": ["1", "\r\nB: 2"]}}"#),
            "routes[1].answers[1].headers.A[1]: has a control character"
        ),
        (answer(#"{"type": "a\nb"}"#), "routes[1].answers[1].type: has a control character"),
        (answer(#"{"text": "a", "json": 1}"#), "routes[1].answers[1]: has several of text, json, base64 and file"),
        (answer(#"{"base64": "-"}"#), "routes[1].answers[1].base64: isn't Base64"),
        (answer(#"{"file": "none"}"#), "routes[1].answers[1].file: can't be read: /nowhere/none"),
        (answer(#"{"delay": -1}"#), "routes[1].answers[1].delay: isn't a number of seconds, from 0 to 86400"),
        (answer(#"{"delay": "1"}"#), "routes[1].answers[1].delay: isn't a number of seconds"),
        (answer(#"{"closeAfter": 1, "stallAfter": 2}"#), "routes[1].answers[1].stallAfter: is a second end"),
        (answer(#"{"instead": "halt"}"#), "routes[1].answers[1].instead: isn't close, reset or stall"),
        (answer(#"{"trailers": {"A": "1"}}"#), "routes[1].answers[1]: has trailers, which need \"chunks\""),
        (answer(#"{"drip": {"byte": 1}}"#), "routes[1].answers[1].drip.byte: isn't known here; there are bytes, every"),
        (answer(#"{"early": 1}"#), "routes[1].answers[1].early: is neither true nor false"),
    ]

    @Test(arguments: faults)
    func aFaultNamesItsEntry(script: String, description: String) {
        let error = #expect(throws: ServerScript.Fault.self) {
            try ServerScript(Data(script.utf8), folder: URL(fileURLWithPath: "/nowhere"))
        }

        #expect(error?.description.hasPrefix(description) == true, "\(error?.description ?? "")")
    }
}

@Suite(.bounded) struct ServerScriptFuzzTests {
    static let pieces = [
        "{", "}", "[", "]", ",", ":", "\"routes\":[", "{\"path\":\"/\",\"answers\":[", "\"status\":", "200",
        "\"text\":",
        "\"a\"", "\"headers\":{", "\"delay\":", "1e400", "-1", "\"otherwise\":{", "null", "true", "\"json\":",
    ]

    @Test func anyTextIsAScriptOrAFault() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 10) {
            do {
                _ = try ServerScript(Data(fuzz.text(of: Self.pieces).utf8), folder: URL(fileURLWithPath: "/nowhere"))
            } catch {
                #expect(error.description.utf8.count < 1000)
            }
        }
    }
}
