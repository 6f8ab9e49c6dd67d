// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

extension OverLoopback {
    /// Peers that end a connection while this side has nothing to send: the end is noticed at once.
    @Suite(.bounded) struct PeerEndTests {
        /// Far longer than a test may take: a timeout would be noticed.
        private static let timeout = Duration.seconds(100)

        struct End: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let steps: [StubResponse.Step]
            var code = RequestError.Code.connectionLost
            var status: HTTPStatus?
        }

        private static func send(_ text: String) -> StubResponse.Step { .send(Data(text.utf8)) }

        // MARK: Handshakes

        static let handshakes = [
            End(testDescription: "close without a response", steps: [.close]),
            End(testDescription: "reset without a response", steps: [.reset]),
            End(testDescription: "close in the status line", steps: [send("HTTP/1.1 10"), .close]),
            End(testDescription: "close in the head", steps: [send("HTTP/1.1 101 Switching\r\nUpg"), .close]),
            End(testDescription: "close after 100", steps: [send("HTTP/1.1 100 Continue\r\n\r\n"), .close]),
            End(
                testDescription: "close in refused content",
                steps: [send("HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nno"), .close],
                code: .unacceptableStatus,
                status: .serviceUnavailable
            ),
            End(
                testDescription: "a refusal",
                steps: [send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"), .close],
                code: .unacceptableStatus,
                status: .forbidden
            ),
            End(
                testDescription: "garbage, and a close",
                steps: [send("\u{15}\u{3}\u{1}\u{0}\u{2}"), .close],
                code: .badResponse
            ),
        ]

        @Test(arguments: handshakes)
        func handshakeWithClosedPeerFailsImmediately(_ end: End) async throws {
            let server = try MockServer { _ in .script(end.steps, keepsAlive: false) }
            let client = HTTPClient(baseURL: server.url) { $0.timeout = Self.timeout }

            let error = await #expect(throws: RequestError.self) { try await client.webSocket("feed") }

            #expect(error?.code == end.code, "\(String(describing: error))")
            #expect(error?.response?.status == end.status)
            #expect(error?.request?.url.path == "/feed" && error?.transfers.count == 1)
            try await server.awaitConnections(open: 0)
        }

        /// The kept connection may have ended when the handshake is sent on it.
        @Test func handshakeOnDeadConnectionIsResent() async throws {
            for _ in 0..<Scale.pick(20, whole: 500) {
                let server = try MockServer { request in
                    request.path == "/feed"
                        ? .webSocket { try $0.send("hello") }
                        : .script([Self.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .close])
                }
                let client = HTTPClient(baseURL: server.url) { $0.timeout = Self.timeout }
                _ = try await client.fetch(Get<Data>("text"))

                let socket = try await client.webSocket("feed")

                #expect(try await socket.messages.first { _ in true }?.text == "hello")
                await socket.close()
            }
        }

        /// Some servers end their side of the connection right after their close frame.
        @Test func closeFrameBeforeHalfCloseIsAcknowledged() async throws {
            for _ in 0..<Scale.races {
                let answers = Recorder<[UInt8]?>()
                let server = try RawListener { connection in
                    guard let head = connection.readHead() else { return }
                    let fields = HTTPHeaders(
                        head.split(separator: "\r\n").dropFirst().compactMap { line in
                            line.firstIndex(of: ":").map { colon in
                                let value = line[line.index(colon, offsetBy: 2)...]
                                return HTTPField(HTTPField.Name(String(line[..<colon])), String(value))
                            }
                        }
                    )
                    let accept = WebSocketHandshake.accept(for: fields[WebSocketHandshake.keyName] ?? "")
                    connection.write(
                        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            + "\(WebSocketHandshake.acceptName): \(accept)\r\n\r\n"
                    )
                    connection.write([0x88, 0x02, 0x03, 0xE8])
                    connection.endSending()
                    answers.record(connection.read(8))
                }
                let client = HTTPClient(baseURL: URL(string: "http://127.0.0.1:\(server.port)")) {
                    $0.timeout = Self.timeout
                }

                let socket = try await client.webSocket("")
                for try await _ in socket.messages {}

                #expect(socket.closeCode == .normalClosure)
                let answer = await answers.first(1)[0]
                #expect(answer?.prefix(2) == [0x88, 0x82], "a masked close frame with a code")
                await socket.close()
            }
        }

        /// Refused, closed early, reset, and left half open: one outcome each, and nothing is left of any.
        @Test(.tags(.alone)) func failedSocketsLeakNothing() async throws {
            let rounds = Scale.pick(200, whole: 5_000)
            let server = try MockServer { request in
                let number = Int(request.path.drop { !$0.isNumber }) ?? 0
                let end = Self.handshakes[number % Self.handshakes.count]
                return .script(end.steps, keepsAlive: false)
            }
            let client = HTTPClient(baseURL: server.url) { $0.timeout = Self.timeout }
            func open(_ number: Int) async -> RequestError? {
                do throws(RequestError) {
                    _ = try await client.webSocket("\(raw: "feed\(number)")")
                    return nil
                } catch {
                    return error
                }
            }
            for number in 0..<16 { _ = await open(number) }
            try await server.awaitConnections(open: 0)
            let (descriptors, memory) = (Descriptors.open.count, Usage.allocatedMemory)

            for first in stride(from: 0, to: rounds, by: 50) {
                let codes = await withTaskGroup(of: (Int, RequestError?).self) { group in
                    for number in first..<first + 50 { group.addTask { (number, await open(number)) } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                for (number, error) in codes {
                    #expect(error?.code == Self.handshakes[number % Self.handshakes.count].code)
                }
            }

            try await server.awaitConnections(open: 0)
            try await eventually { Descriptors.open.count <= descriptors + 2 }
            // The server remembers each request, which takes most of it.
            let growth = Usage.allocatedMemory - memory
            if Usage.isMemoryExact { #expect(growth < 2 << 20 + rounds * 5_000) }
        }

        // MARK: Uploads

        static let uploads: [(End, Int64?)] = [
            End(testDescription: "close without a response", steps: [.close]),
            End(testDescription: "reset without a response", steps: [.reset]),
            End(testDescription: "close in the head", steps: [send("HTTP/1.1 200 OK\r\nCon"), .close]),
            End(testDescription: "close after 100", steps: [send("HTTP/1.1 100 Continue\r\n\r\n"), .close]),
            End(
                testDescription: "close in the content",
                steps: [send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nno"), .close],
                status: .ok
            ),
            End(
                testDescription: "close in a chunk",
                steps: [send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nno"), .close],
                status: .ok
            ),
        ].flatMap { end in [nil, 100].map { (end, $0) } }

        @Test(arguments: uploads)
        func uploadToClosedPeerFailsImmediately(_ end: End, length: Int64?) async throws {
            let server = try MockServer { _ in .status(.ok) }
            server.route(.post, "/upload", .script(end.steps, keepsAlive: false).early)
            let client = HTTPClient(baseURL: server.url) { $0.timeout = Self.timeout }
            let pipe = try StalledPipe(of: 10)
            let request = Post<Data>("upload").body(.stream(pipe.body(length: length)))

            let error = await #expect(throws: RequestError.self) { try await client.fetch(request) }

            #expect(error?.code == end.code, "\(String(describing: error))")
            #expect(error?.response?.status == end.status)
            try await server.awaitConnections(open: 0)
        }

        static let wholeResponses = [
            "Content-Length: 2\r\n\r\nok", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "Connection: close\r\n\r\nok",
        ]

        /// A response that doesn't wait for the upload is the result, once the peer is gone.
        @Test(arguments: wholeResponses, [nil, 100] as [Int64?])
        func stalledUploadReturnsResponseOfClosedPeer(content: String, length: Int64?) async throws {
            let server = try MockServer { _ in .status(.ok) }
            let steps = [Self.send("HTTP/1.1 200 OK\r\n" + content), .pause(.milliseconds(50)), .close]
            server.route(.post, "/upload", .script(steps, keepsAlive: false).early)
            let client = HTTPClient(baseURL: server.url) { $0.timeout = Self.timeout }
            let pipe = try StalledPipe(of: 10)

            let text = try await client.fetch(Post<String>("upload").body(.stream(pipe.body(length: length))))

            #expect(text == "ok")
        }

        /// A peer that ends its side may still read, and store what it takes for the whole.
        @Test(arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
        ])
        func truncatedUploadNeverLooksComplete(_ response: String) async throws {
            let received = Recorder<String>()
            let server = try RawListener { connection in
                guard connection.readHead() != nil, let first = connection.read(15) else { return }
                if !response.isEmpty { connection.write(response) }
                connection.endSending()
                var bytes = first
                while let byte = connection.read(1) { bytes += byte }
                received.record(String(decoding: bytes, as: UTF8.self))
            }
            let client = HTTPClient(baseURL: URL(string: "http://127.0.0.1:\(server.port)")) {
                $0.timeout = Self.timeout
            }
            let pipe = try StalledPipe(of: 10)

            var code: RequestError.Code?
            do throws(RequestError) {
                _ = try await client.fetch(Post<String>("upload").body(.stream(pipe.body)))
            } catch {
                code = error.code
            }

            #expect(code == (response.hasSuffix("2\r\n\r\nok") ? nil : .connectionLost))
            #expect(await received.first(1) == ["a\r\nxxxxxxxxxx\r\n"])
        }

        @Test func handshakeWithHalfClosedPeerFailsImmediately() async throws {
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                connection.endSending()
                _ = connection.skip(.max)
            }
            let client = HTTPClient(baseURL: URL(string: "http://127.0.0.1:\(server.port)")) {
                $0.timeout = Self.timeout
            }

            let error = await #expect(throws: RequestError.self) { try await client.webSocket("") }

            #expect(error?.code == .connectionLost)
        }
    }
}
#endif
