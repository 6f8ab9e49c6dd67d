// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Exchanges with a real server over the default transport are written to a file, and replayed.
@Suite(.bounded, .enabled(if: Tool.python.exists, "python3 is not installed"))
struct RecordingRoundTripTests {
    @Test func replayMatchesRecordedResponses() async throws {
        let server = try MockServer { request in
            switch request.path {
            case "/json": .json(#"{"id":1,"name":"é"}"#)
            case "/bytes": .data(Data((0...255).map(UInt8.init)), type: "application/octet-stream")
            case "/echo": .text(request.text)
            case "/gone": .status(.gone)
            default: .status(.notFound)
            }
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }
        func run(over transport: any HTTPTransport) async throws -> [Exchange] {
            let recorder = ExchangeRecorder(transport)
            let client = HTTPClient(baseURL: server.url, transport: recorder) {
                $0.headers[.authorization] = "Bearer hush"
            }
            _ = try await HTTPRequest("/json?token=hush").fetch(on: client)
            _ = try await HTTPRequest("/bytes").fetch(on: client)
            for text in ["one", "two"] {
                _ = try await HTTPRequest { ($0.path, $0.method, $0.body) = ("/echo", .post, .text(text)) }
                    .fetch(on: client)
            }
            let stream = HTTPBody.Stream(InputStream(data: Data("streamed".utf8)))
            _ = try await HTTPRequest { ($0.path, $0.method, $0.body) = ("/echo", .post, .stream(stream)) }
                .fetch(on: client)
            await #expect(throws: RequestError.self) { try await HTTPRequest("/gone").fetch(on: client) }
            if transport is HTTPStubber { return recorder.exchanges }
            try recorder.archive.write(to: file)
            return recorder.exchanges
        }

        let live = try await run(over: HTTPClient.defaultTransport)
        let requestCount = server.requests.count
        let stubber = HTTPStubber()
        stubber.replay(try HTTPArchive(contentsOf: file))
        let replayed = try await run(over: stubber)

        #expect(server.requests.count == requestCount)
        #expect(replayed.map(\.response?.status) == live.map(\.response?.status))
        #expect(replayed.map(\.response?.body) == live.map(\.response?.body))
        #expect(replayed.map(\.response?.headers) == live.map(\.response?.headers))
        let script = """
            import json, sys
            log = json.load(open(sys.argv[1]))["log"]
            assert log["version"] == "1.2"
            for entry in log["entries"]:
                assert entry["time"] >= 0 and entry["timings"]["wait"] >= 0, entry
                request, response = entry["request"], entry["response"]
                print(request["method"], response["status"], response["content"]["size"],
                      response["content"].get("encoding", "text"), request.get("postData", {}).get("text", ""))
            """
        let result = try await Tool.python("-c", script, file.path)
        #expect(result.errors == "")
        #expect(
            result.output == """
                GET 200 20 text \n\
                GET 200 256 base64 \n\
                POST 200 3 text one
                POST 200 3 text two
                POST 200 8 text streamed
                GET 410 0 text \n
                """
        )
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("hush") && text.contains(#""value" : "Bearer <redacted>""#))
    }
}
