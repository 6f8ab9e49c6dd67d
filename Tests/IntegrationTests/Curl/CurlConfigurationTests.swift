// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The configuration of a transport, as the server and the log see it.
    @Suite(.bounded) struct CurlConfigurationTests {
        @Test(arguments: [nil, "127.0.0.7"])
        func connectionUsesConfiguredLocalAddress(_ address: String?) async throws {
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                let peer = connection.peer
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(peer.utf8.count)\r\n\r\n\(peer)")
            }
            let transport = CurlTransport.configured { $0.localAddress = address }

            let transcript = await transport.run(URL(string: "http://127.0.0.1:\(server.port)/")!)
            transport.close()

            #expect(transcript.text == address ?? "127.0.0.1")
        }

        @Test func foreignLocalAddressCannotConnect() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured { $0.localAddress = "192.0.2.1" }

            #expect(await transport.run(server.url).result == "cannotConnect")
        }

        /// A look-up would block all transfers.
        @Test(arguments: ["localhost", "", "lo"])
        func hostNameAsLocalAddressIsUnsupported(_ name: String) async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured { $0.localAddress = name }

            #expect(await transport.run(server.url).result == "unsupported")
            #expect(server.requests.isEmpty)
        }

        /// The client's first message lists its protocols (RFC 7301, 3.1).
        @Test(arguments: [true, false])
        func http2IsNegotiatedOnlyIfEnabled(_ usesHTTP2: Bool) async throws {
            let hello = Locked<[UInt8]>([])
            let server = try RawListener { connection in
                guard let head = connection.read(5) else { return }
                let rest = connection.read(Int(head[3]) << 8 | Int(head[4])) ?? []
                hello.withLock { $0 = rest }
            }
            let transport = CurlTransport.configured { $0.usesHTTP2 = usesHTTP2 }

            _ = await transport.run(URL(string: "https://127.0.0.1:\(server.port)/")!)
            transport.close()

            let message = String(decoding: hello.withLock { $0 }, as: Unicode.ASCII.self)
            #expect(message.contains("\u{8}http/1.1"))
            #expect(message.contains("\u{2}h2") == usesHTTP2)
        }

        @Test func requestSelectsHTTPVersion() async throws {
            let hellos = Locked<[String]>([])
            let server = try RawListener { connection in
                guard let head = connection.read(5) else { return }
                let rest = connection.read(Int(head[3]) << 8 | Int(head[4])) ?? []
                hellos.withLock { $0.append(String(decoding: rest, as: Unicode.ASCII.self)) }
            }
            let transport = CurlTransport()
            let choices = [true, false, true]

            for usesHTTP2 in choices {
                let transcript = Transcript()
                var request = HTTPRequest(url: URL(string: "https://127.0.0.1:\(server.port)/")!)
                request.usesHTTP2 = usesHTTP2
                _ = transport.send(TransportRequest(request)) { transcript.receive($0) }
                try await transcript.ended.wait()
            }
            transport.close()

            #expect(hellos.withLock { $0 }.map { $0.contains("\u{2}h2") } == choices)
        }

        static let keepAlives: [(interval: Duration?, seconds: Int32?)] = [
            (.seconds(60), 60), (.milliseconds(7_900), 7), (.zero, 1), (.seconds(Int64.max), 32_767), (nil, nil),
        ]

        @Test(arguments: keepAlives)
        func keepAliveIntervalSetsSocketOptions(_ interval: Duration?, _ seconds: Int32?) async throws {
            let server = try MockServer { _ in .never }
            let transport = CurlTransport.configured { $0.keepAliveInterval = interval }

            transport.send(server.url, to: Transcript())
            try await server.awaitRequests(1)
            let times = KeepAlive.ofConnections(to: server.port)
            transport.close()

            #expect(times == [KeepAlive(idle: seconds, interval: seconds)])
        }

        @Test func keepAliveIntervalDefaultsToOneMinute() {
            #expect(CurlTransport.Configuration().keepAliveInterval == .seconds(60))
        }

        // MARK: Extremes

        static let durations: [Duration] = [
            .seconds(Int64.min), .nanoseconds(Int64.min), .seconds(-1), .zero,
            Duration(secondsComponent: 0, attosecondsComponent: 1), .nanoseconds(Int64.max), .seconds(Int64.max),
            Duration(secondsComponent: .max, attosecondsComponent: .max),
            Duration(secondsComponent: .min, attosecondsComponent: .min),
        ]

        enum Setting: String, CaseIterable, CustomTestStringConvertible {
            case timeout, connectTimeout, idleConnectionLifetime, maximumConnectionAge

            var testDescription: String { rawValue }
        }

        @Test(arguments: Setting.allCases, durations)
        func extremeDurationIsClamped(_ setting: Setting, _ duration: Duration) async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured {
                switch setting {
                case .timeout: break
                case .connectTimeout: $0.connectTimeout = duration
                case .idleConnectionLifetime: $0.idleConnectionLifetime = duration
                case .maximumConnectionAge: $0.maximumConnectionAge = duration
                }
            }

            for _ in 0..<2 {
                let transcript = await transport.run(
                    server.url,
                    timeout: setting == .timeout ? duration : .seconds(60)
                )
                let isLimit = setting == .timeout || setting == .connectTimeout
                #expect(transcript.result == (isLimit && duration < .seconds(1) ? "timedOut" : "success"))
                #expect(transcript.violations == [])
            }
            transport.close()
        }

        enum Count: String, CaseIterable, CustomTestStringConvertible {
            case maximumConnectionsPerHost, maximumConnections, maximumRequestsPerConnection
            case maximumHeadSize, maximumHeadLines, maximumBodySize

            var testDescription: String { rawValue }
        }

        @Test(arguments: Count.allCases, [Int.min, -1, 0, 1, .max])
        func extremeCountIsClamped(_ name: Count, _ count: Int) async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured {
                switch name {
                case .maximumConnectionsPerHost: $0.maximumConnectionsPerHost = count
                case .maximumConnections: $0.maximumConnections = count
                case .maximumRequestsPerConnection: $0.maximumRequestsPerConnection = count
                case .maximumHeadSize: $0.maximumHeadSize = count
                case .maximumHeadLines: $0.maximumHeadLines = count
                case .maximumBodySize: break
                }
            }

            for _ in 0..<2 {
                let limit = name == .maximumBodySize ? count : .max
                let transcript = await transport.run(server.url, maximumBodySize: limit)
                switch name {
                case .maximumHeadSize, .maximumHeadLines:
                    #expect(transcript.result == (count < 2 ? "headTooLarge" : "success"))
                case .maximumBodySize:
                    #expect(transcript.result == (count < 2 ? "bodyTooLarge" : "success"))
                default:
                    #expect(transcript.result == "success")
                }
            }
            transport.close()
        }

        @Test(arguments: [-Double.infinity, -1, 2, .infinity, .nan])
        func extremePriorityIsClamped(_ priority: Double) async throws {
            let listener = try RawListener { _ = $0.readHead() }
            var request = TransportRequest(HTTPRequest(url: URL(string: "https://127.0.0.1:\(listener.port)/")!))
            (request.priority, request.timeout) = (priority, .milliseconds(50))
            let (transport, transcript) = (CurlTransport(), Transcript())

            _ = transport.send(request, receive: transcript.receive)
            try await transcript.ended.wait()
            transport.close()

            #expect(transcript.result == "timedOut")
        }

        @Test func configurationDescriptionHidesProxyPassword() {
            var configuration = CurlTransport.Configuration()
            configuration.proxy = "http://user:s3cret@proxy.example:3128"
            var dumped = ""
            dump(configuration, to: &dumped)

            for text in ["\(configuration)", String(reflecting: configuration), dumped] {
                #expect(!text.contains("s3cret") && !text.contains("user"))
                #expect(text.contains("@proxy.example:3128"))
            }
        }
    }
}
#endif
