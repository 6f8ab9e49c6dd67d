// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import RequestsWebSockets
import Testing

extension OverLoopback {
    /// Requests to a server that the system's authorities trust: libcurl's handle of one serves the next.
    @Suite(
        .bounded,
        .enabled(if: InteropServers.current?.areTrustedBySystem == true, "`Scripts/interop system` makes it so")
    )
    struct InteropSystemTests {
        /// A handle that has shared a connection of HTTP/2 keeps its buffer, whose size libcurl then refuses to change.
        @Test func upgradeFollowsMultiplexedRequests() async throws {
            let url = try #require(InteropServers.current).url(.trusted)
            let (queue, transport) = (OperationQueue(), CurlTransport())
            let client = HTTPClient(baseURL: url, transport: transport)
            queue.maxConcurrentOperationCount = 32

            let operations = (0..<64).map { _ in queue.addRequest(Call(url), session: transport) }
            await queue.drain()
            let versions = try operations.map { operation in
                InteropAnswer(String(decoding: try #require(operation.result).get(), as: UTF8.self)).version
            }
            var answers: [HTTPStatus?] = []
            for _ in 0..<32 {
                let error = await #expect(throws: RequestError.self) { try await client.webSocket("") }
                answers.append(error?.response?.status)
            }

            #expect(Set(versions) == ["HTTP/2.0"])
            #expect(Set(answers) == [.ok])
        }
    }
}
#endif
