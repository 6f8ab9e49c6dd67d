// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import Testing

extension OverLoopback {
    /// Silence of the peer ends at the timeout, to the millisecond, and a cancel ends everything at once, wherever the
    /// transfer is.
    @Suite struct CurlTimeoutTests {
        struct Silence: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let steps: [MockResponse.Step]
            var status: HTTPStatus?
            var body = HTTPBody.none
        }

        private static func send(_ text: String) -> MockResponse.Step { .send(Data(text.utf8)) }

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

        /// A busy machine makes any one run late, and none early: the best of some has to be on time.
        @Test(arguments: silences, [50, 120])
        func silenceEndsAtTheTimeout(_ silence: Silence, _ milliseconds: Int) async throws {
            let timeout = Duration.milliseconds(milliseconds)
            var durations: [Duration] = []
            repeat {
                let server = try MockServer { _ in .script(silence.steps) }
                let transport = CurlTransport()
                let method: HTTPMethod = silence.body.isEmpty ? .get : .post

                let transcript = await transport.run(server.url, method: method, body: silence.body, timeout: timeout)
                transport.close()

                #expect(transcript.result == "timedOut", "\(String(describing: transcript.error))")
                #expect(transcript.response?.status == silence.status)
                #expect(transcript.violations == [])
                #expect((transcript.error?.underlying as? URLError)?.code == .timedOut)
                #expect(transcript.duration >= timeout)
                durations.append(transcript.duration)
            } while durations.allSatisfy { $0 > timeout + .milliseconds(100) } && durations.count < 10

            #expect(durations.contains { $0 <= timeout + .milliseconds(100) }, "\(durations)")
        }

        @Test func dripIsNoSilence() async throws {
            let server = try MockServer { _ in
                .text("0123456789").dripping(chunkSize: 8, every: .milliseconds(40))
            }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url, timeout: .milliseconds(400))

            #expect(transcript.text == "0123456789")
        }

        @Test func uploadThatThePeerDoesNotTakeTimesOut() async throws {
            let server = try MockServer()
            server.route(.post, "/", .stalled.early)
            let transport = CurlTransport()

            let body = HTTPBody.data(Data(count: 64 << 20))
            let transcript = await transport.run(
                server.url("/"),
                method: .post,
                body: body,
                timeout: .milliseconds(150)
            )
            transport.close()

            #expect(transcript.result == "timedOut")
            #expect(transcript.duration < .seconds(10))
            #expect(transcript.violations == [])
        }

        @Test(arguments: silences)
        func cancelEndsAtOnceInEveryPhase(_ silence: Silence) async throws {
            let server = try MockServer { _ in .script(silence.steps) }
            let transport = CurlTransport()
            let transcript = Transcript()
            let method: HTTPMethod = silence.body.isEmpty ? .get : .post

            let transfer = transport.send(server.url, method: method, body: silence.body, to: transcript)
            try await server.awaitRequest()
            if silence.status != nil { await transcript.head.wait() }
            let start = ContinuousClock.now
            transfer.cancel()
            transfer.cancel()
            await transcript.ended.wait()
            let duration = ContinuousClock.now - start
            transfer.cancel()
            transport.close()

            #expect(transcript.result == "cancelled")
            #expect(transcript.response?.status == silence.status)
            #expect(transcript.violations == [])
            #expect(duration < .seconds(1))
            try await server.awaitConnections(open: 0)
        }

        @Test func cancelDuringAnUploadEndsAtOnce() async throws {
            let server = try MockServer()
            server.route(.post, "/", .stalled.early)
            let transport = CurlTransport()
            let transcript = Transcript()

            let body = HTTPBody.data(Data(count: 64 << 20))
            let transfer = transport.send(server.url("/"), method: .post, body: body, to: transcript)
            await transcript.upload.wait()
            transfer.cancel()
            await transcript.ended.wait()
            transport.close()

            #expect(transcript.result == "cancelled")
            #expect(transcript.violations == [])
        }

        @Test func cancelFromAReceiverEndsTheTransfer() async throws {
            let server = try MockServer { _ in .endless(pausing: .milliseconds(1), pieces: 60_000) }
            let transport = CurlTransport()
            let transfer = Locked<(any Transfer)?>(nil)
            let transcript = Transcript { event in
                guard case .data = event else { return }
                transfer.withLock { $0 }?.cancel()
            }

            transfer.withLock { $0 = transport.send(server.url, to: transcript) }
            await transcript.ended.wait()
            transport.close()

            #expect(transcript.result == "cancelled")
            #expect(transcript.violations == [])
        }
    }
}
#endif
