// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The connections to one host are limited by default, unless the caller limits its requests itself.
    @Suite(.bounded) struct CurlHostLimitTests {
        /// The limit that the documentation promises.
        private static let limit = 16

        @Test func concurrentFetchesOpenFewConnections() async throws {
            let server = try MockServer { .text($0.path) }
            let client = HTTPClient(baseURL: server.url, transport: CurlTransport())

            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<200 { group.addTask { try await client.fetch(Get<String>("\(number)")) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }

            #expect(texts == Set((0..<200).map { "/\($0)" }))
            #expect(server.connectionCount <= Self.limit)
        }

        @Test func connectionsAreAssignedInRequestOrder() async throws {
            let count = 48
            let gates = (0..<count).map { _ in Gate() }
            let server = try MockServer { request in
                .text("hi").held(by: gates[Int(request.path.dropFirst()) ?? 0])
            }
            let transport = CurlTransport()
            let transcripts = (0..<count).map { _ in Transcript() }

            for (number, transcript) in transcripts.enumerated() {
                transport.send(server.url("/\(number)"), to: transcript)
            }
            try await server.awaitRequests(Self.limit)
            #expect(Set(server.requests.map(\.path)) == Set((0..<Self.limit).map { "/\($0)" }))
            for next in Self.limit..<count {
                gates[next - Self.limit].open()
                try await server.awaitRequests(next + 1)
                #expect(server.requests.last?.path == "/\(next)")
            }
            for gate in gates { gate.open() }
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(transcripts.allSatisfy { $0.text == "hi" })
        }

        @Test func waitingForConnectionIsNotIdleTime() async throws {
            let gate = Gate()
            let server = try MockServer { $0.path == "/last" ? .text("hi") : .text("hi").held(by: gate) }
            let transport = CurlTransport.configured { $0.connectTimeout = .milliseconds(50) }
            let (others, last) = ((0..<Self.limit).map { _ in Transcript() }, Transcript())

            for transcript in others { transport.send(server.url, to: transcript) }
            try await server.awaitRequests(Self.limit)
            transport.send(server.url("/last"), timeout: .milliseconds(100), to: last)
            let silent = try MockServer { _ in .never }
            #expect(await transport.run(silent.url, timeout: .milliseconds(300)).result == "timedOut")
            #expect(!last.ended.isOpen)
            gate.open()
            try await last.ended.wait()

            #expect(last.text == "hi")
            for transcript in others { try await transcript.ended.wait() }
        }

        @Test func openStreamsDoNotDelayOtherRequests() async throws {
            let server = try MockServer { request in
                request.path == "/feed"
                    ? .script([.send(Data("HTTP/1.1 200 OK\r\n\r\none".utf8)), .stall])
                    : .text("hi")
            }
            let client = HTTPClient(baseURL: server.url, transport: CurlTransport())

            var streams: [ResponseStream] = []
            for _ in 0..<2 * Self.limit { streams.append(try await client.stream(Get<Data>("feed"))) }
            let text = try await client.fetch(Get<String>("other"))

            #expect(text == "hi")
            #expect(server.connectionCount == 2 * Self.limit + 1)
            withExtendedLifetime(streams) {}
        }

        enum Caller: String, CaseIterable, CustomTestStringConvertible {
            case client = "a client with a width"
            case changedClient = "a client whose width was set later"
            case derivedClient = "a client that inherits a width"
            case clientOfQueue = "a client of a queue whose width was set later"
            case queue = "a queue with a width"
            case hostLimiter = "a client with a limiter for hosts"
            case unlimited = "a transport without a limit"

            var testDescription: String { rawValue }

            func queue(_ width: Int) -> any RequestQueue {
                switch self {
                case .client: return HTTPClient(maxConcurrentRequests: width, transport: CurlTransport())
                case .changedClient:
                    let client = HTTPClient(transport: CurlTransport())
                    client.maxConcurrentRequests = width
                    return client
                case .derivedClient:
                    return HTTPClient(maxConcurrentRequests: width, transport: CurlTransport()).inheriting { _ in }
                case .clientOfQueue:
                    let queue = OperationQueue()
                    let client = HTTPClient(queue: queue, transport: CurlTransport())
                    queue.maxConcurrentOperationCount = width
                    return client
                case .queue:
                    let queue = OperationQueue()
                    queue.maxConcurrentOperationCount = width
                    return queue
                case .hostLimiter:
                    return HTTPClient(transport: CurlTransport()) { $0.hostLimiter = HostLimiter(limit: width) }
                case .unlimited:
                    return HTTPClient(transport: CurlTransport.configured { $0.maximumConnectionsPerHost = nil })
                }
            }
        }

        @Test(arguments: Caller.allCases)
        func callersConcurrencyLimitIsReached(_ caller: Caller) async throws {
            let width = 40
            let gate = Gate()
            let server = try MockServer { _ in .text("hi").held(by: gate) }
            let queue = caller.queue(width)

            let operations = (0..<width).map { _ in queue.addRequest(HTTPRequest(url: server.url)) }
            try await server.awaitRequests(width)
            gate.open()

            for operation in operations { #expect(try await operation.value().isEmpty == false) }
            #expect(server.connectionCount == width)
        }

        @Test func transportLimitAppliesToWiderClient() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = Self.limit }
            let client = HTTPClient(maxConcurrentRequests: 64, transport: transport)

            let operations = (0..<200).map { _ in client.addRequest(HTTPRequest(url: server.url)) }
            for operation in operations { #expect(try await operation.value().isEmpty == false) }

            #expect(server.connectionCount <= Self.limit)
        }

        @Test func busyHostDoesNotDelayOtherHosts() async throws {
            let gate = Gate()
            let busy = try MockServer { _ in .text("hi").held(by: gate) }
            let idle = try MockServer { _ in .text("hi") }
            let transport = CurlTransport()
            let transcripts = (0..<100).map { _ in Transcript() }
            for transcript in transcripts { transport.send(busy.url, to: transcript) }
            try await busy.awaitRequests(Self.limit)

            #expect(await transport.run(idle.url).text == "hi")
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(transcripts.allSatisfy { $0.text == "hi" })
            #expect(busy.connectionCount == Self.limit)
        }
    }
}
#endif
