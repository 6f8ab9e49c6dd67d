// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Faults of a peer, tested directly at the transport.
    ///
    /// Each row is one typed error or one result, in bounded time, with events in the order of ``HTTPTransport``. The
    /// transport and the process keep working.
    @Suite(.bounded) struct CurlFaultTests {
        enum Moment: Sendable {
            case head
            case content
        }

        struct Row: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let steps: [StubResponse.Step]
            /// The events that the client must have received before the connection is reset, since a reset discards
            /// unread bytes.
            var resetMoment: Moment?
            /// The possible outcomes: several if libcurl's versions differ.
            let results: Set<String>
            var text: String?
            var method = HTTPMethod.get
            var status: HTTPStatus? = .ok

            init(_ name: String, _ wire: String, _ results: String..., text: String? = nil) {
                self.init(name, [.send(Data(wire.utf8))], Set(results), text: text)
            }

            init(_ name: String, _ steps: [StubResponse.Step], _ results: Set<String>, text: String? = nil) {
                testDescription = name
                self.steps = steps
                self.results = results
                self.text = text
            }

            func with(_ change: (inout Row) -> Void) -> Row {
                var row = self
                change(&row)
                return row
            }

            var withoutHead: Row { with { $0.status = nil } }

            func resetting(behind moment: Moment) -> Row { with { $0.resetMoment = moment } }

            /// Returns the server's response, with gates that open when the client has read the head and content.
            func response(head: Gate, content: Gate) -> StubResponse {
                let reset: [StubResponse.Step] =
                    switch resetMoment {
                    case .head: [.waitFor(head), .reset]
                    case .content: [.waitFor(content), .reset]
                    case nil: []
                    }
                return .script(steps + reset, keepsAlive: false)
            }
        }

        // The pause lets the client read the beginning of a head, which it doesn't report.
        private static let beat = StubResponse.Step.pause(.milliseconds(20))
        private static func send(_ text: String) -> StubResponse.Step { .send(Data(text.utf8)) }
        private static let sized = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
        private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        private static func compressed(_ coding: String, _ content: Data) -> StubResponse.Step {
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(content.count)\r\n\r\n"
            return .send(Data(head.utf8) + content)
        }

        static let ends: [Row] = [
            Row("close before the head", [.close], ["connectionLost"]).withoutHead,
            Row("close in the status line", "HTTP/1.1 20", "connectionLost", "badResponse").withoutHead,
            Row("close behind the status line", "HTTP/1.1 200 OK\r\n", "connectionLost").withoutHead,
            Row("close in a field", "HTTP/1.1 200 OK\r\nContent-Le", "connectionLost").withoutHead,
            Row("close before the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "connectionLost")
                .withoutHead,
            Row("close in the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r", "connectionLost").withoutHead,
            Row("close behind a 1xx", "HTTP/1.1 103 Early Hints\r\n\r\n", "connectionLost").withoutHead,
            Row("close behind the head", sized, "connectionLost"),
            Row("close in the content", sized + "01234", "connectionLost", text: "01234"),
            Row("close behind the content", sized + "0123456789", "success", text: "0123456789"),
            Row("close behind a chunked head", chunked, "connectionLost"),
            Row("half a chunk", chunked + "a\r\n01234", "connectionLost", text: "01234"),
            Row("close behind a chunk", chunked + "5\r\n01234\r\n", "connectionLost", text: "01234"),
            Row("close in the last chunk", chunked + "5\r\n01234\r\n0\r\n", "connectionLost", "success", text: "01234"),
            Row("reset before the head", [.reset], ["connectionLost"]).withoutHead,
            Row("reset in the status line", [send("HTTP/1.1 20"), beat, .reset], ["connectionLost"]).withoutHead,
            Row("reset in the head", [send("HTTP/1.1 200 OK\r\nA: b\r\n"), beat, .reset], ["connectionLost"])
                .withoutHead,
            Row("reset behind the head", sized, "connectionLost").resetting(behind: .head),
            Row("reset in the content", sized + "01234", "connectionLost", text: "01234").resetting(behind: .content),
            Row("reset in a chunk", chunked + "a\r\n01234", "connectionLost", text: "01234")
                .resetting(behind: .content),
            Row("reset behind the content", sized + "0123456789", "success", text: "0123456789")
                .resetting(behind: .content),
            Row("reset of content without a length", "HTTP/1.1 200 OK\r\n\r\n01234", "connectionLost")
                .resetting(behind: .content),
        ]

        static let heads: [Row] = [
            Row(
                "no space behind the colon",
                "HTTP/1.1 200 OK\r\nContent-Length:5\r\nA:b\r\n\r\nhello",
                "success",
                text: "hello"
            ),
            Row("line feeds only", "HTTP/1.1 200 OK\nContent-Length: 5\nA: b\n\nhello", "success", text: "hello"),
            Row("no reason phrase", "HTTP/1.1 200\r\nContent-Length: 5\r\nA: b\r\n\r\nhello", "success", text: "hello"),
            Row("HTTP/1.0", "HTTP/1.0 200 OK\r\nA: b\r\n\r\nhello", "success", text: "hello"),
            Row(
                "a folded field",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA:\r\n b\r\n\r\nhello",
                "success",
                text: "hello"
            ),
            Row("a line without a colon", "HTTP/1.1 200 OK\r\nnonsense\r\nA: b\r\n\r\nhello", "badResponse")
                .withoutHead,
            Row(
                "a space before the colon",
                "HTTP/1.1 200 OK\r\nA : b\r\nContent-Length: 5\r\n\r\nhello",
                "success",
                text: "hello"
            ),
            Row(
                "spaces around the value",
                "HTTP/1.1 200 OK\r\nA: \t b \t\r\nContent-Length: 5\r\n\r\nhello",
                "success",
                text: "hello"
            ),
            Row("no fields at all", "HTTP/1.1 200 OK\r\n\r\nhello", "success", text: "hello").with { $0.status = .ok },
            Row("a NUL in a value", "HTTP/1.1 200 OK\r\nX: \0\r\n\r\nhello", "badResponse").withoutHead,
            Row("a NUL in the status line", "HTTP/1.1 200 \0\r\n\r\nhello", "badResponse", "success").withoutHead,
            Row("HTTP/0.9", "<html>hello</html>", "badResponse").withoutHead,
            Row("garbage", "GARBAGE\r\n\r\n", "badResponse").withoutHead,
            Row("garbage in bytes", [.send(Data(repeating: 0xFF, count: 200_000))], ["badResponse"]).withoutHead,
            Row("a TLS alert", [.send(Data([0x15, 3, 3, 0, 2, 2, 0x28]))], ["badResponse", "connectionLost"])
                .withoutHead,
            Row("a status of letters", "HTTP/1.1 abc OK\r\n\r\n", "badResponse").withoutHead,
            Row("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "badResponse").withoutHead,
            Row("a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "badResponse").withoutHead,
            Row("a status of 000", "HTTP/1.1 000 OK\r\n\r\n", "badResponse").withoutHead,
            Row("HTTP/3 in clear text", "HTTP/3 200 OK\r\n\r\n", "badResponse").withoutHead,
            Row("HTTP/2 in clear text", "HTTP/2 200\r\n\r\nhello", "success", text: "hello"),
            Row("HTTP/1.7", "HTTP/1.7 200 OK\r\n\r\n", "badResponse").withoutHead,
            Row("an empty line first", "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "badResponse").withoutHead,
        ]

        static let lengths: [Row] = [
            Row("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", "badResponse").withoutHead,
            Row("a length of letters", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nhello", "badResponse")
                .withoutHead,
            Row(
                "a length beyond 64 bits",
                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
                "badResponse"
            ).withoutHead,
            Row("letters behind a length", "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello", "badResponse")
                .withoutHead,
            Row("a list of lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3, 5\r\n\r\nhello", "badResponse")
                .withoutHead,
            Row(
                "a list of one length",
                "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
                "success",
                text: "hello"
            ),
            Row(
                "identity as a transfer coding",
                [
                    send("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello"),
                    .stall,
                ],
                ["success"],
                text: "hello"
            ),
            Row(
                "identity as a transfer coding of no content",
                [send("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 0\r\n\r\n"), .stall],
                ["success"],
                text: ""
            ),
            Row(
                "identity as a transfer coding, and a content coding",
                [
                    send("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Encoding: gzip\r\n"),
                    .send(Data("Content-Length: \(Deflate.gzip(Data("hello".utf8)).count)\r\n\r\n".utf8)),
                    .send(Deflate.gzip(Data("hello".utf8))), .stall,
                ],
                ["success"],
                text: "hello"
            ),
            Row(
                "a transfer coding that is never asked for",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                "badResponse"
            ).withoutHead,
            Row(
                "the same length twice",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
                "success",
                text: "hello"
            ),
            Row(
                "two lengths",
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nhello",
                "badResponse"
            ).withoutHead,
            Row(
                "a length and chunks",
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                "badResponse"
            ).withoutHead,
            Row(
                "chunks and a length",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                "badResponse"
            ).withoutHead,
            Row("trailers", chunked + "5\r\nhello\r\n0\r\nX-Sum: 1\r\nHTTP/1.1: 9\r\n\r\n", "success", text: "hello"),
            Row(
                "a trailer like a status line",
                chunked + "5\r\nhello\r\n0\r\nHTTP/1.1 500 Oh\r\n\r\n",
                "badResponse",
                text: "hello"
            ),
            Row("a chunk's extension", chunked + "5;a=b\r\nhello\r\n0\r\n\r\n", "success", text: "hello"),
            Row("a chunk of letters", chunked + "zz\r\nhello\r\n0\r\n\r\n", "badResponse"),
            Row("a negative chunk", chunked + "-5\r\nhello\r\n0\r\n\r\n", "badResponse"),
            Row("a chunk beyond 64 bits", chunked + "fffffffffffffffff\r\nhello", "badResponse"),
            Row("a chunk longer than its size", chunked + "2\r\nhello\r\n0\r\n\r\n", "badResponse", text: "he"),
            Row("a chunk without a size", chunked + "\r\nhello\r\n0\r\n\r\n", "badResponse"),
            Row("204 with content", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", "success", text: "")
                .with { $0.status = .noContent },
            Row("304 with content", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello", "success", text: "")
                .with { $0.status = .notModified },
            Row("HEAD with content", sized + "0123456789", "success", text: "").with { $0.method = .head },
            Row("HEAD with chunks", chunked + "5\r\nhello\r\n0\r\n\r\n", "success", text: "").with {
                $0.method = .head
            },
            Row(
                "unrequested 101",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhello",
                "badResponse"
            ).withoutHead,
        ]

        static let codings: [Row] = [
            Row("gzip", [compressed("gzip", Deflate.gzip(Data("hello".utf8)))], ["success"], text: "hello"),
            Row("gzip in capitals", [compressed("GZIP", Deflate.gzip(Data("hello".utf8)))], ["success"], text: "hello"),
            Row("invalid gzip", [compressed("gzip", Data("plain".utf8))], ["badResponse"]),
            Row(
                "gzip with garbage inside",
                [compressed("gzip", Deflate.gzip(Data("hello".utf8)).prefix(11) + Data(repeating: 0xFF, count: 40))],
                ["badResponse"]
            ),
            Row(
                "gzip with a wrong sum",
                [compressed("gzip", Deflate.gzip(Data("hello".utf8)).dropLast(8) + Data(count: 8))],
                ["badResponse"]
            ),
            Row(
                "gzip cut off in its head",
                [compressed("gzip", Deflate.gzip(Data("hello".utf8)).prefix(5))],
                ["badResponse"]
            ),
            Row(
                "gzip cut off in its content",
                [compressed("gzip", Deflate.gzip(Data("hello".utf8)).prefix(17))],
                ["badResponse"]
            ),
            Row(
                "gzip cut off in its sum",
                [compressed("gzip", Deflate.gzip(Data("hello".utf8)).dropLast(4))],
                ["badResponse"]
            ),
            Row(
                "deflate cut off",
                [compressed("deflate", Deflate.zeros(about: 100_000).data.dropLast(6))],
                ["badResponse"]
            ),
            Row("br cut off", [compressed("br", Data([0x0B, 2, 0x80, 0x68, 0x65]))], ["badResponse"]),
            Row(
                "zstd cut off",
                [compressed("zstd", Data([0x28, 0xB5, 0x2F, 0xFD, 0x20, 5, 0x29, 0, 0, 0x68, 0x65]))],
                ["badResponse"]
            ),
            Row(
                "gzip cut off without a length",
                [
                    .send(Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".utf8)),
                    .send(Deflate.gzip(Data("hello".utf8)).dropLast(4)),
                ],
                ["badResponse"]
            ),
            Row(
                "gzip of two members",
                [compressed("gzip", Deflate.gzip(Data("hello ".utf8)) + Deflate.gzip(Data("world".utf8)))],
                ["success"],
                text: "hello world"
            ),
            Row(
                "gzip in gzip",
                [compressed("gzip, gzip", Deflate.gzip(Deflate.gzip(Data("hello".utf8))))],
                ["success"],
                text: "hello"
            ),
            Row(
                "garbage behind gzip",
                [compressed("gzip", Deflate.gzip(Data("hello".utf8)) + Data("junk".utf8))],
                ["badResponse"]
            ),
            Row("an empty gzip", [compressed("gzip", Data())], ["success"], text: ""),
            Row("invalid deflate", [compressed("deflate", Data("plain text".utf8))], ["badResponse"]),
            Row("invalid br", [compressed("br", Data(repeating: 0xFF, count: 100))], ["badResponse"]),
            Row("an unknown coding", [compressed("squash", Data("plain".utf8))], ["success"], text: "plain"),
            Row("a character set as a coding", [compressed("utf-8", Data("plain".utf8))], ["success"], text: "plain"),
            Row(
                "a coding of one cloud",
                [compressed("aws-chunked", Data("plain".utf8))],
                ["success"],
                text: "plain"
            ),
            Row("identity", [compressed("identity", Data("plain".utf8))], ["success"], text: "plain"),
            Row(
                "twenty codings",
                [compressed(Array(repeating: "gzip", count: 20).joined(separator: ", "), Data("x".utf8))],
                ["badResponse"]
            ),
        ]

        @Test(arguments: ends + heads + lengths + codings)
        func faultProducesSingleOutcome(_ row: Row) async throws {
            let transcript = Transcript()
            let fault = row.response(head: transcript.head, content: transcript.content)
            let server = try MockServer { $0.path == "/next" ? .text("next") : fault }
            let transport = CurlTransport()

            transport.send(server.url("/"), method: row.method, to: transcript)
            try await transcript.ended.wait()
            let next = await transport.run(server.url("/next"))
            transport.close()

            #expect(row.results.contains(transcript.result), "\(String(describing: transcript.error))")
            #expect(transcript.response?.status == row.status)
            if let text = row.text { #expect(transcript.text == text) }
            #expect(transcript.violations == [])
            #expect(next.text == "next")
            #expect(server.requests.count == 2)
            if let error = transcript.error { #expect(error.underlying is URLError) }
        }

        @Test(arguments: ends + heads + lengths + codings)
        func faultProducesSingleOutcomeThroughPipeline(_ row: Row) async throws {
            let tap = Tap(.standard)
            let fault = row.response(head: tap.head, content: tap.content)
            let server = try MockServer { _ in fault }

            let run = await TransportUnderTest.standard.run(Call(server.url, method: row.method), over: tap)

            let result = run.error?.code.name ?? "success"
            let refused = row.status?.category != .success && row.status != nil
            #expect(run.outcomes.count == 1)
            #expect(row.results.contains(result) || refused && result == "unacceptableStatus", "\(result)")
        }

        /// "hello" in codings that this libcurl may lack: it requests only codings that it can decode.
        @Test(arguments: [
            ("br", "CwKAaGVsbG8D"), ("zstd", "KLUv/SAFKQAAaGVsbG8="),
        ])
        func requestedContentCodingIsDecoded(_ coding: String, _ content: String) async throws {
            let content = try #require(Data(base64Encoded: content))
            let server = try MockServer { request in
                let isAsked = request.headers[.acceptEncoding]?.contains(coding) == true
                return isAsked ? .script([Self.compressed(coding, content)]) : .text("hello")
            }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url)
            transport.close()

            #expect(transcript.text == "hello", "\(String(describing: transcript.error))")
        }

        /// A field that every row about heads has in its own spelling.
        @Test(arguments: heads.filter { $0.results.contains("success") && $0.steps.haveTheField })
        func parsesFieldInAnySpelling(_ row: Row) async throws {
            let server = try MockServer { _ in .script(row.steps, keepsAlive: false) }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url)

            // The head of a row may be an error in some versions of libcurl.
            #expect(transcript.result == "success" || row.results.count > 1)
            if transcript.result == "success" { #expect(transcript.response?["a"] == "b") }
        }

        @Test func nonASCIIBytesAreDecodedAsLatin1OrUTF8() async throws {
            let head =
                Data("HTTP/1.1 200 Schöön\r\nX-Utf8: ü\r\nX-Latin: ".utf8) + [0xFC]
                + Data("\r\nContent-Length: 0\r\n\r\n".utf8)
            let server = try MockServer { _ in .raw(head) }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url)

            #expect(transcript.result == "success")
            #expect(transcript.response?["X-Utf8"] == "ü")
            #expect(transcript.response?["X-Latin"] == "ü")
        }

        @Test(arguments: [1, 2, 7])
        func responseIsIndependentOfChunkSize(_ size: Int) async throws {
            let server = try MockServer { _ in
                .script([
                    .send(Data("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n".utf8)),
                    .send(Data("HTTP/1.1 200 OK\r\nA: b\r\n c\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)),
                    .send(Data("5\r\nhello\r\n1\r\n!\r\n0\r\nT: t\r\n\r\n".utf8)),
                ]).dripping(by: size, every: .microseconds(200))
            }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url)
            transport.close()

            #expect(transcript.result == "success")
            #expect(transcript.informational.map(\.status) == [.earlyHints])
            #expect(transcript.informational.first?["link"] == "a")
            #expect(transcript.response?["a"] == "b c")
            #expect(transcript.text == "hello!")
            #expect(transcript.trailers == [["T": "t"]])
            #expect(transcript.violations == [])
        }
    }
}

extension [StubResponse.Step] {
    /// Whether the steps have the field "a" with the value "b".
    fileprivate var haveTheField: Bool {
        contains { step in
            guard case .send(let data) = step else { return false }
            return String(decoding: data, as: UTF8.self).wholeMatch(of: /(?s).*\nA ?:[ \t\r\n]*b[ \t]*\r?\n.*/) != nil
        }
    }
}
#endif
