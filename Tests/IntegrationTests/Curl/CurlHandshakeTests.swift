// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Faults of a connection before any HTTP is sent on it.
    @Suite(.bounded) struct CurlHandshakeTests {
        /// A server's reaction to the first TLS message.
        struct Row: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let result: String
            let answer: @Sendable (RawConnection) -> Void
        }

        static let rows: [Row] = [
            Row(testDescription: "a reset instead of an answer", result: "connectionLost") { _ = $0.skip(1) },
            Row(testDescription: "an end instead of an answer", result: "connectionLost") { _ = $0.skipRecord() },
            Row(testDescription: "an end in the head of a record", result: "connectionLost") {
                if $0.skipRecord() { $0.write("\u{16}\u{3}\u{3}") }
            },
            Row(testDescription: "an end in a record", result: "connectionLost") {
                if $0.skipRecord() { $0.write("\u{16}\u{3}\u{3}\0d1234") }
            },
            Row(testDescription: "an alert", result: "untrusted") {
                if $0.skipRecord() { $0.write("\u{15}\u{3}\u{3}\0\u{2}\u{2}\u{28}") }
            },
            Row(testDescription: "clear text", result: "untrusted") {
                if $0.skipRecord() { $0.write("HTTP/1.1 400 Bad Request\r\n\r\n") }
            },
            Row(testDescription: "silence", result: "timedOut") { _ = $0.readHead() },
            Row(testDescription: "silence in a record", result: "timedOut") {
                if $0.skipRecord(), $0.write("\u{16}\u{3}\u{3}\0d1234") { _ = $0.readHead() }
            },
        ]

        @Test(arguments: rows)
        func failedHandshakeReportsItsCause(_ row: Row) async throws {
            let server = try RawListener { row.answer($0) }
            let transport = CurlTransport()

            let transcript = await transport.run(
                URL(string: "https://127.0.0.1:\(server.port)/")!,
                timeout: row.result == "timedOut" ? .milliseconds(300) : .seconds(60)
            )
            transport.close()

            #expect(transcript.result == row.result, "\(String(describing: transcript.error))")
            #expect(transcript.response == nil)
            #expect(transcript.violations == [])
            #expect(transcript.duration < .seconds(30))
        }

        @Test func unansweredHandshakeFailsAtConnectTimeout() async throws {
            let server = try RawListener { _ = $0.readHead() }
            var configuration = CurlTransport.Configuration()
            configuration.connectTimeout = .milliseconds(200)
            let transport = CurlTransport(configuration: configuration)

            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let transcript = await transport.run(url, timeout: .seconds(120))
            transport.close()

            #expect(transcript.result == "timedOut")
            #expect(transcript.duration < .seconds(60))
        }

        /// A listener whose queue is full accepts no more connections, and reports nothing.
        @Test func unacceptedConnectionTimesOut() async throws {
            let listener = try Unattended()
            let transport = CurlTransport()

            let transcript = await transport.run(listener.url, timeout: .milliseconds(300))
            transport.close()

            #expect(transcript.result == "timedOut", "\(String(describing: transcript.error))")
            #expect(transcript.duration >= .milliseconds(300) && transcript.duration < .seconds(30))
            #expect(transcript.violations == [])
        }
    }
}

extension RawConnection {
    /// Skips one TLS record, such as the first, whose length is in its head.
    fileprivate func skipRecord() -> Bool {
        guard let head = read(5) else { return false }
        return skip(Int(head[3]) << 8 | Int(head[4]))
    }
}
#endif
