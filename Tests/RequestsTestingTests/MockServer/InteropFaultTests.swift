// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Faults as seen by a client without HTTP: a byte count and an end.
@Suite(.bounded, .enabled(if: Tool.python.exists, "Python is not installed"))
struct InteropFaultTests {
    /// Connects once for each target, and prints the byte count and the end: with a socket, and no library.
    private static let program = """
        import socket, sys
        for target in sys.argv[2:]:
            s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30)
            s.sendall(b"GET %s HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n" % target.encode())
            count, end, wanted = 0, "end", int(target.split("?")[1]) if "?" in target else None
            try:
                while wanted == None or count < wanted:
                    piece = s.recv(65536 if wanted == None else wanted - count)
                    if not piece: break
                    count += len(piece)
                else:
                    s.settimeout(0.05)
                    end = "more" if s.recv(1) else "end"
            except ConnectionResetError: end = "reset"
            except TimeoutError: end = "silence"
            print(target.split("?")[0], count, end)
            s.close()
        """

    private static let answer = StubResponse.data(Data(repeating: 0x61, count: 100_000))
    private static let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 100000\r\n\r\n"
    private static let size = 100_000

    static let offsets = [0, 1, 17, 4096, 65_536, size - 1, size]

    @Test func faultsOccurAtExactByteOffset() async throws {
        let server = try MockServer()
        var targets: [String] = []
        var expected: [String] = []
        for offset in Self.offsets {
            server.route(.get, "/truncated/\(offset)", Self.answer.truncated(after: offset))
            server.route(.get, "/reset/\(offset)", Self.answer.reset(after: offset))
            server.route(.get, "/stalled/\(offset)", Self.answer.stalled(after: offset))
            let count = Self.head.utf8.count + offset
            targets += ["/truncated/\(offset)", "/reset/\(offset)", "/stalled/\(offset)?\(count)"]
            expected += ["/truncated/\(offset) \(count) end", "/reset/\(offset) \(count) reset"]
            expected.append("/stalled/\(offset) \(count) silence")
        }
        server.route(.get, "/whole", Self.answer.closing)
        server.route(.get, "/closed", .closed)
        server.route(
            .get,
            "/drip",
            Self.answer.dripping(by: 9999, every: .milliseconds(1)).truncated(after: 70_000)
        )
        server.route(
            .get,
            "/speed",
            Self.answer.throttled(to: StubResponse.Speed(bytesPerSecond: 4_000_000)).reset(after: 90_001)
        )
        targets += ["/whole", "/closed", "/drip", "/speed"]
        let head = Self.head.utf8.count
        expected += ["/whole \(head + Self.size + 19) end", "/closed 0 end"]
        expected += ["/drip \(head + 70_000) end", "/speed \(head + 90_001) reset"]

        let result = try await Tool.python(arguments: ["-c", Self.program, "\(server.port)"] + targets)

        #expect(result.errors == "")
        #expect(result.output.split(separator: "\n").map(String.init) == expected)
    }

    @Test func earlyResponseReachesSendingClient() async throws {
        let server = try MockServer()
        server.route(.post, "/", .status(.contentTooLarge).early)
        let program = """
            import http.client
            c = http.client.HTTPConnection("127.0.0.1", \(server.port), timeout=30)
            c.putrequest("POST", "/"); c.putheader("Content-Length", "100000000"); c.endheaders()
            r = c.getresponse(); print(r.status, r.will_close)
            """

        #expect(try await Tool.python("-c", program).output == "413 True\n")
    }

    @Test func pipelinedResponsesKeepRequestOrder() async throws {
        let server = try MockServer { .text($0.path) }
        let program = """
            import socket, re
            s = socket.create_connection(("127.0.0.1", \(server.port)), timeout=30)
            s.sendall(b"".join(b"GET /%d HTTP/1.1\\r\\nHost: h\\r\\n\\r\\n" % n for n in range(500)))
            s.shutdown(socket.SHUT_WR)
            text = b"".join(iter(lambda: s.recv(65536), b""))
            print([int(n) for n in re.findall(rb"\\r\\n\\r\\n/(\\d+)", text)] == list(range(500)))
            """

        #expect(try await Tool.python("-c", program).output == "True\n")
    }

    @Test func pythonReadsTrailersAndReusesConnections() async throws {
        var configuration = MockServer.Configuration()
        configuration.maximumRequestsPerConnection = 3
        let server = try MockServer(configuration: configuration) { request in
            .chunked(request.path.map { Data($0.utf8) }, trailers: ["X-Sum": "1"])
        }
        let program = """
            import http.client
            c = http.client.HTTPConnection("127.0.0.1", \(server.port), timeout=30)
            for n in range(7):
                c.request("GET", f"/number/{n}"); r = c.getresponse(); print(r.read().decode(), r.will_close)
            """

        let lines = try await Tool.python("-c", program).output.split(separator: "\n").map(String.init)

        #expect(lines == (0..<7).map { "/number/\($0) \($0 % 3 == 2 ? "True" : "False")" })
        #expect(server.requests.map(\.connection) == [0, 0, 0, 1, 1, 1, 2])
    }
}
