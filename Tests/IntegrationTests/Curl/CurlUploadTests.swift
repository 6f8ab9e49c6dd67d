// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Uploads: every kind of body with exact framing, and header fields unchanged.
    @Suite(.bounded) struct CurlUploadTests {
        struct Body: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let size: Int
            let isSized: Bool
            let make: @Sendable (Data, URL) -> HTTPBody
        }

        static let bodies: [Body] = [0, 1, 5, 65_536, 262_144, 300_001, 3_000_000].flatMap { size in
            [
                Body(testDescription: "data of \(size)", size: size, isSized: true) { data, _ in .data(data) },
                Body(testDescription: "file of \(size)", size: size, isSized: true) { _, file in .file(file) },
                Body(testDescription: "sized stream of \(size)", size: size, isSized: true) { data, _ in
                    .stream(HTTPBody.Stream(length: Int64(data.count)) { InputStream(data: data) })
                },
                Body(testDescription: "stream of \(size)", size: size, isSized: false) { data, _ in
                    .stream(HTTPBody.Stream { InputStream(data: data) })
                },
            ]
        }

        /// Each body with one of the methods, or with both in a full run.
        static let uploads: [(Body, HTTPMethod)] = bodies.enumerated().flatMap { number, body in
            let methods: [HTTPMethod] = [.post, .put]
            // Four kinds of bodies: the next size begins with the other method.
            return Scale.pick([methods[(number + number / 4) % 2]], whole: methods).map { (body, $0) }
        }

        private func temporaryFile(_ data: Data) throws -> URL {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try data.write(to: url)
            return url
        }

        @Test(arguments: uploads)
        func bodyIsSentWithCorrectFraming(_ body: Body, _ method: HTTPMethod) async throws {
            let data = Data.pattern(body.size)
            let file = try temporaryFile(data)
            defer { try? FileManager.default.removeItem(at: file) }
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url, method: method, body: body.make(data, file))
            transport.close()

            let request = try #require(server.requests.first)
            #expect(transcript.text == "thanks", "\(String(describing: transcript.error))")
            #expect(transcript.violations == [])
            #expect(request.method == method)
            #expect(request.body == data)
            #expect(request.headers[.contentLength] == (body.isSized ? "\(body.size)" : nil))
            #expect(request.headers[.transferEncoding] == (body.isSized ? nil : "chunked"))
            #expect(request.headers[.expect] == nil)
            #expect(request.headers[.contentType] == nil)
            #expect(server.requests.count == 1)
        }

        @Test(arguments: [HTTPMethod.get, .delete, .patch, .options, .head, HTTPMethod("QUERY")])
        func anyMethodCanHaveBody(_ method: HTTPMethod) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            let transcript = await transport.run(
                server.url,
                method: method,
                body: .data(Data("hello".utf8))
            )
            let next = await transport.run(server.url)

            #expect(transcript.result == "success", "\(String(describing: transcript.error))")
            #expect(transcript.text == (method == .head ? "" : "thanks"))
            #expect(server.requests.first?.method == method)
            #expect(server.requests.first?.text == "hello")
            #expect(next.text == "thanks")
        }

        @Test(arguments: [
            (HTTPMethod.get, String?.none), (.head, nil), (.delete, nil), (.post, "0"), (.put, "0"), (.patch, "0"),
        ])
        func emptyBodySendsContentLengthIfRequired(_ method: HTTPMethod, _ length: String?) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url, method: method)

            #expect(transcript.result == "success")
            #expect(server.requests.first?.method == method)
            #expect(server.requests.first?.headers[.contentLength] == length)
            #expect(server.requests.first?.headers[.transferEncoding] == nil)
            #expect(server.requests.first?.headers[.contentType] == nil)
        }

        @Test func expectContinueIsSentOnlyOnRequest() async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()
            let body = HTTPBody.data(Data(count: 2_000_000))

            let silent = await transport.run(server.url, method: .post, body: body)
            let asking = await transport.run(server.url, method: .post, headers: ["Expect": "100-continue"], body: body)
            transport.close()

            #expect(server.requests.map { $0.headers["Expect"] } == [nil, "100-continue"])
            #expect(server.requests.map(\.body.count) == [2_000_000, 2_000_000])
            #expect([silent, asking].map(\.result) == ["success", "success"])
            #expect(asking.informational.map(\.status.code) == [100])
            #expect(asking.violations == [])
        }

        @Test func headerFieldsAreSentUnchanged() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport()
            let headers: HTTPHeaders = [
                "X-Empty": "", "X-Blank": "  ", "x-lower": "1", "X-Twice": "a", "X-Other": "ü", "X-Twice": "b",
                "X-Semi": "a;b",
                "User-Agent": "test", "Accept": "text/plain",
            ]

            _ = await transport.run(server.url, headers: headers)

            let sent = try #require(server.requests.first?.headers)
            #expect(sent["X-Empty"] == "")
            #expect(sent["X-Blank"] == "")
            #expect(sent[values: "X-Twice"] == ["a", "b"])
            #expect(sent["X-Other"] == "ü")
            #expect(sent["X-Semi"] == "a;b")
            #expect(sent[values: .userAgent] == ["test"])
            #expect(sent[values: .accept] == ["text/plain"])
            #expect(
                sent.map(\.name.rawValue).filter { $0.hasPrefix("X-") } == [
                    "X-Empty", "X-Blank", "X-Twice", "X-Other", "X-Twice", "X-Semi",
                ]
            )
            #expect(sent.contains { $0.name.rawValue == "x-lower" })
        }

        @Test func acceptEncodingIsSetByTransportOrCaller() async throws {
            let gzip = Deflate.gzip(Data("hello".utf8))
            let server = try MockServer { _ in .data(gzip, headers: [.contentEncoding: "gzip"]) }
            let decoding = CurlTransport()
            let plain = CurlTransport.configured { $0.decodesContent = false }

            let decoded = await decoding.run(server.url)
            let own = await decoding.run(server.url, headers: [.acceptEncoding: "gzip;q=0.5"])
            let raw = await plain.run(server.url)
            let asked = await plain.run(server.url, headers: [.acceptEncoding: "gzip"])
            _ = await decoding.run(server.url, headers: [.range: "bytes=0-9"])

            #expect([decoded, own].map(\.text) == ["hello", "hello"])
            #expect([raw, asked].map(\.body) == [gzip, gzip])
            let accepted = server.requests.map { $0.headers[.acceptEncoding] }
            #expect(accepted.first??.contains("gzip") == true)
            #expect(accepted.dropFirst() == ["gzip;q=0.5", nil, "gzip", "identity"])
        }

        static let broken: [(name: String, code: String, make: @Sendable () -> HTTPBody)] = [
            ("a file that is missing", "invalidRequest", { .file(URL(fileURLWithPath: "/nowhere/at/all")) }),
            ("a directory", "invalidRequest", { .file(URL(fileURLWithPath: "/tmp")) }),
            (
                "a stream that is shorter than announced", "invalidRequest",
                { .stream(HTTPBody.Stream(length: 10) { InputStream(data: Data("short".utf8)) }) }
            ),
            (
                "a stream that is longer than announced", "invalidRequest",
                { .stream(HTTPBody.Stream(length: 5) { InputStream(data: Data("hello world".utf8)) }) }
            ),
            (
                "a stream that is longer than announced, and than a piece of it", "invalidRequest",
                { .stream(HTTPBody.Stream(length: 1 << 20) { InputStream(data: Data(count: 1 << 20 + 1)) }) }
            ),
            (
                "a stream that has bytes, and is announced to have none", "invalidRequest",
                { .stream(HTTPBody.Stream(length: 0) { InputStream(data: Data("hello".utf8)) }) }
            ),
            (
                "a stream that can't be read", "invalidRequest",
                { .stream(HTTPBody.Stream { InputStream(fileAtPath: "/nowhere") ?? InputStream(data: Data()) }) }
            ),
            (
                "a stream that can't be opened", "other",
                { .stream(HTTPBody.Stream { throw CocoaError(.fileNoSuchFile) }) }
            ),
        ]

        @Test(arguments: broken.map(\.name))
        func failingBodyThrowsTypedError(_ name: String) async throws {
            let row = try #require(Self.broken.first { $0.name == name })
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url, method: .post, body: row.make())
            let next = await transport.run(server.url)
            transport.close()

            #expect(transcript.result == row.code, "\(String(describing: transcript.error))")
            #expect(transcript.violations == [])
            #expect(next.text == "thanks")
            // No part of a body counted as the whole.
            #expect(server.requests.count == 1)
        }

        /// A transport that wraps this one may add a field, or change the method, and checks neither.
        @Test(arguments: ["a\r\nX-Other: b", "a\nb", "a\0b", "a\u{7f}"])
        func invalidFieldOfWrappingTransportIsRejected(_ text: String) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            for name in ["X-Value", "Proxy-Authorization"] {
                let transcript = await transport.run(server.url, headers: [HTTPField(HTTPField.Name(name), text)])
                #expect(transcript.result == "invalidRequest")
            }
            let named = await transport.run(server.url, headers: [HTTPField(HTTPField.Name("X\(text)"), "value")])
            let method = await transport.run(server.url, method: HTTPMethod("GET \(text)"))

            #expect(named.result == "invalidRequest" && method.result == "invalidRequest")
            #expect(server.requests.isEmpty)
        }

        @Test func singleUseStreamIsSentOnce() async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()
            let body = HTTPBody.stream(HTTPBody.Stream(InputStream(data: Data("once".utf8))))

            let first = await transport.run(server.url, method: .post, body: body)
            let second = await transport.run(server.url, method: .post, body: body)

            #expect(first.text == "thanks")
            #expect(second.result == "bodyNotReplayable")
            #expect(server.requests.map(\.text) == ["once"])
        }

        /// Keeps a connection, closes it in the middle of the next request, and records the one after that.
        private static func quitter(_ bodies: Locked<[String]>) throws -> RawListener {
            let isFirst = Locked(true)
            return try RawListener { connection in
                let closes = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if closes {
                    guard connection.readHead() != nil else { return }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
                    guard connection.readHead() != nil, connection.skip(5_000) else { return }
                } else {
                    guard connection.readHead() != nil, let body = connection.read(rewound.utf8.count) else { return }
                    bodies.withLock { $0.append(String(decoding: body, as: UTF8.self)) }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole")
                }
            }
        }

        private static let rewound = (0..<20_000).map { "\($0) " }.joined()

        /// A dead connection is replaced, and the body starts over.
        @Test(arguments: ["data", "file", "stream"])
        func bodyIsResentFromStartOnNewConnection(_ kind: String) async throws {
            let bodies = Locked<[String]>([])
            let server = try Self.quitter(bodies)
            let url = URL(string: "http://127.0.0.1:\(server.port)/")!
            let content = Data(Self.rewound.utf8)
            let file = try temporaryFile(content)
            defer { try? FileManager.default.removeItem(at: file) }
            let body: HTTPBody =
                switch kind {
                case "data": .data(content)
                case "file": .file(file)
                default: .stream(HTTPBody.Stream(length: Int64(content.count)) { InputStream(data: content) })
                }
            let transport = CurlTransport()
            #expect(await transport.run(url).text == "hi")

            let transcript = await transport.run(url, method: .put, body: body)
            transport.close()

            #expect(transcript.text == "whole", "\(String(describing: transcript.error))")
            #expect(bodies.withLock { $0 == [Self.rewound] })
            #expect(transcript.violations == [])
        }

        /// The connection ends while the body has no bytes: libcurl doesn't notice that, and is told.
        @Test func stalledBodyIsResentFromStartOnNewConnection() async throws {
            let bodies = Locked<[String]>([])
            let server = try Self.quitter(bodies)
            let url = URL(string: "http://127.0.0.1:\(server.port)/")!
            let content = Data(Self.rewound.utf8)
            let (pipe, isFirst) = (try StalledPipe(of: 6000), Locked(true))
            let body = HTTPBody.Stream(length: Int64(content.count)) {
                let isFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                return isFirst ? try pipe.input() : InputStream(data: content)
            }
            let transport = CurlTransport()
            #expect(await transport.run(url).text == "hi")

            let transcript = await transport.run(url, method: .put, body: .stream(body))
            transport.close()

            #expect(transcript.text == "whole", "\(String(describing: transcript.error))")
            #expect(bodies.withLock { $0 == [Self.rewound] })
            #expect(transcript.violations == [])
        }

        @Test func singleUseBodyIsNotResent() async throws {
            let bodies = Locked<[String]>([])
            let server = try Self.quitter(bodies)
            let url = URL(string: "http://127.0.0.1:\(server.port)/")!
            let content = Data(Self.rewound.utf8)
            let once = HTTPBody.stream(HTTPBody.Stream(InputStream(data: content), length: Int64(content.count)))
            let transport = CurlTransport()
            #expect(await transport.run(url).text == "hi")

            let transcript = await transport.run(url, method: .put, body: once)
            transport.close()

            #expect(transcript.result == "bodyNotReplayable", "\(String(describing: transcript.error))")
            #expect(bodies.withLock { $0 } == [])
        }

        /// A response to `Expect: 100-continue`, but no reason to send the content without it.
        @Test(arguments: ["PUT", "POST"] as [HTTPMethod])
        func failedExpectationIsReturnedAsResponse(_ method: HTTPMethod) async throws {
            let heads = Locked(0)
            let server = try RawListener { connection in
                while let head = connection.readHead() {
                    heads.withLock { $0 += 1 }
                    let isAsked = head.lowercased().contains("expect: 100-continue")
                    connection.write(
                        isAsked
                            ? "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno"
                            : "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"
                    )
                }
            }
            let transport = CurlTransport()

            let transcript = await transport.run(
                URL(string: "http://127.0.0.1:\(server.port)/")!,
                method: method,
                headers: [.expect: "100-continue"],
                body: .data(Data(count: 2_000_000))
            )
            transport.close()

            #expect(transcript.response?.status.code == 417)
            #expect(transcript.result == "success", "\(String(describing: transcript.error))")
            // libcurl intends to retry, so it doesn't report the content.
            #expect(["no", ""].contains(transcript.text))
            #expect(heads.withLock { $0 } == 1)
            #expect(transcript.violations == [])
        }

        static let heads: [(name: String, address: String, headers: HTTPHeaders)] = [
            ("a field of 1 MB", "/", ["X-Large": String(repeating: "a", count: 1_050_000)]),
            ("a field of 9 MB", "/", ["X-Large": String(repeating: "a", count: 9_000_000)]),
            ("an address of 9 MB", "/" + String(repeating: "a", count: 9_000_000), [:]),
        ]

        @Test(arguments: heads.map(\.name))
        func oversizedRequestHeadIsAnInvalidRequest(_ name: String) async throws {
            let row = try #require(Self.heads.first { $0.name == name })
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url(row.address), headers: row.headers)
            let most = await transport.run(server.url, headers: ["X-Large": String(repeating: "a", count: 900_000)])

            #expect(transcript.result == "invalidRequest", "\(String(describing: transcript.error))")
            #expect(transcript.error?.reason?.contains("1000000 bytes") == true)
            #expect(most.error?.code != .invalidRequest)
        }

        /// The server answers at the head, and reads the rest. (One that closes instead may reset the connection before
        /// its answer is read.)
        @Test(arguments: [HTTPStatus.contentTooLarge, .unauthorized, .ok])
        func earlyResponseDuringUploadIsReturned(_ status: HTTPStatus) async throws {
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 \(status.code) X\r\nContent-Length: 5\r\n\r\nearly")
                _ = connection.skip(.max)
            }
            let transport = CurlTransport()

            let transcript = await transport.run(
                URL(string: "http://127.0.0.1:\(server.port)/")!,
                method: .post,
                body: .data(Data(count: 8 << 20))
            )
            transport.close()

            #expect(transcript.result == "success", "\(String(describing: transcript.error))")
            #expect(transcript.response?.status == status)
            #expect(transcript.text == "early")
            #expect(transcript.violations == [])
        }

        @Test(arguments: [StubResponse.reset.early, .closed.early])
        func closeDuringUploadFailsAsConnectionLost(_ response: StubResponse) async throws {
            let server = try MockServer()
            server.route(.post, "/", response)
            let transport = CurlTransport()

            let transcript = await transport.run(server.url("/"), method: .post, body: .data(Data(count: 32 << 20)))
            transport.close()

            #expect(transcript.result == "connectionLost", "\(String(describing: transcript.error))")
            #expect(transcript.violations == [])
        }
    }
}
#endif
