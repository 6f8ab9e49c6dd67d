// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Faults and limits of servers on HTTP/2 connections, and the outcomes of requests.
    @Suite(
        .bounded,
        .enabled(if: InteropServers.current != nil, "Scripts/interop starts the servers")
    )
    struct InteropHTTP2Tests {
        let servers: InteropServers
        let transport = CurlTransport()

        init() throws {
            servers = try #require(InteropServers.current)
        }

        /// Sends a request, and returns its result: the status and the byte count of the content, or the code of the
        /// error.
        ///
        /// The reason of the error is added on request.
        private func result(
            _ server: InteropServers.Server,
            _ method: HTTPMethod,
            _ path: String,
            head: Int = 0,
            body: Int = 0,
            timeout: Duration = .seconds(10),
            withReason: Bool = false
        ) async throws -> String {
            let trust = try servers.authority
            var call = Call(try servers.url(server).appending(path: path), method: method) {
                $0.trust = trust
                $0.timeout = timeout
            }
            if body > 0 { call.http.body = .data(Data(count: body), type: nil) }
            for number in 0..<(head + 7_999) / 8_000 {
                let value = String(repeating: "h", count: min(8_000, head - 8_000 * number))
                call.http.headers[HTTPField.Name("X-\(number)")] = value
            }
            do {
                let response = try await OperationQueue().send(call, session: transport)
                return "\(response.status.code) \(response.body.count)"
            } catch {
                guard withReason else { return "\(error.code)" }
                return "\(error.code) \(error.phase): \(error.reason ?? "")"
            }
        }

        // MARK: Connections that end

        static let briefServers: [InteropServers.Server] = [.brief1, .brief2, .brief5, .brief20, .brief100, .brief1000]

        /// By the log of the server, which closes each connection after a few requests.
        @Test(arguments: briefServers, [1, 8, 64])
        func requestsAreProcessedOnceAcrossGoAway(
            _ server: InteropServers.Server,
            _ width: Int
        ) async throws {
            let count = Scale.pick(320, whole: 6_400)
            let path = "once-\(width)-\(UUID())"

            let results = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<width {
                    group.addTask {
                        var results: [String] = []
                        for _ in 0..<count / width {
                            results.append(try await result(server, .post, path, body: 10, withReason: true))
                        }
                        return results
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }

            #expect(results.allSatisfy { $0.hasPrefix("200 ") }, "\(results.filter { !$0.hasPrefix("200 ") })")
            // nginx writes the line of a request when it has answered that.
            func processed() -> Int {
                let log = (try? servers.text("\(server.rawValue).log")) ?? ""
                return log.components(separatedBy: "POST /\(path) ").count - 1
            }
            try await eventually { processed() >= results.count }
            #expect(processed() == results.count)
        }

        // MARK: Faults

        struct Fault: Sendable, CustomTestStringConvertible {
            let path: String
            var method = HTTPMethod.get
            var head = 0
            var body = 0
            let result: String

            var testDescription: String { "\(method.rawValue) \(path)" }
        }

        static let faults: [Fault] = [
            // Heads of any size, both ways.
            Fault(path: "head/17000", result: "200 5"),
            Fault(path: "head/100000", result: "200 5"),
            Fault(path: "head/240000", result: "headTooLarge"),
            Fault(path: "large", head: 47_000, result: "200 1"),
            Fault(path: "large", head: 100_000, result: "200 8"),
            Fault(path: "large", head: 200_000, result: "invalidRequest"),
            // Content that is compressed.
            Fault(path: "gzip/50000000", result: "200 50000000"),
            Fault(path: "gzip/70000000", result: "bodyTooLarge"),
            Fault(path: "gzip-cut/1000000", result: "badResponse"),
            // Responses that are complete before the request is.
            Fault(path: "early/10", method: .post, body: 1_000_000, result: "200 10"),
            Fault(path: "early/300000", method: .post, body: 300_000, result: "200 300000"),
            // Requests that the server reports as unprocessed.
            Fault(path: "refused/1", method: .post, body: 10, result: "200 2"),
            Fault(path: "goaway/1", method: .post, body: 10, result: "200 2"),
            Fault(path: "refused/2", result: "200 1"),
            // The ends of streams and connections, in every phase.
            Fault(path: "reset-at-head", result: "connectionLost"),
            Fault(path: "reset-behind-head", result: "connectionLost"),
            Fault(path: "reset-in-content", result: "connectionLost"),
            Fault(path: "close-at-head", result: "connectionLost"),
            Fault(path: "close-in-content", result: "connectionLost"),
            Fault(path: "goaway-in-content", result: "200 10"),
            Fault(path: "short", result: "connectionLost"),
            // Too much of everything.
            Fault(path: "trailers", result: "200 5"),
            Fault(path: "early-hints", result: "200 5"),
            Fault(path: "pings", result: "200 5"),
            Fault(path: "settings", result: "connectionLost"),
            Fault(path: "bomb/3000", result: "headTooLarge"),
            Fault(path: "continuation", result: "connectionLost"),
            Fault(path: "push", result: "connectionLost"),
            Fault(path: "garbage", result: "connectionLost"),
            // Nothing.
            Fault(path: "silence", result: "timedOut"),
            Fault(path: "window", method: .post, body: 100_000, result: "timedOut"),
        ]

        @Test(.enabled(if: InteropServers.current?.has(.peer) == true), arguments: faults)
        func faultProducesSingleTypedResult(_ fault: Fault) async throws {
            let result = try await result(
                .peer,
                fault.method,
                fault.path,
                head: fault.head,
                body: fault.body,
                timeout: .seconds(2)
            )

            #expect(result == fault.result)
        }

        /// The number of times that the peer has received a request, and those that it has processed.
        private func counts() async throws -> [String: Int] {
            let trust = try servers.authority
            let call = Call(try servers.url(.peer).appending(path: "log")) { $0.trust = trust }
            let content = try await OperationQueue().send(call, session: CurlTransport()).body
            return try JSONDecoder().decode([String: Int].self, from: content)
        }

        /// libcurl says less about a request on a connection that has already served others.
        @Test(.enabled(if: InteropServers.current?.has(.peer) == true), arguments: ["refused", "goaway"])
        func unprocessedRequestIsResent(_ fault: String) async throws {
            let run = "\(UUID())"

            for number in 0..<20 {
                #expect(try await result(.peer, .get, "small") == "200 1")
                let result = try await result(.peer, .post, "\(fault)/\(run)-\(number)", body: 10, withReason: true)
                #expect(result == "200 2")
            }

            let counts = try await counts()
            for number in 0..<20 { #expect(counts["+/\(fault)/\(run)-\(number)"] == 2) }
        }

        @Test(
            .enabled(if: InteropServers.current?.has(.peer) == true),
            arguments: ["reset-at-head", "close-at-head"],
            [false, true]
        )
        func possiblyProcessedRequestIsNotResent(_ fault: String, _ isKept: Bool) async throws {
            let path = "\(fault)/\(UUID())"
            if isKept { #expect(try await result(.peer, .get, "small") == "200 1") }

            #expect(try await result(.peer, .post, path, body: 10) == "connectionLost")

            #expect(try await counts()["+/\(path)"] == 1)
        }

        @Test(
            .enabled(if: InteropServers.current?.has(.peer) == true),
            arguments: ["refused-always", "goaway-always"],
            [HTTPMethod.get, .post]
        )
        func resendsOfUnprocessedRequestAreLimited(_ fault: String, _ method: HTTPMethod) async throws {
            let path = "\(fault)/\(UUID())"

            let result = try await result(.peer, method, path)

            let count = try await counts()["+/\(path)"] ?? 0
            #expect(result == "connectionLost")
            // libcurl itself sends an idempotent request six times.
            let isBrief = method == .post || fault == "goaway-always"
            #expect(count >= 2 && count <= (isBrief ? 3 : 6), "\(count)")
        }

        /// The connection is made, so that it's the time without data that ends the requests.
        @Test(.enabled(if: InteropServers.current?.has(.peer) == true), arguments: [true, false], [8, 32])
        func silenceAfterHandshakeTimesOut(_ usesHTTP2: Bool, _ count: Int) async throws {
            let url = try servers.url(.peer).appending(path: "silence")
            let trust = try servers.authority
            let transport = CurlTransport.configured {
                $0.usesHTTP2 = usesHTTP2
                $0.maximumConnectionsPerHost = nil
                $0.connectTimeout = .seconds(2)
            }
            let transcripts = (0..<count).map { _ in Transcript() }

            for transcript in transcripts {
                _ = transport.send(
                    TransportRequest(HTTPRequest(url: url), timeout: .seconds(3), trust: trust),
                    receive: transcript.receive
                )
            }
            for transcript in transcripts { try await transcript.ended.wait() }
            transport.close()

            #expect(transcripts.allSatisfy { $0.result == "timedOut" && $0.error?.reason == nil })
            #expect(transcripts.allSatisfy { $0.duration >= .seconds(3) && $0.duration < .seconds(5) })
        }

        @Test(.enabled(if: InteropServers.current?.has(.peer) == true))
        func informationalResponsesAndTrailersAreReported() async throws {
            let trust = try servers.authority
            let told = Locked<[String]>([])
            let client = HTTPClient(transport: transport) {
                $0.trust = trust
                $0.monitors = [
                    .events { event, _ in
                        switch event {
                        case .informationalResponseReceived(let head, _):
                            told.withLock { $0.append("\(head.status.code) \(head["link"] ?? "")") }
                        case .trailersReceived(let fields, _):
                            told.withLock { $0.append("trailer \(fields["x-trailer"] ?? "")") }
                        default: break
                        }
                    }
                ]
            }

            for path in ["early-hints", "trailers"] {
                _ = try await client.send(Call(servers.url(.peer).appending(path: path)))
            }

            #expect(told.withLock { $0 } == ["103 </a>", "103 </a>", "103 </a>", "trailer t"])
        }

        @Test(.enabled(if: InteropServers.current?.has(.peer) == true), arguments: ["head/100000", "large"])
        func largeHeadDoesNotAffectOtherRequests(_ path: String) async throws {
            let results = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<20 {
                    let isLarge = number % 2 == 0
                    group.addTask {
                        let head = isLarge && path == "large" ? 120_000 : 0
                        return try await result(.peer, .get, isLarge ? path : "small", head: head)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }

            #expect(results.allSatisfy { $0.hasPrefix("200 ") }, "\(results)")
        }
    }
}
#endif
