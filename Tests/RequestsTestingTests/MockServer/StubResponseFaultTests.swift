// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct StubResponseFaultTests {
    static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\n"
    static let plain = head + "hello"

    /// Returns a client that has sent a request, and the server, which lives as long as the caller holds it.
    private func ask(_ response: StubResponse) throws -> (client: RawClient, server: MockServer) {
        let server = try MockServer { _ in response }
        let client = try RawClient(port: server.port)
        client.get("/")
        return (client, server)
    }

    @Test(arguments: [0, 1, 4, 5, 10_000])
    func truncatedClosesAfterByteCount(count: Int) throws {
        let (client, server) = try ask(.text("hello").truncated(after: count))
        defer { server.stop() }

        #expect(client.readToEnd() == Self.head + "hello".prefix(count))
        #expect(!client.wasReset)
    }

    @Test(arguments: [0, 1, 5])
    func resetOccursAfterByteCount(count: Int) throws {
        let (client, server) = try ask(.text("hello").reset(after: count))
        defer { server.stop() }

        #expect(client.readToEnd() == Self.head + "hello".prefix(count))
        #expect(client.wasReset)
    }

    @Test func resetSendsMoreThanSocketBuffers() throws {
        let size = Scale.pick(12, whole: 24) << 20
        let (client, server) = try ask(.data(Data(count: size + (4 << 20))).reset(after: size))
        defer { server.stop() }

        let content = client.readToEnd().components(separatedBy: "\r\n\r\n").last
        #expect(content?.utf8.count == size)
        #expect(client.wasReset)
    }

    @Test func earlyResponseSkipsBodyAnd100Continue() throws {
        let server = try MockServer { _ in .text("late") }
        server.route(.post, "/", .status(.contentTooLarge).early)
        let client = try RawClient(port: server.port)

        client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9999999\r\n\r\nsome")

        #expect(
            client.readToEnd() == """
                HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n
                """
        )
        #expect(!client.wasReset)
        #expect(server.requests.map(\.body) == [Data()])
        #expect(server.requests.map(\.target) == ["/"])
    }

    @Test func uploadIsResetMidway() throws {
        let server = try MockServer()
        server.enqueue(.reset.early)
        let client = try RawClient(port: server.port)

        client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9999999\r\n\r\nsome")

        #expect(client.readToEnd() == "" && client.wasReset)
        #expect(server.requests.count == 1)
    }

    @Test func connectionCloseHeaderClosesConnection() throws {
        let (client, server) = try ask(.status(.ok, headers: [.connection: "x, Close"]))
        defer { server.stop() }

        #expect(client.readToEnd() == "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func resetAndClosedSendNothing() throws {
        let (reset, first) = try ask(.reset)
        defer { first.stop() }
        let (closed, second) = try ask(.closed)
        defer { second.stop() }

        #expect(reset.readToEnd() == "" && reset.wasReset)
        #expect(closed.readToEnd() == "" && !closed.wasReset)
    }

    @Test func stalledStopsAfterByteCount() async throws {
        let (client, server) = try ask(.text("hello").stalled(after: 2))
        defer { server.stop() }

        #expect(client.read(Self.head.utf8.count + 2) == Self.head + "he")
        #expect(server.openConnections == 1)
        server.stop()
        #expect(client.readToEnd() == "")
    }

    @Test(arguments: [nil, 0, 2])
    func heldSendsRestWhenGateOpens(count: Int?) async throws {
        let gate = Gate()
        let (client, server) = try ask(.text("hello").held(by: gate, after: count))
        defer { server.stop() }
        try await server.awaitRequest()

        let first = count.map { Self.head.utf8.count + $0 } ?? 0
        #expect(client.read(first) == Self.plain.prefix(bytes: first))
        gate.open()

        #expect(client.read(Self.plain.utf8.count - first) == String(Self.plain.utf8.dropFirst(first)))
    }

    @Test func chunkedResponseIsTruncatedMidChunk() throws {
        let (client, server) = try ask(.chunked([Data("one".utf8), Data("two".utf8)]).truncated(after: 4))
        defer { server.stop() }

        #expect(client.readToEnd().hasSuffix("\r\n\r\n3\r\none\r\n3\r\nt"))
    }

    @Test func resetOmitsFinalChunk() throws {
        let (client, server) = try ask(.chunked([Data("one".utf8)]).reset(after: 3))
        defer { server.stop() }

        #expect(client.readToEnd().hasSuffix("\r\n\r\n3\r\none\r\n") && client.wasReset)
    }

    @Test func delayedWaitsBeforeSending() throws {
        let start = ContinuousClock.now
        let (client, server) = try ask(.text("hello").delayed(by: .milliseconds(30)))
        defer { server.stop() }

        #expect(client.read(Self.plain.utf8.count) == Self.plain)
        #expect(ContinuousClock.now - start >= .milliseconds(30))
    }

    @Test func drippingSendsAllBytesWithPauses() throws {
        let response = StubResponse.text("hello").dripping(by: 10, every: .milliseconds(1))
        let start = ContinuousClock.now
        let (client, server) = try ask(response)
        defer { server.stop() }

        #expect(client.read(Self.plain.utf8.count) == Self.plain)
        #expect(ContinuousClock.now - start >= .milliseconds(Self.plain.utf8.count / 10))
    }

    @Test func throttledNeverExceedsSpeed() throws {
        let size = Self.plain.utf8.count
        let start = ContinuousClock.now
        let (client, server) = try ask(.text("hello").throttled(to: StubResponse.Speed(bytesPerSecond: size * 10)))
        defer { server.stop() }

        #expect(client.read(size) == Self.plain)
        // A tenth of a second, except for the pause after the last piece.
        #expect(ContinuousClock.now - start >= .milliseconds(45))
    }

    @Test(arguments: [1, 5, 20, 4000])
    func throttledSendsTwentyChunksPerSecond(bytesPerSecond: Int) {
        let request = ReceivedRequest.sample()
        let steps = StubResponse.raw("0123456789").throttled(to: StubResponse.Speed(bytesPerSecond: bytesPerSecond))
            .steps(for: request)

        var (sent, time) = ("", Duration.zero)
        for step in steps {
            guard case .content(let pieces) = step else { continue }
            for (pause, data) in pieces {
                #expect(data.count <= max(1, bytesPerSecond / 20))
                sent += String(decoding: data, as: UTF8.self)
                time += pause
            }
        }
        #expect(sent == "0123456789")
        let expected = StubResponse.Speed(bytesPerSecond: bytesPerSecond).duration(of: 10)
        #expect(abs(time / .seconds(1) - expected / .seconds(1)) < 1e-9)
    }

    @Test func faultsCanBeCombined() throws {
        let response = StubResponse.chunked([Data("one".utf8), Data("two".utf8)])
            .dripping(by: 7, every: .milliseconds(1)).truncated(after: 4).delayed(by: .milliseconds(1))
        let (client, server) = try ask(response)
        defer { server.stop() }

        let sent = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\nt"
        #expect(client.readToEnd() == sent)
    }

    @Test func pipelinedRequestWaitsForHeldResponse() throws {
        let gate = Gate()
        let server = try MockServer { .text($0.path).held(by: gate) }
        let client = try RawClient(port: server.port)

        client.get("/1")
        client.get("/2", fields: "Connection: close\r\n")
        gate.open()

        let text = client.readToEnd()
        #expect(text.contains("\r\n\r\n/1HTTP/1.1"))
        #expect(text.hasSuffix("\r\n\r\n/2"))
    }
}

extension String {
    fileprivate func prefix(bytes count: Int) -> String { String(decoding: utf8.prefix(count), as: UTF8.self) }
}
