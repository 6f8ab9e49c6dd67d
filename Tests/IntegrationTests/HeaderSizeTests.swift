// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// The head of a response is cut off at the limit of the environment, even in the middle of it.
    @Suite(.bounded) struct HeaderSizeTests {
        /// The transports that see a head as it arrives.
        static let transports = TransportUnderTest.all.filter { !$0.runsOverURLSessionOfLinux }

        private static func head(of size: Int, status: String = "200 OK", _ fields: String = "") -> StubResponse {
            let start = "HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\(fields)X-Fill: "
            return .raw(start + String(repeating: "a", count: size - start.utf8.count - 4) + "\r\n\r\n")
        }

        @Test(arguments: transports, [(1000, true), (1001, false), (100_000, false)])
        func headIsAcceptedUpToLimit(_ transport: TransportUnderTest, _ row: (size: Int, fits: Bool)) async throws {
            let server = try MockServer { _ in Self.head(of: row.size) }
            let client = HTTPClient(transport: transport.makeSession()) { $0.maximumHeadSize = 1000 }

            let operation = client.addRequest(Call(server.url))
            _ = try? await operation.value()

            let error = operation.result?.failure
            #expect(error?.code == (row.fits ? nil : .headTooLarge))
            #expect(error?.phase == (row.fits ? nil : .receiving) && error?.response == nil)
        }

        @Test(arguments: transports)
        func requestOverridesClientLimit(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in Self.head(of: 2000) }
            let client = HTTPClient(transport: transport.makeSession()) { $0.maximumHeadSize = 1000 }

            _ = try await client.fetch(Call(server.url) { $0.maximumHeadSize = 2000 })
            let run = await transport.run(Call(server.url) { $0.maximumHeadSize = 1999 })

            #expect(run.error?.code == .headTooLarge)
        }

        @Test(arguments: transports)
        func endlessHeadFails(_ transport: TransportUnderTest) async throws {
            let line = Data(("X-Fill: " + String(repeating: "a", count: 1000) + "\r\n").utf8)
            let server = try MockServer { _ in
                .script(
                    [.send(Data("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n".utf8))]
                        + Array(repeating: .send(line), count: 2000)
                        + [.stall]
                )
            }
            let jar = CookieJar()
            let client = HTTPClient(transport: transport.makeSession()) { $0.cookies = jar }

            let error = await #expect(throws: RequestError.self) { try await client.fetch(Call(server.url)) }

            #expect(error?.code == .headTooLarge)
            #expect(jar.cookies == [])
            try await server.awaitConnections(open: 0)
        }

        @Test(arguments: transports)
        func redirectHeadIsLimited(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in Self.head(of: 2000, status: "302 Found", "Location: /next\r\n") }

            let run = await transport.run(Call(server.url("/")) { $0.maximumHeadSize = 1000 })

            #expect(run.error?.code == .headTooLarge)
            #expect(server.requests.map(\.path) == ["/"])
        }

        @Test(arguments: transports)
        func oversizedHeadIsNotRetried(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in Self.head(of: 2000) }
            let client = HTTPClient(transport: transport.makeSession()) {
                $0.maximumHeadSize = 1000
                $0.retry = RetryPolicy(limit: 3, backoff: .none)
            }

            _ = try? await client.fetch(Call(server.url))

            #expect(server.requests.count == 1)
        }
    }
}
