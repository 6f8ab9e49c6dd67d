// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// TrustFailure that shows without a certificate: alerts, clear text, and rules that can't be kept.
    @Suite(.bounded) struct CurlDistrustTests {
        /// The alerts of a server (RFC 8446, 6.2), and the reasons that they are reported as.
        @Test(
            arguments: [
                (40, "the TLS handshake failed; the server may require a client certificate", .secureConnectionFailed),
                (42, "the server rejected the client certificate", .clientCertificateRejected),
                (43, "the server rejected the client certificate", .clientCertificateRejected),
                (44, "the server rejected the client certificate", .clientCertificateRejected),
                (46, "the server rejected the client certificate", .clientCertificateRejected),
                (48, "the server rejected the client certificate", .clientCertificateRejected),
                (49, "the server rejected the client certificate", .clientCertificateRejected),
                (70, "the client and the server share no TLS version", .secureConnectionFailed),
                (116, "the server requires a client certificate", .clientCertificateRequired),
                // Clear text.
                (nil, "the server doesn't support TLS", .secureConnectionFailed),
            ] as [(UInt8?, String, URLError.Code)]
        )
        func tlsAlertDeterminesFailureReason(alert: UInt8?, reason: String, code: URLError.Code) async throws {
            let server = try RawListener { connection in
                // The first message of the client, whose length is in its head.
                guard let head = connection.read(5), connection.skip(Int(head[3]) << 8 | Int(head[4])) else { return }
                let record = alert.map { "\u{15}\u{3}\u{3}\0\u{2}\u{2}\(Character(Unicode.Scalar($0)))" }
                connection.write(record ?? "HTTP/1.1 400 Bad Request\r\n\r\n")
            }
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))

            let error = await CurlTransport().run(url).error

            #expect(error?.code == .untrusted)
            #expect(error?.reason?.hasPrefix("\(reason): ") == true, "\(error?.reason ?? "")")
            #expect((error?.underlying as? URLError)?.code == code)
        }

        /// No rules are looked up, rather than the wrong ones.
        @Test func hostWithoutMatchingRulesIsUnsupported() async throws {
            let url = try #require(URL(string: "https://b%C3%BCcher.example/"))
            let transcript = Transcript()

            _ = CurlTransport().send(
                TransportRequest(HTTPRequest(url: url), trust: .system.requiring(.tls13)),
                receive: transcript.receive
            )
            try await transcript.ended.wait()

            #expect(transcript.result == "unsupported", "\(String(describing: transcript.error))")
        }

        @Test func urlSessionRejectsUnsupportedTrustRules() async throws {
            let server = try MockServer { _ in .text("hi") }
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let client = HTTPClient(transport: URLSessionTransport(configuration: .ephemeral)) {
                $0.trust = .only([])
            }

            let error = await #expect(throws: RequestError.self) { try await client.fetch(HTTPRequest(url: url)) }

            #expect(error?.code == .unsupported && server.requests.isEmpty)
        }

        @Test func trustRulesApplyToTLSOnly() async throws {
            let server = try MockServer { _ in .text("hi") }
            let client = HTTPClient(transport: CurlTransport()) { $0.trust = .only([]).requiring(.tls13) }

            #expect(try await client.fetch(HTTPRequest(url: server.url)) == Data("hi".utf8))
        }
    }
}
#endif
