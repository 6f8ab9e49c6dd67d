// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The measurements of libcurl, and the metrics that are made of them.
    @Suite(.bounded) struct CurlMetricsTests {
        @Test func newConnectionPhasesAreConsecutive() async throws {
            let server = try MockServer { _ in .text("hello") }
            let transport = CurlTransport()

            let metrics = try #require(await transport.run(server.url).metrics)

            let moments = try [
                #require(metrics.fetchStart), #require(metrics.connectEnd), #require(metrics.requestEnd),
                #require(metrics.responseStart), #require(metrics.end),
            ]
            #expect(moments == moments.sorted())
            #expect(metrics.secureConnectionEnd == nil)
            #expect(metrics.isReusedConnection == false)
            #expect(metrics.networkProtocol == "http/1.1")
            #expect(abs(metrics.start.timeIntervalSinceNow) < 30)
        }

        @Test func metricsContainBothEndpoints() async throws {
            let server = try MockServer { _ in .text("hello") }
            let transport = CurlTransport()

            let first = try #require(await transport.run(server.url).metrics)
            let second = try #require(await transport.run(server.url).metrics)

            #expect(first.remoteAddress == "127.0.0.1" && first.remotePort == server.url.port)
            #expect(first.localAddress == "127.0.0.1" && (first.localPort ?? 0) > 0)
            #expect(second.localPort == first.localPort && second.isReusedConnection == true)
            #expect(first.tlsVersion == nil && first.tlsCipherSuite == nil && first.isProxyConnection != true)
        }

        @Test func failedConnectionHasNoEndpoints() async throws {
            let closed = try ClosedPort()
            let metrics = try #require(await CurlTransport().run(closed.url).metrics)

            #expect(metrics.remoteAddress == nil && metrics.localPort == nil && metrics.isProxyConnection == nil)
        }

        @Test func reusedConnectionHasNoConnectPhases() async throws {
            let server = try MockServer { _ in .text("hello") }
            let transport = CurlTransport()
            _ = await transport.run(server.url)

            let metrics = try #require(await transport.run(server.url).metrics)

            #expect(metrics.isReusedConnection == true)
            #expect(metrics.domainLookupEnd == nil && metrics.connectEnd == nil)
            #expect(metrics[.connect] == nil)
            #expect(metrics[.wait] != nil)
        }

        @Test func sentAndReceivedBytesAreCounted() async throws {
            let recorded = Locked<[Int]>([])
            let server = try RawListener { connection in
                guard let head = connection.readHead() else { return }
                recorded.withLock { $0.append(head.utf8.count) }
                connection.write("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            }
            let transport = CurlTransport()
            let body = Data(repeating: 1, count: 1000)

            let transcript = await transport.run(
                URL(string: "http://127.0.0.1:\(server.port)/")!,
                method: .put,
                body: .data(body)
            )
            transport.close()

            let metrics = try #require(transcript.metrics)
            #expect(metrics.requestHeadSize == recorded.withLock { $0.first.map { Int64($0) } })
            #expect(metrics.requestBodySize == 1000)
            #expect(metrics.responseHeadSize == 60)
            #expect(metrics.responseBodySize == 5)
        }

        @Test func encodedBodyBytesAreCounted() async throws {
            let packed = Deflate.gzip(Data(repeating: 65, count: 50_000))
            let server = try MockServer { _ in
                .status(.ok, headers: [.contentEncoding: "gzip"], body: packed)
            }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url)

            #expect(transcript.contentSize == 50_000)
            #expect(transcript.metrics?.responseBodySize == Int64(packed.count))
        }

        @Test func failureIncludesMetrics() async throws {
            let port = try ClosedPort()

            let transcript = await CurlTransport().run(port.url)

            let metrics = try #require(transcript.metrics)
            #expect(transcript.result == "cannotConnect")
            #expect(metrics.responseStart == nil && metrics.requestEnd == nil && metrics.isReusedConnection == nil)
            #expect(metrics.end != nil)
        }

        @Test func operationReportsMetricsOfItsAttempts() async throws {
            let server = try MockServer { request in
                request.target == "/old" ? .redirect(to: "/new") : .text("hello")
            }
            let queue = OperationQueue()

            let operation = queue.addRequest(Call(server.url.appending(path: "old")), session: .curl)
            _ = try await operation.value()

            let attempts = operation.transfers
            #expect(attempts.map { $0.metrics?.isReusedConnection } == [false, true])
            #expect(attempts.allSatisfy { $0.metrics?.end != nil })
            #expect(operation.metrics == attempts.last?.metrics)
        }
    }
}
#endif
