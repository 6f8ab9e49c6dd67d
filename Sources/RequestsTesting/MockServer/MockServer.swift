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
/// ``Configuration`` has the limits and the lifetime of connections. ``log`` has the times.
///
/// All members may be used from any thread. A handler runs on the thread of its connection, several at a time.
public final class MockServer: Sendable {
    /// Makes the response to a request; an error that it throws becomes a response of status 500.
    public typealias Handler = @Sendable (_ request: RecordedRequest) throws -> StubResponse

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
    /// - Throws: ``MockServerError`` if the system provides no socket, or the port is taken.
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

    /// Returns the URL of a path, with an optional query; both are used as given, percent-encoding included.
    public func url(_ target: String) -> URL {
        URL(string: url.absoluteString + target) ?? url.appendingPathComponent(target)
    }

    /// The requests so far, in the order in which they were complete.
    public var requests: [RecordedRequest] { core.state.withLock { $0.requests } }

    /// The number of connections that were accepted since the start.
    public var connectionCount: Int { core.state.withLock { $0.accepted } }

    /// The number of connections that are open.
    ///
    /// A connection doesn't count once its client has ended its side while waiting for a response, whether to
    /// disconnect or only to read. The response is sent to it nonetheless.
    public var openConnections: Int { core.state.withLock { $0.open } }

    /// Closes the listener and every connection, ends pauses, stalls and waits, and returns when all threads are done.
    ///
    /// It may be called repeatedly. Called from a handler, it doesn't wait for the threads. Tasks that await requests
    /// or connections get ``MockServerError/stopped``. Releasing the last reference has the same effect.
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

        /// The maximum byte count of a head, a chunk's line or the trailers; 1 MiB by default.
        ///
        /// A larger one is answered with 431, and the connection closes.
        public var maximumHeadSize = 1 << 20

        /// The maximum byte count of a request's content; `nil`, the default, sets no limit.
        ///
        /// A larger one is answered with 413 as soon as it is known to be larger, and the connection closes. With a
        /// `Content-Length`, that is before its first byte.
        public var maximumBodySize: Int?

        /// The maximum number of requests on a connection; `nil`, the default, sets no limit.
        ///
        /// The response to the last one says `Connection: close`, and then the connection closes.
        public var maximumRequestsPerConnection: Int?

        /// The time that a connection waits for bytes of a request before the server closes it; `nil`, the default,
        /// sets no limit.
        ///
        /// It applies between two requests, and between two pieces of one.
        public var idleTimeout: Duration?

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

/// The error of a ``MockServer`` that can't start, or of a wait for it.
public enum MockServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A call of the operating system failed: the call, and its `errno`.
    case system(call: String, code: Int32)
    /// The server was stopped while something was awaited.
    case stopped
    /// The awaited event didn't come in time: the timeout, and a description of the event.
    case timeout(after: Duration, awaited: String)
    /// The request came, but isn't recorded because of the ``MockServer/Configuration/maximumRecordedRequests``.
    case notRecorded(maximum: Int)

    /// The error in a sentence.
    public var description: String {
        switch self {
        case .system(let call, let code): "\(call) failed: \(String(cString: strerror(code))) (\(code))"
        case .stopped: "the server was stopped"
        case .timeout(let timeout, let awaited): "waited for \(timeout) for \(awaited)"
        case .notRecorded(let limit): "only the first \(limit) requests are recorded"
        }
    }
}

// MARK: - Log entry

extension MockServer {
    /// A request that a server received, with its times and the byte count of the response.
    ///
    /// All times are counted from the start of the server, so those of different connections can be compared.
    public struct LogEntry: Sendable, Hashable {
        /// The request, which includes the number of its connection.
        public var request: RecordedRequest
        /// The time when the connection was accepted.
        public var accepted: Duration
        /// The time when the head of the request was complete.
        public var headRead: Duration
        /// The time when the content was complete; `nil` if the response was ``StubResponse/early``.
        public var bodyRead: Duration?
        /// The time when the system accepted the last byte of the response; `nil` before that, or if a fault, the
        /// client or the end of the server prevented it.
        public var answered: Duration?
        /// The byte count of the response that the system accepted, head and framing included; 0 until the response has
        /// ended.
        public var sentByteCount: Int
    }

    /// The requests so far, in the order in which they were complete, each with its times.
    ///
    /// ```swift
    /// let entry = server.log[0]
    /// entry.answered.map { $0 - entry.headRead }      // the time to respond
    /// ```
    ///
    /// A client may receive its response a moment before the log has its end.
    public var log: [LogEntry] { core.state.withLock { $0.log } }

    /// The number of requests that were received since the start, recorded or not.
    public var requestCount: Int { core.state.withLock { $0.requestCount } }
}
