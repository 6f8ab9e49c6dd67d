// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClient
import Foundation
import NIOFoundationCompat
import Requests

// The path of most requests: https by name, to a server whose authority is among the system's.
extension Measurement {
    static let path = pathWarm + pathCold + pathConnections

    /// Over connections that are open.
    private static let pathWarm: [Measurement] = [true, false].flatMap { isMultiplexed in
        [1, 8, 64].flatMap { width in
            let kind = LoopbackServer.Kind.named(isMultiplexed: isMultiplexed)
            let name = "path-\(isMultiplexed ? "http2" : "http1")-\(width)"
            let load = FetchLoad(width: width, count: 20_000)
            return [
                Measurement(name: "\(name)-system") { try load.measure(kind, PathClient(width, .system).fetch) },
                Measurement(name: "\(name)-pins") {
                    try load.measure(kind, PathClient(width, PathCertificate.pinned).fetch)
                },
                Measurement(name: "\(name)-rival") { try PathRival.using { try load.measure(kind, $0.fetch) } },
                Measurement(name: "\(name)-curl") { try curl(kind, width: width, count: 20_000) },
            ]
        }
    }

    /// Connections that are all made at once, for 50 requests each.
    private static let pathCold: [Measurement] = [
        Measurement(name: "path-cold-system") { try cold(PathClient(64, .system, connections: 64).fetch) },
        Measurement(name: "path-cold-pins") {
            try cold(PathClient(64, PathCertificate.pinned, connections: 64).fetch)
        },
        Measurement(name: "path-cold-rival") { try PathRival.using(connections: 64) { try cold($0.fetch) } },
        Measurement(name: "path-cold-default-system") { try cold(PathClient(64, .system).fetch) },
        Measurement(name: "path-cold-default-rival") { try PathRival.using { try cold($0.fetch) } },
        Measurement(name: "path-cold-curl") {
            try curl(.named(isMultiplexed: false), width: 64, count: 3_200)
        },
    ]

    private static func cold(_ fetch: @escaping @Sendable (URL) async throws -> Void) throws -> Usage {
        try FetchLoad(width: 64, count: 3_200).measureCold(.named(isMultiplexed: false), fetch)
    }

    /// New connections: the processor time of one, and how long they keep another transfer waiting.
    private static let pathConnections: [Measurement] = [
        Measurement(name: "path-connection-system") { try connections(PathClient(64, .system, connections: 64).fetch) },
        Measurement(name: "path-connection-adding") {
            try connections(PathClient(64, PathCertificate.adding, connections: 64).fetch)
        },
        Measurement(name: "path-connection-pins") {
            try connections(PathClient(64, PathCertificate.pinned, connections: 64).fetch)
        },
        Measurement(name: "path-connection-rival") {
            try PathRival.using(connections: 64) { try connections($0.fetch) }
        },
        Measurement(name: "path-connection-python") {
            let server = try LoopbackServer(.closing)
            defer { server.stop() }
            return try Usage.measureProgram(
                ["python3", "-c", python, "\(server.url.port ?? 0)", "200"],
                count: 200
            )
        },
    ]

    private static func connections(_ fetch: @escaping @Sendable (URL) async throws -> Void) throws -> Usage {
        let (server, other) = (try LoopbackServer(.closing), try LoopbackServer())
        defer {
            server.stop()
            other.stop()
        }
        // The first connections at all, while another transfer goes on.
        let crowd = FetchLoad(width: 64, count: 64)
        let quiet = Bystander.longestWait(of: fetch, to: other.url) { usleep(300_000) }
        let wait = Bystander.longestWait(of: fetch, to: other.url) {
            for _ in 0..<5 { crowd.wait(64, server.url, fetch) }
        }
        let one = FetchLoad(width: 1, count: 200)
        var usage = Usage.measure(count: 200) { one.wait(200, server.url, fetch) }
        (usage.longestWait, usage.longestQuietWait) = (wait, quiet)
        return usage
    }

    private static func curl(_ kind: LoopbackServer.Kind, width: Int, count: Int) throws -> Usage {
        let server = try LoopbackServer(kind)
        defer { server.stop() }
        return try Usage.measureProgram(
            ["curl", "-s", "-f", "--parallel", "--parallel-max", "\(width)", "-o", "/dev/null"]
                + ["\(server.url.absoluteString)?[1-\(count)]"],
            count: count
        )
    }

    /// New connections of one context, one after the other, after the context has been made.
    private static let python = """
        import socket, ssl, sys, resource
        context = ssl.create_default_context()
        def connect():
            with context.wrap_socket(
                socket.create_connection(("localhost", int(sys.argv[1]))), server_hostname="localhost"
            ) as connection:
                connection.sendall(b"GET /todo HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                while connection.recv(65536): pass
        def spent():
            usage = resource.getrusage(resource.RUSAGE_SELF)
            return usage.ru_utime + usage.ru_stime
        for _ in range(5): connect()
        before = spent()
        for _ in range(int(sys.argv[2])): connect()
        print(spent() - before)
        """
}

/// Another transfer of a client, beside its load: one small response after the other, from another server.
private enum Bystander {
    /// Returns the longest time that one response took while the work was done.
    static func longestWait(
        of fetch: @escaping @Sendable (URL) async throws -> Void,
        to url: URL,
        during work: () -> Void
    ) -> Double {
        let longest = Guarded(0.0)
        let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isOver = Guarded(false)
        Task.detached {
            // The first makes the connection.
            var number = 0
            while !isOver.withLock({ $0 }) {
                let start = ContinuousClock.now
                do { try await fetch(url) } catch { fatalError("a request failed: \(error)") }
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                if number > 0 { longest.withLock { $0 = max($0, seconds) } }
                if number == 1 { begun.signal() }
                number += 1
                try await Task.sleep(for: .milliseconds(1))
            }
            ended.signal()
        }
        begun.wait()
        work()
        isOver.withLock { $0 = true }
        ended.wait()
        return longest.withLock { $0 }
    }
}

/// This library, with its own transport.
private final class PathClient: RequestQueue {
    let environment: RequestEnvironment
    let transport: any HTTPTransport
    private let queue = OperationQueue()

    /// - Parameters:
    ///   - width: The width of the queue, without the other transfers beside a load.
    ///   - trust: The trust policy.
    ///   - connections: The maximum number of connections to the host; `nil` for the default.
    init(_ width: Int, _ trust: TrustPolicy, connections: Int? = nil) {
        queue.maxConcurrentOperationCount = width + 1
        var environment = RequestEnvironment()
        environment.trust = trust
        self.environment = environment
        var configuration = CurlTransport.Configuration()
        if let connections { configuration.maximumConnectionsPerHost = connections }
        transport = CurlTransport(configuration: configuration)
    }

    var operations: [Operation] { queue.operations }
    func addOperation(_ operation: Operation) { queue.addOperation(operation) }

    @Sendable func fetch(_ url: URL) async throws { _ = try await fetch(TodoRequest(url: url)) }
}

/// AsyncHTTPClient, as in its documentation.
private final class PathRival: Sendable {
    private let client: AsyncHTTPClient.HTTPClient

    private init(connections: Int?) {
        var configuration = AsyncHTTPClient.HTTPClient.Configuration()
        if let connections {
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        }
        client = AsyncHTTPClient.HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    static func using(connections: Int? = nil, _ work: (PathRival) throws -> Usage) throws -> Usage {
        let rival = PathRival(connections: connections)
        defer { try? rival.client.syncShutdown() }
        return try work(rival)
    }

    @Sendable func fetch(_ url: URL) async throws {
        let response = try await client.execute(HTTPClientRequest(url: url.absoluteString), timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 20)
        _ = try JSONDecoder().decode(Todo.self, from: body)
    }
}
