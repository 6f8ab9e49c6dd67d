// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Connections are opened, reused, limited and closed.
    @Suite(.bounded) struct CurlConnectionTests {
        private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

        @Test func connectionIsReused() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport()

            for _ in 0..<20 { #expect(await transport.run(server.url).text == "hi") }

            #expect(server.connectionCount == 1)
        }

        @Test func idleConnectionClosedByTheServerIsReplaced() async throws {
            let server = try MockServer {
                $0.connection == 0 ? .script([.send(Data(Self.answer.utf8)), .close]) : .text("new")
            }
            let transport = CurlTransport()

            #expect(await transport.run(server.url).text == "hi")
            try await server.awaitConnections(open: 0)

            #expect(await transport.run(server.url).text == "new")
        }

        /// A connection that is kept, and closed as soon as the second request has arrived; a third would be a resend.
        private static func lateCloser(_ methods: Locked<[String]>) throws -> RawListener {
            try RawListener { connection in
                while let head = connection.readHead() {
                    let count = methods.withLock { methods in
                        methods.append(String(head.prefix { $0 != " " }))
                        return methods.count
                    }
                    guard count != 2 else { return }
                    connection.write(answer)
                }
            }
        }

        @Test(arguments: ["POST", "PATCH", "LOCK"] as [HTTPMethod])
        func nonIdempotentRequestIsNotResent(_ method: HTTPMethod) async throws {
            let methods = Locked<[String]>([])
            let server = try Self.lateCloser(methods)
            let transport = CurlTransport()
            let url = URL(string: "http://127.0.0.1:\(server.port)/")!
            #expect(await transport.run(url).result == "success")

            let transcript = await transport.run(url, method: method, body: .data(Data("once".utf8)))
            transport.close()

            #expect(transcript.result == "connectionLost")
            #expect(methods.withLock { $0 } == ["GET", method.rawValue])
        }

        @Test(arguments: ["GET", "PUT", "DELETE"] as [HTTPMethod])
        func idempotentRequestSurvivesClosedConnection(_ method: HTTPMethod) async throws {
            let methods = Locked<[String]>([])
            let server = try Self.lateCloser(methods)
            let transport = CurlTransport()
            let url = URL(string: "http://127.0.0.1:\(server.port)/")!
            #expect(await transport.run(url).result == "success")

            let transcript = await transport.run(url, method: method)
            transport.close()

            #expect(transcript.text == "hi")
            #expect(methods.withLock { $0 } == ["GET", method.rawValue, method.rawValue])
        }

        static let junk = [
            "junk", "\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", "HTTP/1.1 408 Timeout\r\n\r\n",
            String(repeating: "x", count: 200_000),
        ]

        /// Extra bytes that come at once, or when the transfer has ended.
        ///
        /// The transport closes their connection, without another request. Only that shows that they have arrived: the
        /// system accepts sent bytes before it delivers them.
        @Test(arguments: junk, [false, true])
        func excessBytesDoNotReachNextResponse(_ junk: String, _ isLate: Bool) async throws {
            let (answered, closed) = (Gate(), Gate())
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                if isLate {
                    connection.write(Self.answer)
                    try? answered.wait()
                    connection.write(junk)
                } else {
                    connection.write(Self.answer + junk)
                }
                let next = connection.readHead()
                closed.open()
                guard next != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
                _ = connection.readHead()
            }
            let url = URL(string: "http://127.0.0.1:\(server.port)/")!
            let transport = CurlTransport()

            let first = await transport.run(url)
            answered.open()
            try await closed.wait()
            let second = await transport.run(url)
            transport.close()

            // On a new connection, where the listener sends the first response again.
            #expect(first.text == "hi")
            #expect(second.text == "hi", "\(second.result): \(String(describing: second.error))")
        }

        @Test(arguments: [HTTPStatus.noContent, .notModified])
        func forbiddenBodyDoesNotReachNextResponse(_ status: HTTPStatus) async throws {
            let wire = "HTTP/1.1 \(status.code) X\r\nContent-Length: 5\r\n\r\nhello"
            let server = try MockServer { $0.path == "/bad" ? .raw(wire, keepsAlive: true) : .text("good") }
            let transport = CurlTransport()

            for _ in 0..<5 {
                #expect(await transport.run(server.url("/bad")).response?.status == status)
                let next = await transport.run(server.url("/good"))
                #expect(next.text == "good", "\(String(describing: next.error))")
            }
        }

        @Test func bodyOfHEADDoesNotReachNextResponse() async throws {
            let wire = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
            let server = try MockServer { $0.method == .head ? .raw(wire, keepsAlive: true) : .text("good") }
            let transport = CurlTransport()

            for _ in 0..<5 {
                #expect(await transport.run(server.url, method: .head).result == "success")
                let next = await transport.run(server.url)
                #expect(next.text == "good", "\(String(describing: next.error))")
            }
        }

        @Test(arguments: [1, 2, 5])
        func connectionsPerHostAreLimited(_ limit: Int) async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("hi").held(by: gate) }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = limit }
            let transcripts = (0..<20).map { _ in Transcript() }

            for transcript in transcripts { transport.send(server.url, to: transcript) }
            try await server.awaitRequests(limit)
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(transcripts.allSatisfy { $0.text == "hi" })
            #expect(server.connectionCount == limit)
        }

        @Test func totalConnectionsAreLimited() async throws {
            let open = Locked((now: 0, most: 0))
            let servers = try (0..<4).map { _ in
                try MockServer { _ in
                    open.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
                    defer { open.withLock { $0.now -= 1 } }
                    return .text("hi").closing
                }
            }
            let transport = CurlTransport.configured { $0.maximumConnections = 2 }
            let transcripts = (0..<40).map { _ in Transcript() }

            for (index, transcript) in transcripts.enumerated() {
                transport.send(servers[index % 4].url, to: transcript)
            }
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(transcripts.allSatisfy { $0.text == "hi" })
            #expect(open.withLock { $0.most } <= 2)
        }

        /// libcurl is told to keep 256. With both ends, these are more descriptors than parallel tests can share.
        @Test(.tags(.alone)) func connectionIsReusedAmongManyOthers() async throws {
            let gate = Gate()
            let slow = try MockServer { _ in .text("late").held(by: gate) }
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = nil }
            let others = (0..<300).map { _ in Transcript() }

            for transcript in others { transport.send(slow.url, to: transcript) }
            try await slow.awaitRequests(300)
            for _ in 0..<20 { #expect(await transport.run(server.url).text == "hi") }
            gate.open()
            for transcript in others { try await transcript.ended.wait() }

            #expect(server.connectionCount == 1)
        }

        /// libcurl leaves a buffer in a handle whose transfer was cancelled, and then accepts no other buffer size for
        /// it.
        @Test func downloadSucceedsAfterCancelledQueuedDownload() async throws {
            let server = try MockServer { $0.path == "/film" ? .text("film") : .never }
            let folder = try DownloadFolder()
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = 1 }
            let (running, waiting) = (Transcript(), Transcript())
            let first = transport.send(server.url, to: running)
            try await server.awaitRequest()
            let second = transport.send(server.url, to: waiting)
            // After a response of another server, the second transfer is known to wait.
            let other = try MockServer { _ in .text("other") }
            #expect(await transport.run(other.url).result == "success")
            second.cancel()
            first.cancel()
            try await waiting.ended.wait()
            try await running.ended.wait()

            let queue = OperationQueue()
            let films = (0..<4).map { number in
                let film = DownloadTests.Fetch(url: server.url("/film"), destination: folder.file("\(number)"))
                return queue.addRequest(film, session: transport)
            }

            for film in films { #expect(try await film.value().length == 4) }
        }

        @Test func queuedTransferCanBeCancelled() async throws {
            let server = try MockServer { _ in .never }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = 1 }
            let (running, waiting) = (Transcript(), Transcript())

            let first = transport.send(server.url, to: running)
            try await server.awaitRequest()
            transport.send(server.url, to: waiting).cancel()
            try await waiting.ended.wait()

            #expect(waiting.result == "cancelled")
            #expect(!running.ended.isOpen)
            first.cancel()
            try await running.ended.wait()
        }

        @Test func connectsToIPv6Address() async throws {
            let server = try RawListener(.ipv6) { connection in
                while let head = connection.readHead() {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(head.utf8.count)\r\n\r\n\(head)")
                }
            }
            let transport = CurlTransport()

            let transcript = await transport.run(URL(string: "http://[::1]:\(server.port)/six?a=b")!)
            transport.close()

            #expect(transcript.text.hasPrefix("GET /six?a=b HTTP/1.1\r\nHost: [::1]:\(server.port)\r\n"))
        }

        /// Returns a path that is short enough for a socket's address.
        private static func socketPath() -> String {
            FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString.prefix(8)).sock"
        }

        @Test func unixSocketAcceptsAnyHost() async throws {
            let path = Self.socketPath()
            defer { unlink(path) }
            let server = try RawListener(.unix(path: path)) { connection in
                while let head = connection.readHead() {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(head.utf8.count)\r\n\r\n\(head)")
                }
            }
            let transport = CurlTransport.configured { $0.unixSocketPath = path }

            let transcript = await transport.run(URL(string: "http://docker.invalid/v1/info")!)
            transport.close()

            #expect(transcript.text.hasPrefix("GET /v1/info HTTP/1.1\r\nHost: docker.invalid\r\n"))
            #expect(server.port == 0)
        }

        @Test func emptyUnixSocketPathIsTreatedAsNil() async throws {
            let server = try MockServer { _ in .text("from the host") }
            let transport = CurlTransport.configured { $0.unixSocketPath = "" }

            #expect(await transport.run(server.url).text == "from the host")
        }

        @Test(arguments: ["foo://127.0.0.1:1", "foo://user:password@127.0.0.1:1", "ftp://127.0.0.1:1"])
        func unknownProxySchemeIsUnsupported(_ proxy: String) async throws {
            let server = try MockServer { _ in .text("from the host") }
            let transport = CurlTransport.configured { $0.proxy = proxy }

            let transcript = await transport.run(server.url)

            #expect(transcript.result == "unsupported", "\(String(describing: transcript.error))")
            #expect(transcript.error?.reason?.contains("password") == false)
            #expect(server.requests.isEmpty)
        }

        @Test func missingUnixSocketCannotConnect() async throws {
            let transport = CurlTransport.configured { $0.unixSocketPath = Self.socketPath() }

            #expect(await transport.run(URL(string: "http://host.invalid/")!).result == "cannotConnect")
        }

        @Test func proxyReceivesAbsoluteURL() async throws {
            let proxy = try MockServer { _ in .text("from the proxy") }
            let transport = CurlTransport.configured { $0.proxy = "http://127.0.0.1:\(proxy.port)" }

            let transcript = await transport.run(URL(string: "http://example.invalid/a?b=c")!)

            #expect(transcript.text == "from the proxy")
            #expect(proxy.requests.first?.target == "http://example.invalid/a?b=c")
            #expect(proxy.requests.first?.headers["Host"] == "example.invalid")
        }

        @Test func rejectedTunnelFailsWithProxyResponse() async throws {
            let proxy = try MockServer { _ in
                .raw("HTTP/1.1 403 Forbidden\r\nX-Reason: not here\r\nContent-Length: 0\r\n\r\n")
            }
            let transport = CurlTransport.configured { $0.proxy = "http://127.0.0.1:\(proxy.port)" }

            let transcript = await transport.run(URL(string: "https://example.invalid/")!)
            transport.close()

            #expect(transcript.result == "proxyRefused", "\(String(describing: transcript.error))")
            #expect(transcript.error?.response?.status == .forbidden)
            #expect(transcript.error?.response?.headers["X-Reason"] == "not here")
            #expect(transcript.response == nil)
            #expect(transcript.violations == [])
            #expect(proxy.requests.first?.target == "example.invalid:443")
        }

        @Test func rejectedProxyPasswordIsSentOnce() async throws {
            let proxy = try MockServer { _ in .status(.proxyAuthenticationRequired) }
            let transport = CurlTransport.configured { $0.proxy = "http://user:wrong@127.0.0.1:\(proxy.port)" }
            let client = HTTPClient(transport: transport) { $0.retry = .default }

            let error = await #expect(throws: RequestError.self) {
                try await client.fetch(HTTPRequest("https://example.invalid/"))
            }

            #expect(error?.code == .proxyRefused)
            #expect(error?.response?.status == .proxyAuthenticationRequired)
            #expect(error?.wasNotSent == true)
            #expect(proxy.requests.count == 1)
        }

        @Test(arguments: ["Basic", "Digest"])
        func tunnelAuthenticatesWithProxy(_ scheme: String) async throws {
            let challenge = scheme == "Basic" ? #"Basic realm="p""# : #"Digest realm="p", nonce="n", qop="auth""#
            let proxy = try MockServer { request in
                request.headers[.proxyAuthorization] == nil
                    ? .status(.proxyAuthenticationRequired, headers: [.proxyAuthenticate: challenge])
                    : .status(.forbidden)
            }
            let transport = CurlTransport.configured { $0.proxy = "http://127.0.0.1:\(proxy.port)" }
            let client = HTTPClient(transport: transport) {
                $0.interceptors = [
                    ChallengeInterceptor(
                        proxy: { _, _ in URLCredential(user: "u", password: "p", persistence: .none) },
                        { _, _ in nil }
                    )
                ]
            }

            let error = await #expect(throws: RequestError.self) {
                try await client.fetch(HTTPRequest("https://example.invalid/a"))
            }
            transport.close()

            #expect(error?.code == .proxyRefused && error?.response?.status == .forbidden)
            #expect(proxy.requests.map(\.target) == ["example.invalid:443", "example.invalid:443"])
            let answer = try #require(proxy.requests.last?.headers[.proxyAuthorization])
            guard scheme == "Digest" else { return #expect(answer == "Basic dTpw") }
            // The method and the target of RFC 7616, 3.4.3, are those of the tunnel.
            let values = Authorization(answer).parameters
            func value(_ name: String) -> String { values.first { $0.name == name }?.value ?? "" }
            #expect(value("uri") == "example.invalid:443" && value("nc") == "00000001" && value("username") == "u")
        }

        @Test func proxyCredentialsAreNotSentToOrigin() async throws {
            let (proxy, origin) = (try MockServer { _ in .text("proxy") }, try MockServer { _ in .text("origin") })
            let fields: HTTPHeaders = [.proxyAuthorization: "Basic dTpw", "X-Own": "1"]
            let direct = CurlTransport.configured { $0.proxy = "" }
            let indirect = CurlTransport.configured { $0.proxy = "http://127.0.0.1:\(proxy.port)" }

            _ = await direct.run(origin.url, headers: fields)
            _ = await indirect.run(URL(string: "http://example.invalid/")!, headers: fields)
            _ = await indirect.run(URL(string: "https://example.invalid/")!, headers: fields)

            #expect(origin.requests.map { $0.headers["Proxy-Authorization"] } == [nil])
            #expect(origin.requests.map { $0.headers["X-Own"] } == ["1"])
            #expect(proxy.requests.map { $0.headers["Proxy-Authorization"] } == ["Basic dTpw", "Basic dTpw"])
            #expect(proxy.requests.map(\.method.rawValue) == ["GET", "CONNECT"])
        }

        @Test func errorsHideProxyPassword() async throws {
            let gone = try ClosedPort()
            for proxy in ["nonsense://user:s3cret@127.0.0.1:1", "http://user:s3cret@127.0.0.1:\(gone.number)"] {
                let transport = CurlTransport.configured { $0.proxy = proxy }
                let transcript = await transport.run(URL(string: "http://example.invalid/")!)
                transport.close()

                let error = try #require(transcript.error)
                #expect(
                    !"\(error) \(String(reflecting: error)) \(String(describing: error.underlying))".contains("s3cret")
                )
            }
        }

        @Test func unreachableProxyCannotConnect() async throws {
            let gone = try ClosedPort()
            let transport = CurlTransport.configured { $0.proxy = gone.url.absoluteString }

            #expect(await transport.run(URL(string: "http://example.invalid/")!).result == "cannotConnect")
        }

        @Test func closedPortFails() async throws {
            let gone = try ClosedPort()
            let transport = CurlTransport()

            let transcript = await transport.run(gone.url)
            transport.close()

            #expect(transcript.result == "cannotConnect")
            #expect(transcript.violations == [])
            #expect((transcript.error?.underlying as? URLError)?.code == .cannotConnectToHost)
        }

        /// An address for documentation (RFC 5737), which has no host: refused by the system, or silent until the
        /// timeout.
        @Test func unroutableAddressFailsWithinTimeout() async throws {
            let transport = CurlTransport()

            let transcript = await transport.run(URL(string: "http://192.0.2.1/")!, timeout: .milliseconds(200))
            transport.close()

            #expect(["cannotConnect", "timedOut"].contains(transcript.result))
            #expect(transcript.duration < .seconds(30))
            #expect(transcript.violations == [])
        }

        @Test func unknownHostNameFailsWithinTimeout() async throws {
            let transport = CurlTransport()

            let transcript = await transport.run(
                URL(string: "http://no-such-host.invalid/")!,
                timeout: .milliseconds(500)
            )
            transport.close()

            #expect(["cannotConnect", "timedOut"].contains(transcript.result))
            #expect(transcript.duration < .seconds(30))
            #expect(transcript.violations == [])
        }

        @Test func cancelDuringNameLookupIsImmediate() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport()
            let transcript = Transcript()

            let transfer = transport.send(URL(string: "http://no-such-host-\(UUID()).invalid/")!, to: transcript)
            // When this has ended, the loop has begun the other transfer.
            #expect(await transport.run(server.url).text == "hi")
            transfer.cancel()
            let other = await transport.run(server.url)
            try await transcript.ended.wait()
            transport.close()

            #expect(["cancelled", "cannotConnect"].contains(transcript.result))
            #expect(other.text == "hi")
            #expect(transcript.violations == [])
        }

        @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "nonsense"])
        func otherProtocolsAreRejected(_ address: String) async throws {
            let transport = CurlTransport()

            let transcript = await transport.run(URL(string: address)!)
            transport.close()

            #expect(transcript.error != nil)
            #expect(transcript.response == nil)
            #expect(transcript.violations == [])
        }
    }
}
#endif
