// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A scripted HTTP/1.1 server on the loopback interface, for tests and demonstrations: script it, run the client, then
/// inspect what it received.
///
/// Every test has its own server. It starts in well under a millisecond on a free port, and stops when its last
/// reference is released: keep a reference for as long as a client needs it. A response comes from the queue, else from
/// the routes, else from the handler, else it is 404.
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
/// Unlike a stub, it is a real peer behind a real socket: use it for behavior that depends on bytes, connections or
/// time. Every byte and every pause is under control; ``StubResponse`` lists the faults.
///
/// ``Configuration`` has the limits of connections.
///
/// All members may be used from any thread. A handler runs on the thread of its connection, several at a time.
public final class MockServer: Sendable {
    /// Makes the response to a request; an error that it throws becomes a response of status 500.
    public typealias Handler = @Sendable (_ request: ReceivedRequest) throws -> StubResponse

    /// The address of the server: `http://127.0.0.1:` and the port.
    public let url: URL
    /// The port that the server listens on.
    public let port: Int

    // The threads hold the core and never the server, so the last reference to the server is the user's.
    let core: ServerCore

    /// Starts a server, by default on a free port and without limits.
    ///
    /// - Parameters:
    ///   - configuration: The server's port, limits and timeouts.
    ///   - handler: Responds to each request that neither the queue nor a route answers; without one, the response is
    ///     404.
    /// - Throws: The error of the system if it provides no socket, or the port is taken.
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

    /// The requests so far, in the order in which they were complete.
    public var requests: [ReceivedRequest] { core.state.withLock { $0.requests } }

    /// The number of requests that were received since the start, recorded or not.
    public var requestCount: Int { core.state.withLock { $0.requestCount } }

    /// The number of connections that were accepted since the start.
    public var connectionCount: Int { core.state.withLock { $0.acceptedCount } }

    /// The number of connections that are open.
    ///
    /// A connection doesn't count once its client has ended its side while waiting for a response, whether to
    /// disconnect or only to read. The response is sent to it nonetheless.
    public var openConnections: Int { core.state.withLock { $0.openCount } }

    /// Closes the listener and every connection, ends pauses, stalls and waits, and returns when all threads are done.
    ///
    /// It may be called repeatedly. Called from a handler, it doesn't wait for the threads. Tasks that await requests
    /// or connections get a ``WaitTimeoutError``. Releasing the last reference has the same effect.
    public func stop() {
        core.stop()
    }
}

// MARK: - Configuration

extension MockServer {
    /// The port, limits and timeouts of a server, for all responses.
    ///
    /// By default, a server is patient and has no limits; a test changes what it is about:
    ///
    /// ```swift
    /// var configuration = MockServer.Configuration()
    /// configuration.maximumRequestsPerConnection = 2
    /// let server = try MockServer(configuration: configuration) { _ in .text("hello") }
    /// ```
    public struct Configuration: Sendable, Hashable {
        /// The port to listen on; 0, the default, takes one that is free.
        public var port = 0

        /// The maximum number of requests on a connection; `nil`, the default, sets no limit.
        ///
        /// The response to the last one says `Connection: close`, and then the connection closes.
        public var maximumRequestsPerConnection: Int?

        /// The maximum number of open connections; `nil`, the default, sets no limit.
        ///
        /// Further connections wait to be accepted, as they do with a busy server: their clients are connected and can
        /// send, but the server doesn't read.
        public var maximumConnections: Int?

        /// The maximum number of requests that are recorded, which are the first ones; there is no limit by default.
        ///
        /// Later requests are still answered and counted. Use it for a server that runs for long.
        public var maximumRecordedRequests = Int.max

        /// Makes the configuration of a patient server without limits.
        public init() {}
    }
}
