// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A scripted HTTP/1.1 server on the loopback, for tests and demonstrations: script it, run the client, look at what
/// arrived.
///
/// Every test has a server of its own. It starts in well under a millisecond, on a port that is free, and stops with
/// the last reference: hold it for as long as a client needs it. What it answers is decided in this order: the queue,
/// the routes, the handler, else 404.
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
/// Unlike a stub, it is a real peer behind a real socket: use it for whatever depends on bytes, connections or time.
/// Every byte and every pause is under control; ``MockResponse`` lists the faults.
///
/// ``Configuration`` has what isn't about answers: limits, and how long a connection lives. ``log`` has the times.
///
/// All members may be used from any thread. A handler runs on the thread of its connection, several at a time.
public final class MockServer: Sendable {
    /// Decides what is answered to a request; an error that it throws is answered with 500.
    public typealias Handler = @Sendable (_ request: RecordedRequest) throws -> MockResponse

    /// Where the server is reached: `http://127.0.0.1:` and the port.
    public let url: URL
    /// The port that the server listens on.
    public let port: Int

    // The threads hold the core and never the server, whose last reference is thus the user's.
    let core: ServerCore

    /// Starts a server, by default on a free port and without limits.
    ///
    /// - Parameters:
    ///   - configuration: What the server does with its connections.
    ///   - handler: Decides about each request that neither the queue nor a route answers; without one, 404.
    /// - Throws: ``MockServerError`` where the system gives no socket, or the port is taken.
    public init(configuration: Configuration = Configuration(), _ handler: Handler? = nil) throws {
        core = try ServerCore(configuration, handler)
        port = core.port
        guard let url = URL(string: "http://127.0.0.1:\(port)") else {
            core.stop()
            throw MockServerError.system(call: "URL", code: EINVAL)
        }
        self.url = url
        core.start()
    }

    deinit {
        core.stop()
    }

    /// The URL of a path, with a query where there is one; both are taken as they are, percent-encoding included.
    public func url(_ target: String) -> URL {
        URL(string: url.absoluteString + target) ?? url.appendingPathComponent(target)
    }

    /// The requests so far, in the order in which they were complete.
    public var requests: [RecordedRequest] { core.state.withLock { $0.requests } }

    /// How many connections were accepted since the start.
    public var connectionCount: Int { core.state.withLock { $0.accepted } }

    /// How many connections are open.
    ///
    /// A client that has ended its side of a connection while it waits, be it to leave or to read only, doesn't count; the
    /// answer is sent to it all the same.
    public var openConnections: Int { core.state.withLock { $0.open } }

    /// Closes the listener and every connection, ends pauses, stalls and waits, and returns when all threads are done.
    ///
    /// It may be called any number of times, and from a handler, which it doesn't wait for. Tasks that await something
    /// get ``MockServerError/stopped``. The last reference going away has the same effect.
    public func stop() {
        core.stop()
    }
}
