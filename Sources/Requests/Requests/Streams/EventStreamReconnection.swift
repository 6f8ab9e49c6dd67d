// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Decides when a stream of server-sent events connects, reconnects and ends (WHATWG HTML, 9.2.3).
///
/// A connection that ends, or breaks, is made again after the time that the server asked for. After several connections
/// in a row without an event, the wait grows, up to a limit. The stream gives up where the standard does, except for
/// statuses that mean that the server is only busy: a web page would have to reconnect by itself then.
struct EventStreamReconnection: Sendable {
    /// An input of the stream.
    enum Input: Sendable {
        /// The stream begins.
        case started
        /// The head of a response came.
        case responded(HTTPResponseHead)
        /// An event came.
        case received
        /// The response ended.
        case ended
        /// The connection couldn't be made, or broke.
        case failed(RequestError)
        /// The wait is over.
        case waited
    }

    /// An action for the stream.
    enum Action: Sendable {
        /// Send the request with these fields.
        case connect([HTTPField])
        /// Hand the content to a new parser.
        case read
        /// Close the connection, if there is one, and report back after this delay.
        case wait(Duration)
        /// End the stream, as the server requests.
        case finish
        /// End the stream with this error.
        case fail(RequestError)
        /// Do nothing.
        case none
    }

    private enum State: Sendable {
        case idle, connecting, reading, waiting, over
    }

    /// The identifier of the last event, which the next connection sends; to be kept up to date by the owner.
    var lastEventID: String?
    /// The last reconnection time that the server sent; to be kept up to date by the owner.
    var retry: Duration?

    private var state = State.idle
    private var failures = 0
    /// The number of connections in a row without an event.
    private var fruitless = 0
    private let policy: ReconnectionPolicy
    private let random: RandomSource
    private let now: @Sendable () -> Date

    /// Makes the decisions for one stream.
    ///
    /// - Parameters:
    ///   - lastEventID: The last event of an earlier stream; `nil` for the beginning.
    ///   - policy: The limits of reconnection.
    ///   - random: The source of random waits.
    ///   - now: Returns the present time, for a `Retry-After` that is a date.
    init(
        lastEventID: String? = nil,
        policy: ReconnectionPolicy = .default,
        random: RandomSource = .system,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.lastEventID = lastEventID
        self.policy = policy
        self.random = random
        self.now = now
    }

    /// Handles an input, and returns the action to perform.
    mutating func handle(_ input: Input) -> Action {
        switch (state, input) {
        case (.idle, .started), (.waiting, .waited):
            return connect()
        case (.connecting, .responded(let head)):
            return judge(head)
        case (.reading, .received):
            fruitless = 0
            return .none
        case (.reading, .ended):
            return wait(reason: RequestError(.connectionLost, phase: .receiving))
        case (.connecting, .failed(let error)), (.reading, .failed(let error)):
            // An error of the caller, or one that would repeat, ends the stream.
            return Self.lasting.contains(error.code) ? end(.fail(error)) : wait(reason: error)
        default:
            // A late input from a closed connection.
            return .none
        }
    }

    private mutating func connect() -> Action {
        var fields: [HTTPField] = [.accept(.eventStream), HTTPField(.cacheControl, "no-cache")]
        if let lastEventID, !lastEventID.isEmpty {
            // Without it, the server would start from the beginning, and the events would come twice.
            guard lastEventID.isFieldValue, lastEventID.utf8.count <= Self.longestEventID else {
                let flaw = InvalidRequest(.headerValue, "of Last-Event-ID is too long, or has a control character")
                return end(.fail(RequestError(.invalidRequest, phase: .building, underlying: flaw)))
            }
            fields.append(HTTPField(.lastEventID, lastEventID))
        }
        state = .connecting
        return .connect(fields)
    }

    private mutating func judge(_ head: HTTPResponseHead) -> Action {
        switch head.status {
        case .ok:
            let type = head[.contentType].flatMap { try? MediaType(parsing: $0) }
            guard type?.essence == MediaType.eventStream.essence else {
                return end(.fail(RequestError(.unacceptableContentType, phase: .validating, response: head)))
            }
            state = .reading
            failures = 0
            return .read
        case .noContent:
            return end(.finish)
        case let status:
            let error = RequestError(.unacceptableStatus, phase: .validating, response: head)
            guard Self.passing.contains(status) else { return end(.fail(error)) }
            let pause = head[.retryAfter].flatMap { Duration(retryAfter: $0, now: now()) }
            return wait(reason: error, atLeast: pause ?? .zero)
        }
    }

    private mutating func wait(reason: RequestError, atLeast pause: Duration = .zero) -> Action {
        failures += 1
        fruitless += 1
        if let limit = policy.limit, failures > limit { return end(.fail(reason)) }
        state = .waiting
        // A server may allow to reconnect at once, but not repeatedly without an event.
        let backoff = fruitless > 1 ? policy.backoff.delay(before: fruitless - 1, random: random) : .zero
        return .wait(max(.zero, min(max(retry ?? policy.wait, backoff, pause), policy.maximumWait)))
    }

    private mutating func end(_ action: Action) -> Action {
        state = .over
        return action
    }

    /// Statuses of a server that may recover.
    private static let passing: Set<HTTPStatus> = [
        .requestTimeout, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]

    /// Failures that the next connection would have too.
    private static let lasting: Set<RequestError.Code> = [
        .cancelled, .deadlineExceeded, .untrusted, .invalidRequest, .encoding, .tooManyRedirects, .badRedirect,
        .redirectRefused, .bodyNotReplayable, .authenticationFailed, .excessiveRefresh, .bodyTooLarge, .closed,
        .unsupported, .unacceptableContentType, .rejected, .nestingLimitReached,
    ]

    /// Longer than any server accepts.
    private static let longestEventID = 1 << 16
}

/// The reconnection of an ``EventStream`` if the server ends its connections, or can't be reached.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// The wait before the next connection if the server doesn't send one; 3 seconds by default.
    public var wait: Duration
    /// The maximum wait, whatever the server sends; a minute by default.
    public var maximumWait: Duration
    /// The number of connections that may end or fail in a row before the stream fails, 10 by default; `nil` for any
    /// number.
    ///
    /// A connection with a good response resets the count.
    public var limit: Int?
    /// The wait after the second and each further connection in a row without an event, if it is longer than the time
    /// that the server asked for.
    ///
    /// By default it begins with a second, and doubles each time.
    public var backoff: Backoff

    /// Makes a policy.
    public init(
        wait: Duration = .seconds(3),
        maximumWait: Duration = .seconds(60),
        limit: Int? = 10,
        backoff: Backoff = .exponential(from: .seconds(1))
    ) {
        self.wait = wait
        self.maximumWait = maximumWait
        self.limit = limit
        self.backoff = backoff
    }

    /// Reconnection like that of a browser, except that servers that can't be reached are given up after a while.
    public static let `default` = ReconnectionPolicy()

    /// One connection only: its end is a failure of code `connectionLost`.
    public static let never = ReconnectionPolicy(limit: 0)
}
