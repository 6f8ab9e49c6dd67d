// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import Testing

extension OverLoopback {
    /// What goes out: every kind of body under exact framing, and header fields as they were given.
    @Suite struct CurlUploadTests {
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
                    .stream(BodyStream(length: Int64(data.count)) { InputStream(data: data) })
                },
                Body(testDescription: "stream of \(size)", size: size, isSized: false) { data, _ in
                    .stream(BodyStream { InputStream(data: data) })
                },
            ]
        }

        private func temporaryFile(_ data: Data) throws -> URL {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try data.write(to: url)
            return url
        }

        @Test(arguments: bodies, [HTTPMethod.post, .put])
        func bodyArrivesUnderItsFraming(_ body: Body, _ method: HTTPMethod) async throws {
            let data = Data((0..<body.size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
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
        func anyMethodMayHaveABody(_ method: HTTPMethod) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            let transcript = await transport.run(
                server.url,
                method: method,
                body: .data(Data("hello".utf8)),
                timeout: .seconds(2)
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
        func methodWithoutABodySaysSoWhereItMust(_ method: HTTPMethod, _ length: String?) async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url, method: method)

            #expect(transcript.result == "success")
            #expect(server.requests.first?.method == method)
            #expect(server.requests.first?.headers[.contentLength] == length)
            #expect(server.requests.first?.headers[.transferEncoding] == nil)
            #expect(server.requests.first?.headers[.contentType] == nil)
        }

        @Test func questionBeforeTheBodyIsAskedOnlyWhereTheCallerWantsIt() async throws {
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

        @Test func fieldsArriveAsTheyWereGiven() async throws {
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

        @Test func codingIsAskedForByTheTransportOrTheCaller() async throws {
            let gzip = Deflate.gzip(Data("hello".utf8))
            let server = try MockServer { _ in .data(gzip, headers: [.contentEncoding: "gzip"]) }
            let decoding = CurlTransport()
            let plain = CurlTransport.configured { $0.decodesContent = false }

            let decoded = await decoding.run(server.url)
            let own = await decoding.run(server.url, headers: [.acceptEncoding: "gzip;q=0.5"])
            let raw = await plain.run(server.url)
            let asked = await plain.run(server.url, headers: [.acceptEncoding: "gzip"])

            #expect([decoded, own].map(\.text) == ["hello", "hello"])
            #expect([raw, asked].map(\.body) == [gzip, gzip])
            let accepted = server.requests.map { $0.headers[.acceptEncoding] }
            #expect(accepted[0]?.contains("gzip") == true)
            #expect(accepted[1...] == ["gzip;q=0.5", nil, "gzip"])
        }

        static let broken: [(name: String, code: String, make: @Sendable () -> HTTPBody)] = [
            ("a file that is missing", "invalidRequest", { .file(URL(fileURLWithPath: "/nowhere/at/all")) }),
            ("a directory", "invalidRequest", { .file(URL(fileURLWithPath: "/tmp")) }),
            (
                "a stream that is shorter than announced", "invalidRequest",
                { .stream(BodyStream(length: 10) { InputStream(data: Data("short".utf8)) }) }
            ),
            (
                "a stream that can't be read", "invalidRequest",
                { .stream(BodyStream { InputStream(fileAtPath: "/nowhere") ?? InputStream(data: Data()) }) }
            ),
            ("a stream that can't be opened", "other", { .stream(BodyStream { throw CocoaError(.fileNoSuchFile) }) }),
        ]

        @Test(arguments: broken.map(\.name))
        func bodyThatFailsIsATypedError(_ name: String) async throws {
            let row = try #require(Self.broken.first { $0.name == name })
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()

            let transcript = await transport.run(server.url, method: .post, body: row.make())
            let next = await transport.run(server.url)
            transport.close()

            #expect(transcript.result == row.code, "\(String(describing: transcript.error))")
            #expect(transcript.violations == [])
            #expect(next.text == "thanks")
        }

        @Test func streamLongerThanAnnouncedIsCutAtItsLength() async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()
            let body = HTTPBody.stream(BodyStream(length: 5) { InputStream(data: Data("hello world".utf8)) })

            #expect(await transport.run(server.url, method: .post, body: body).text == "thanks")
            #expect(server.requests.first?.text == "hello")
        }

        @Test func streamThatCanBeReadOnceIsSentOnce() async throws {
            let server = try MockServer { _ in .text("thanks") }
            let transport = CurlTransport()
            let body = HTTPBody.stream(BodyStream(InputStream(data: Data("once".utf8))))

            let first = await transport.run(server.url, method: .post, body: body)
            let second = await transport.run(server.url, method: .post, body: body)

            #expect(first.text == "thanks")
            #expect(second.result == "bodyNotReplayable")
            #expect(server.requests.map(\.text) == ["once"])
        }

        /// A connection that turns out dead is replaced, and the body starts anew.
        @Test func bodyIsSentFromItsStartOnAnotherConnection() async throws {
            let server = try MockServer { $0.index == 1 ? .closed : .text("\($0.body.count)") }
            let transport = CurlTransport()
            _ = await transport.run(server.url)

            let transcript = await transport.run(server.url, method: .put, body: .data(Data(count: 100_000)))

            #expect(["100000", ""].contains(transcript.text))
            #expect(transcript.text == "100000" || transcript.result == "connectionLost")
        }

        @Test(arguments: [HTTPStatus.contentTooLarge, .unauthorized, .ok])
        func earlyAnswerDuringTheUploadIsTheAnswer(_ status: HTTPStatus) async throws {
            let server = try MockServer()
            server.route(.post, "/", .text("early", status: status).early)
            let transport = CurlTransport()

            let transcript = await transport.run(
                server.url("/"),
                method: .post,
                body: .data(Data(count: 8 << 20)),
                timeout: .seconds(5)
            )
            transport.close()

            // A server that closes while it is sent to may answer, and may reset what it has answered.
            #expect(
                ["success", "connectionLost"].contains(transcript.result),
                "\(String(describing: transcript.error))"
            )
            if transcript.result == "success" { #expect(transcript.text == "early") }
            #expect(transcript.violations == [])
            #expect(transcript.duration < .seconds(4))
        }

        @Test(arguments: [MockResponse.reset.early, .closed.early])
        func endDuringTheUploadIsALostConnection(_ response: MockResponse) async throws {
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
