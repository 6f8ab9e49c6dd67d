// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Silence of the peer ends at the timeout, and a cancel ends a transfer at once, in any phase.
    @Suite(.bounded) struct CurlTimeoutTests {
        struct Silence: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let steps: [StubResponse.Step]
            var status: HTTPStatus?
            var body = HTTPBody.none
        }

        private static func send(_ text: String) -> StubResponse.Step { .send(Data(text.utf8)) }

        static let silences: [Silence] = [
            Silence(testDescription: "instead of an answer", steps: [.stall]),
            Silence(testDescription: "in the status line", steps: [send("HTTP/1."), .stall]),
            Silence(testDescription: "behind the status line", steps: [send("HTTP/1.1 200 OK\r\n"), .stall]),
            Silence(testDescription: "in a field", steps: [send("HTTP/1.1 200 OK\r\nA: "), .stall]),
            Silence(testDescription: "behind a 1xx", steps: [send("HTTP/1.1 103 Early Hints\r\n\r\n"), .stall]),
            Silence(
                testDescription: "behind the head",
                steps: [send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .stall],
                status: .ok
            ),
            Silence(
                testDescription: "in the content",
                steps: [send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1234"), .stall],
                status: .ok
            ),
            Silence(
                testDescription: "in a chunk",
                steps: [send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n1234"), .stall],
                status: .ok
            ),
            Silence(
                testDescription: "before the last chunk",
                steps: [send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n1234\r\n"), .stall],
                status: .ok
            ),
            Silence(testDescription: "behind an upload", steps: [.stall], body: .data(Data(count: 100_000))),
        ]

        /// More than a busy machine adds to a timeout: the peer stays silent, so that nothing else ends the transfer.
        static let late = Duration.seconds(10)

        @Test(arguments: silences)
        func silentServerTimesOut(_ silence: Silence) async throws {
            // Where the head has to be there first, a busy peer gets a second for it.
            let timeout = Duration.milliseconds(silence.status == nil ? 50 : 1_000)
            let server = try MockServer { _ in .script(silence.steps) }
            let transport = CurlTransport()
            let method: HTTPMethod = silence.body.isEmpty ? .get : .post

            let transcript = await transport.run(server.url, method: method, body: silence.body, timeout: timeout)
            transport.close()

            #expect(transcript.result == "timedOut", "\(String(describing: transcript.error))")
            #expect(transcript.violations == [])
            #expect((transcript.error?.underlying as? URLError)?.code == .timedOut)
            #expect(transcript.response?.status == silence.status)
            #expect(transcript.duration >= timeout)
            #expect(transcript.duration < Self.late)
        }

        /// A body from a pipe, of which only the beginning is written.
        @Test(arguments: ["before its first byte", "in its middle", "behind the whole answer"])
        func stalledBodyTimesOut(_ moment: String) async throws {
            let pipe = try StalledPipe(of: moment == "before its first byte" ? 0 : 1000)
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                if moment == "behind the whole answer" {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
                }
                _ = connection.skip(.max)
            }
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
            let transport = CurlTransport()
            let timeout = Duration.milliseconds(100)

            let transcript = await transport.run(url, method: .post, body: .stream(pipe.body), timeout: timeout)
            transport.close()

            #expect(transcript.result == "timedOut", "\(String(describing: transcript.error))")
            #expect(transcript.error?.reason == "the request body provided no data")
            #expect(transcript.duration >= timeout)
            #expect(transcript.duration < Self.late)
            #expect(transcript.violations == [])
        }

        @Test(arguments: silences)
        func cancelIsImmediateInEachPhase(_ silence: Silence) async throws {
            let server = try MockServer { _ in .script(silence.steps) }
            let transport = CurlTransport()
            let transcript = Transcript()
            let method: HTTPMethod = silence.body.isEmpty ? .get : .post

            let transfer = transport.send(server.url, method: method, body: silence.body, to: transcript)
            try await server.awaitRequest()
            if silence.status != nil { try await transcript.head.wait() }
            transfer.cancel()
            transfer.cancel()
            try await transcript.ended.wait()
            transfer.cancel()
            transport.close()

            #expect(transcript.result == "cancelled")
            #expect(transcript.response?.status == silence.status)
            #expect(transcript.violations == [])
            try await server.awaitConnections(open: 0)
        }
    }
}
#endif
