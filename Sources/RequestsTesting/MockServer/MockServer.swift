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
/// Every byte and every pause is under control; ``StubResponse`` lists the faults.
///
/// ``Configuration`` has what isn't about answers: limits, and how long a connection lives. ``log`` has the times.
///
/// All members may be used from any thread. A handler runs on the thread of its connection, several at a time.
public final class MockServer: Sendable {
    /// Decides what is answered to a request; an error that it throws is answered with 500.
    public typealias Handler = @Sendable (_ request: RecordedRequest) throws -> StubResponse

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

// MARK: - Configuration

extension MockServer {
    /// What a server does with its connections, whatever it answers on them.
    ///
    /// The defaults are those of a patient server without limits; a test changes what it is about:
    ///
    /// ```swift
    /// var configuration = MockServer.Configuration()
    /// configuration.maximumRequestsPerConnection = 2
    /// let server = try MockServer(configuration: configuration) { _ in .text("hello") }
    /// ```
    public struct Configuration: Sendable, Hashable {
        /// The port to listen on; 0, the default, takes one that is free.
        public var port = 0

        /// How many bytes a head, the line of a chunk or the trailers may have; 1 MiB by default.
        ///
        /// A larger one is answered with 431, and the connection closes.
        public var maximumHeadSize = 1 << 20

        /// How many bytes the content of a request may have; nil, the default, sets no limit.
        ///
        /// A larger one is answered with 413 as soon as it is known to be larger, and the connection closes: with a
        /// `Content-Length`, that is before the first byte of it.
        public var maximumBodySize: Int?

        /// How many requests a connection carries; nil, the default, sets no limit.
        ///
        /// The answer to the last one says `Connection: close`, and then the connection closes.
        public var maximumRequestsPerConnection: Int?

        /// How long a connection waits for bytes of a request before the server closes it; nil, the default, is for
        /// ever.
        ///
        /// The time between two requests counts, and the time between two pieces of one.
        public var idleTimeout: Duration?

        /// How many connections are open at once; nil, the default, sets no limit.
        ///
        /// Those beyond it wait to be accepted, as they do in front of a busy server: their clients are connected and
        /// can send, but nobody reads.
        public var maximumConnections: Int?

        /// How many requests are recorded, the first ones; there is no limit by default.
        ///
        /// What comes later is answered and counted all the same. For a server that runs for long.
        public var maximumRecordedRequests = Int.max

        /// Makes the configuration of a patient server without limits.
        public init() {}
    }
}

/// Why a ``MockServer`` couldn't do what it was asked for.
public enum MockServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A call of the operating system failed: the call, and its `errno`.
    case system(call: String, code: Int32)
    /// The server was stopped while something was awaited.
    case stopped
    /// What was awaited didn't come in time: how long it was waited for, and what for.
    case timeout(after: Duration, awaited: String)
    /// The request came, and isn't among those that are recorded: the ``MockServer/Configuration/maximumRecordedRequests``.
    case notRecorded(maximum: Int)

    /// What went wrong, in a sentence.
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
    /// A request that a server received, with when things happened to it and what was sent.
    ///
    /// All times are counted from the start of the server, so those of different connections can be compared.
    public struct LogEntry: Sendable, Hashable {
        /// The request, which has the number of its connection.
        public var request: RecordedRequest
        /// When the connection was accepted.
        public var accepted: Duration
        /// When the head of the request was there.
        public var headRead: Duration
        /// When the content was there too; nil where the answer was ``StubResponse/early``.
        public var bodyRead: Duration?
        /// When the system had taken the last byte of the answer; nil where that hasn't happened, and where a fault, the
        /// client or the end of the server prevented it.
        public var answered: Duration?
        /// How many bytes of the answer the system has taken, head and framing included; 0 until the answer has ended.
        public var sentByteCount: Int
    }

    /// The requests so far, in the order in which they were complete, each with its times.
    ///
    /// ```swift
    /// let entry = server.log[0]
    /// entry.answered.map { $0 - entry.headRead }      // what the answer took
    /// ```
    ///
    /// An answer may be with its client a moment before the log tells of it.
    public var log: [LogEntry] { core.state.withLock { $0.log } }

    /// How many requests were received since the start, recorded or not.
    public var requestCount: Int { core.state.withLock { $0.requestCount } }
}
