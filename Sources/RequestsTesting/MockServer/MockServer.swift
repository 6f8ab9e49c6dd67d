// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A scripted HTTP/1.1 server on the loopback interface, for tests and demonstrations.
///
/// Script the server, run the client, then inspect the requests that the server received. The queue has priority over
/// the routes, and the routes over the handler. If none of them has a response, the server responds with 404.
///
/// Give every test its own server. It starts in well under a millisecond on a free port. It stops when its last
/// reference is released, so keep a reference for as long as a client needs the server.
///
/// ```swift
/// let server = try MockServer { request in
///     switch request.path {
///     case "/recipes/1": .json(#"{"name":"Pancakes"}"#)
///     case "/slow": .text("late").delayed(by: .seconds(1))
///     default: .status(.notFound)
///     }
/// }
/// let (data, _) = try await URLSession.shared.data(from: server.url("/recipes/1"))
/// server.requests[0].headers[.accept]
/// ```
///
/// Unlike a stub, the server is a real peer with a real socket. Use it to test behavior that depends on bytes,
/// connections or time, because it controls every byte and every pause. See ``StubResponse`` for the faults that it can
/// simulate, and ``Configuration`` for limits of connections.
///
/// A server is thread-safe. A handler runs on the thread of its connection, and several can run simultaneously.
public final class MockServer: Sendable {
    /// Creates the response to a request; an error that it throws becomes a response with the status 500.
    public typealias Handler = @Sendable (_ request: ReceivedRequest) throws -> StubResponse

    /// The URL of the server: `http://127.0.0.1:` and the port.
    public let url: URL
    /// The port that the server listens on.
    public let port: Int

    // The threads retain the core, never the server, so that releasing the user's last reference deallocates the
    // server.
    let core: ServerCore

    /// Starts a server, by default on a free port and without limits.
    ///
    /// - Parameters:
    ///   - configuration: The server's port and limits.
    ///   - handler: Responds to requests for which there is neither a queued response nor a route; without a handler,
    ///     they get a 404.
    /// - Throws: The system's error if no socket is available, or the port is in use.
    public init(configuration: Configuration = Configuration(), _ handler: Handler? = nil) throws {
        core = try ServerCore(configuration, handler)
        port = core.port
        guard let url = URL(string: "http://127.0.0.1:\(port)") else {
            core.stop()
            throw SystemError("URL", EINVAL)
        }
        self.url = url
        core.start()
    }

    deinit {
        core.stop()
    }

    /// Returns the URL of a path, with an optional query; both are used as given, percent-encoding included.
    public func url(_ target: String) -> URL {
        URL(lenient: url.absoluteString + target) ?? url.appendingPathComponent(target)
    }

    /// The recorded requests, in the order in which they were completed.
    public var requests: [ReceivedRequest] { core.state.withLock { $0.requests } }

    /// The number of requests that were received since the start, including those that weren't recorded.
    public var requestCount: Int { core.state.withLock { $0.requestCount } }

    /// The number of connections that were accepted since the start.
    public var connectionCount: Int { core.state.withLock { $0.acceptedCount } }

    /// The number of open connections.
    ///
    /// A connection no longer counts once its client half-closes it while waiting for a response, even if the client is
    /// still reading. The server sends the response nonetheless.
    public var openConnections: Int { core.state.withLock { $0.openCount } }

    /// Stops the server: closes the listener and every connection, and returns when all threads are done.
    ///
    /// All pauses, stalls and waits end. Tasks that await requests or connections get a ``WaitTimeoutError``. Called
    /// from a handler, the method doesn't wait for the threads. It may be called repeatedly. Releasing the last
    /// reference to the server has the same effect.
    public func stop() {
        core.stop()
    }
}

// MARK: - Configuration

extension MockServer {
    /// The port and the limits of a server.
    ///
    /// By default, a server uses a free port and has no limits. A test changes only what it needs:
    ///
    /// ```swift
    /// var configuration = MockServer.Configuration()
    /// configuration.maximumRequestsPerConnection = 2
    /// let server = try MockServer(configuration: configuration) { _ in .text("hello") }
    /// ```
    public struct Configuration: Sendable, Hashable {
        /// The port to listen on; 0, the default, chooses a free port.
        public var port = 0

        /// The maximum number of requests on a connection; `nil`, the default, sets no limit.
        ///
        /// The last response has `Connection: close`, after which the server closes the connection.
        public var maximumRequestsPerConnection: Int?

        /// The maximum number of open connections; `nil`, the default, sets no limit.
        ///
        /// Further connections wait to be accepted, as with a busy server: their clients are connected and can send,
        /// but the server doesn't read.
        public var maximumConnections: Int?

        /// The maximum number of requests to record; by default, there is no limit.
        ///
        /// Later requests aren't recorded, but the server still responds to them and counts them. Set a limit for a
        /// long-running server.
        public var maximumRecordedRequests = Int.max

        /// Creates a configuration without limits.
        public init() {}
    }
}
