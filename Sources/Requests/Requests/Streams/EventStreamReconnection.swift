// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Decides when a stream of server-sent events connects, connects again, and ends (WHATWG HTML, 9.2.3).
///
/// A connection that ends, or breaks, is made again after the time that the server asked for. Connections that give no
/// event, one after another, wait longer and longer, up to a limit. Where the standard gives up, so does this, except with statuses
/// that say that the server is only busy: there a browser's page would have to do what is done here.
struct EventStreamReconnection: Sendable {
    /// What happens to the stream.
    enum Input: Sendable {
        /// The stream begins.
        case started
        /// The head of a response came.
        case responded(HTTPResponseHead)
        /// An event came.
        case received
        /// The response came to its end.
        case ended
        /// The connection couldn't be made, or broke.
        case failed(RequestError)
        /// The wait is over.
        case waited
    }

    /// What to do.
    enum Action: Sendable {
        /// Send the request with these fields.
        case connect([HTTPField])
        /// Hand the content to a new parser.
        case read
        /// Let go of the connection, if there is one, and report back after so long.
        case wait(Duration)
        /// The stream is over, as the server wants it.
        case finish
        /// The stream is over, for this reason.
        case fail(RequestError)
        /// Nothing.
        case none
    }

    private enum State: Sendable {
        case idle, connecting, reading, waiting, over
    }

    /// The identifier of the last event, which the next connection tells; to be kept up to date by the owner.
    var lastEventID: String?
    /// How long the server wants to be left alone, as it said last; to be kept up to date by the owner.
    var retry: Duration?

    private var state = State.idle
    private var failures = 0
    /// How many connections in a row gave no event.
    private var fruitless = 0
    private let policy: ReconnectionPolicy
    private let random: RandomSource
    private let now: @Sendable () -> Date

    /// Makes the decisions for one stream.
    ///
    /// - Parameters:
    ///   - lastEventID: Where a stream of before came to; nil for the beginning.
    ///   - policy: How patient it is.
    ///   - random: What the waits are drawn from.
    ///   - now: The present, for a `Retry-After` that is a date.
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

    /// Goes one step on.
    mutating func handle(_ input: Input) -> Action {
        switch (state, input) {
        case (.idle, .started), (.waiting, .waited):
            state = .connecting
            return .connect(fields)
        case (.connecting, .responded(let head)):
            return judge(head)
        case (.reading, .received):
            fruitless = 0
            return .none
        case (.reading, .ended):
            return wait(reason: RequestError(.connectionLost, phase: .receiving))
        case (.connecting, .failed(let error)), (.reading, .failed(let error)):
            // What the caller did, or what no second try changes, ends it.
            return Self.lasting.contains(error.code) ? end(.fail(error)) : wait(reason: error)
        default:
            // Late news of a connection that was let go of.
            return .none
        }
    }

    private var fields: [HTTPField] {
        var fields: [HTTPField] = [.accept(.eventStream), HTTPField(.cacheControl, "no-cache")]
        // One that can't stand in a field would have the request refused for ever; the server then begins anew.
        if let lastEventID, !lastEventID.isEmpty, lastEventID.isFieldValue,
            lastEventID.utf8.count <= Self.longestEventID
        {
            fields.append(HTTPField(.lastEventID, lastEventID))
        }
        return fields
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
            let pause = head[.retryAfter].flatMap { HTTPField.RetryAfter(parsing: $0, now: now()) }?.delay(from: now())
            return wait(reason: error, atLeast: pause ?? .zero)
        }
    }

    private mutating func wait(reason: RequestError, atLeast pause: Duration = .zero) -> Action {
        failures += 1
        fruitless += 1
        if let limit = policy.limit, failures > limit { return end(.fail(reason)) }
        state = .waiting
        // A server may want to be asked again at once, but not for nothing each time.
        let backoff = fruitless > 1 ? policy.backoff.delay(before: fruitless - 1, random: random) : .zero
        return .wait(max(.zero, min(max(retry ?? policy.wait, backoff, pause), policy.maximumWait)))
    }

    private mutating func end(_ action: Action) -> Action {
        state = .over
        return action
    }

    /// Statuses of a server that may be well again later.
    private static let passing: Set<HTTPStatus> = [
        .requestTimeout, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]

    /// Failures that the next connection would have too.
    private static let lasting: Set<RequestError.Code> = [
        .cancelled, .deadlineExceeded, .untrusted, .invalidRequest, .encoding, .tooManyRedirects, .badRedirect,
        .redirectRefused, .bodyNotReplayable, .authenticationFailed, .excessiveRefresh, .bodyTooLarge, .closed,
        .unsupported, .unacceptableContentType, .rejected, .nestingLimitReached,
    ]

    private static let longestEventID = 4096
}

/// How patient an ``EventStream`` is with a server that ends its connections, or can't be reached.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// How long to wait for the next connection where the server says nothing; 3 seconds by default.
    public var wait: Duration
    /// What is waited at most, whatever the server says; a minute by default.
    public var maximumWait: Duration
    /// How many connections may end or fail in a row before the stream fails, 10 by default; nil for any number.
    ///
    /// One that gives a good response counts anew.
    public var limit: Int?
    /// What is waited after the second connection in a row that gave no event and after those behind it, if it is longer
    /// than the time that the server asked for; by default from a second on, twice as long each time.
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

    /// The patience of a browser, but for servers that can't be reached: those are given up after a while.
    public static let `default` = ReconnectionPolicy()

    /// One connection only: its end is a failure of code `connectionLost`.
    public static let never = ReconnectionPolicy(limit: 0)
}
