// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Requests that follow one another: libcurl's handle of the first serves the second.
    @Suite(.bounded) struct CurlHandleTests {
        private static let few = HTTPBody.data(Data("few".utf8))
        private static let many = HTTPBody.data(Data(repeating: 0x61, count: 100_000))

        @Test(
            arguments: [
                (.get, ["X-Former": "yes"], .none), (.get, [:], few), (.head, [:], .none), (.delete, [:], .none),
                (.options, [:], few), (.post, [:], .none), (.post, ["Content-Type": "text/plain"], few),
                (.put, [:], many), (.patch, ["Expect": "100-continue"], few), (.get, ["Range": "bytes=0-1"], .none),
                (.get, ["Proxy-Authorization": "secret"], .none),
            ] as [(HTTPMethod, HTTPHeaders, HTTPBody)]
        )
        func reusedHandleKeepsNoState(_ method: HTTPMethod, _ headers: HTTPHeaders, _ body: HTTPBody) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            for _ in 0..<2 {
                _ = await transport.run(server.url("/plain"))
                _ = await transport.run(server.url("/former"), method: method, headers: headers, body: body)
            }
            let last = await transport.run(server.url("/plain"))

            let plain = server.requests.filter { $0.path == "/plain" }.map(\.rawBytes)
            let former = server.requests.filter { $0.path == "/former" }
            #expect(plain.count == 3 && Set(plain).count == 1 && last.text == "thanks")
            #expect(former.map(\.method) == [method, method] && Set(former.map(\.body)).count == 1)
        }

        @Test func failureDoesNotAffectNextRequest() async throws {
            let server = try MockServer { $0.path == "/lost" ? .closed : .text("thanks") }
            let transport = CurlTransport()

            var results: [String] = []
            for path in ["/plain", "/lost", "/plain", "/lost", "/plain"] {
                results.append(await transport.run(server.url(path)).result)
            }

            #expect(results == ["success", "connectionLost", "success", "connectionLost", "success"])
        }

        /// libcurl sends a request again itself if a kept connection turns out to be closed, a few times for a handle.
        @Test func recoversFromAnyNumberOfClosedConnections() async throws {
            let connections = Locked(0)
            let server = try RawListener { connection in
                connections.withLock { $0 += 1 }
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                _ = connection.readHead()
            }
            let transport = CurlTransport()
            let url = URL(string: "http://127.0.0.1:\(server.port)/")!

            var results: [String] = []
            for _ in 0..<20 { results.append(await transport.run(url).result) }

            #expect(results == Array(repeating: "success", count: 20))
            #expect(connections.withLock { $0 } == 20)
        }
    }
}
#endif
