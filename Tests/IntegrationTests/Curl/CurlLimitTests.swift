// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Everything that a peer can send has a limit, and memory doesn't grow beyond it.
    @Suite(.bounded) struct CurlLimitTests {
        static func head(lines: Int, prefix: String = "") -> String {
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + prefix + (0..<lines).map { "X-\($0): a\r\n" }.joined() + "\r\n"
        }

        static func head(value size: Int) -> String {
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: " + String(repeating: "a", count: size) + "\r\n\r\n"
        }

        static let heads: [(name: String, wire: String, result: String)] = [
            ("998 fields", head(lines: 996), "success"),
            ("1,001 lines", head(lines: 999), "headTooLarge"),
            ("10,000 fields", head(lines: 10_000), "headTooLarge"),
            ("a field of 64 KiB", head(value: 64 << 10), "success"),
            ("a field of 1 MiB", head(value: 1 << 20), "headTooLarge"),
            ("a field of 8 MiB", head(value: 8 << 20), "headTooLarge"),
            (
                "a field without an end", "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 4 << 20),
                "headTooLarge"
            ),
            ("a status line without an end", "HTTP/1.1 200 " + String(repeating: "a", count: 4 << 20), "headTooLarge"),
            ("100 informational", informational(100) + head(lines: 0), "success"),
            ("101 informational", informational(101) + head(lines: 0), "headTooLarge"),
            ("10,000 informational", informational(10_000) + head(lines: 0), "headTooLarge"),
            ("10,000 lines like a status line", head(lines: 0, prefix: likeAStatus(10_000)), "headTooLarge"),
            ("100 trailers", trailers(100), "success"),
            ("10,000 trailers", trailers(10_000), "headTooLarge"),
            ("fields over several informational", informational(50, fields: 900) + head(lines: 0), "any"),
        ]

        private static func likeAStatus(_ lines: Int) -> String {
            (0..<lines).map { "HTTP/\($0): a\r\n" }.joined()
        }

        private static func trailers(_ lines: Int) -> String {
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
                + (0..<lines).map { "X-\($0): a\r\n" }.joined() + "\r\n"
        }

        private static func informational(_ count: Int, fields: Int = 0) -> String {
            let fields = (0..<fields).map { "X-\($0): a\r\n" }.joined()
            return String(repeating: "HTTP/1.1 103 Early Hints\r\n\(fields)\r\n", count: count)
        }

        @Test(arguments: heads.map(\.name))
        func headIsAcceptedUpToLimit(_ name: String) async throws {
            let row = try #require(Self.heads.first { $0.name == name })
            let server = try MockServer { _ in .raw(row.wire) }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url)
            transport.close()

            if row.result != "any" {
                #expect(transcript.result == row.result, "\(String(describing: transcript.error))")
            }
            #expect(transcript.result != "timedOut")
            #expect(transcript.violations == [])
        }

        @Test(arguments: [("lines", head(lines: 10_000)), ("bytes", head(value: 90 << 10))])
        func headLimitIsConfigurable(_ name: String, _ wire: String) async throws {
            let server = try MockServer { _ in .raw(wire) }
            let transport = CurlTransport.configured {
                $0.maximumHeadLines = 20_000
                $0.maximumHeadSize = 1 << 20
            }

            let transcript = await transport.run(server.url)

            #expect(transcript.result == "success", "\(String(describing: transcript.error))")
            #expect(transcript.response?.headers.count == wire.split(separator: "\r\n").count - 1)
        }

        /// Many releases of libcurl have their own limit: 300 KiB for all fields, 100 KiB for one.
        @Test(
            arguments: [
                head(value: 600 << 10),
                (0..<9).map { "X-\($0): " + String(repeating: "a", count: 90 << 10) }
                    .reduce("HTTP/1.1 200 OK\r\n") { "\($0)\($1)\r\n" } + "Content-Length: 0\r\n\r\n",
            ].enumerated().map(\.self)
        )
        func libcurlLimitFailsAsHeadTooLarge(_ row: (offset: Int, element: String)) async throws {
            let server = try MockServer { _ in .raw(row.element) }
            let transport = CurlTransport.configured { $0.maximumHeadSize = 1 << 24 }

            let transcript = await transport.run(server.url)

            #expect(["success", "headTooLarge"].contains(transcript.result), "\(String(describing: transcript.error))")
        }

        @Test(.tags(.alone)) func compressionBombFailsAtDecodedByteLimit() async throws {
            let bomb = Deflate.gzipBomb(of: 300 << 20)
            let server = try MockServer { _ in .data(bomb, headers: [.contentEncoding: "gzip"]) }
            let transport = CurlTransport()

            let isBounded = await Usage.isBelow(32 << 20) {
                let transcript = await transport.run(server.url, maximumBodySize: 1 << 20)
                #expect(transcript.result == "bodyTooLarge")
                #expect(transcript.contentSize <= 1 << 20)
                #expect(transcript.violations == [])
            }
            transport.close()

            #expect(bomb.count < 310_000 && isBounded)
        }

        @Test(.tags(.alone)) func allowedBombIsDecodedInConstantMemory() async throws {
            let (bomb, size) = Deflate.zeros(about: Scale.pick(128 << 20, whole: 300 << 20))
            let server = try MockServer { _ in .data(bomb, headers: [.contentEncoding: "deflate"]) }
            let transport = CurlTransport()

            let isFlat = try await Usage.isBelow(64 << 20) {
                let transcript = Transcript(keepsContent: false)
                transport.send(server.url, to: transcript)
                try await transcript.ended.wait()
                #expect(transcript.result == "success")
                #expect(transcript.contentSize == size)
            }

            #expect(isFlat)
        }
    }
}
#endif
