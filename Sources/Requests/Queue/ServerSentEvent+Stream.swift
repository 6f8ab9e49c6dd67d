// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ServerSentEvent {
    /// The server-sent events of a request, over as many connections as necessary (WHATWG HTML, 9.2).
    ///
    /// ```swift
    /// for try await event in client.serverSentEvents(Feed()) { print(event.event, event.data) }
    /// ```
    ///
    /// The request is sent when the first event is requested, and asks for `text/event-stream`. A connection that ends
    /// or breaks is made again after the last reconnection time that the server sent. It sends the identifier of the
    /// last event, so that the server continues from there; if a server chose one that can't be sent, of more than 64
    /// KiB or with a control character, the stream ends with the code `invalidRequest`. Reconnection backs off when
    /// connections close without an event, or with a status of a server that is only busy. 204 ends the stream.
    /// Everything else ends it with an error: another status, another type of content, an event of more than 1 MiB, a
    /// failure that the next connection would have too.
    ///
    /// Each connection is an operation of the queue, and keeps its place there until it ends; the waits between them
    /// take no place. Retries of the environment and of the request don't apply. A deadline applies to the whole
    /// stream. A connection that is silent for longer than the timeout counts as broken: an idle server sends comments.
    ///
    /// Breaking out of the loop, and cancelling the task, ends the connection or the wait. Each iteration starts from
    /// the beginning.
    public struct Stream: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = ServerSentEvent

        fileprivate let makeConnector: @Sendable () -> EventConnector

        /// Makes an iterator with its own connections.
        public func makeAsyncIterator() -> Iterator { Iterator(connector: makeConnector()) }

        /// Consumes a ``ServerSentEvent/Stream``.
        public struct Iterator: AsyncIteratorProtocol {
            /// Any error: each error that a loop throws is a ``RequestError``.
            public typealias Failure = any Error
            fileprivate var connector: EventConnector

            /// The next event; `nil` when the server ends the stream.
            ///
            /// - Throws: The error that ended the stream; its code is `cancelled` in a cancelled task. The end of a
            ///   connection is not an error, within the limits of the policy.
            public mutating func next() async throws(RequestError) -> ServerSentEvent? { try await connector.next() }
        }
    }
}

extension RequestQueue {
    /// Returns the server-sent events of a request, and reconnects when a connection ends.
    ///
    /// - Parameters:
    ///   - request: The request to connect with; its own decoding is ignored.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - lastEventID: The ``ServerSentEvent/id`` of the last event of an earlier stream; `nil`, the default, lets the
    ///     server choose the beginning.
    ///   - reconnection: The limits of reconnection.
    /// - Returns: The events. Nothing is sent before the first is requested.
    public func serverSentEvents(
        _ request: some NetworkRequest,
        session: (any HTTPTransport)? = nil,
        lastEventID: String? = nil,
        reconnection: ServerSentEvent.Reconnection = .default
    ) -> ServerSentEvent.Stream {
        ServerSentEvent.Stream {
            EventConnector(
                environment: self.environment,
                policy: reconnection,
                deadline: request.resolvedOptions.deadline ?? self.environment.deadline,
                connect: { (fields, deadline) async throws(RequestError) -> ResponseStream in
                    let streamed = StreamedRequest.events(of: request, fields, deadline)
                    return try await self.handOver(streamed, to: streamed.stream, session)
                },
                lastEventID: lastEventID
            )
        }
    }
}

/// Connects, reads and reconnects, until the next event (WHATWG HTML, 9.2.3).
///
/// A connection that ends, or breaks, is made again after the time that the server asked for. After several connections
/// in a row without an event, the wait grows, up to a limit. The stream gives up where the standard does, except for
/// statuses that mean that the server is only busy: a web page would have to reconnect by itself then.
private struct EventConnector {
    let environment: RequestEnvironment
    let policy: ServerSentEvent.Reconnection
    let deadline: Duration?
    /// Sends the request with these fields, and this deadline.
    let connect: @Sendable (HTTPHeaders, Duration?) async throws(RequestError) -> ResponseStream

    /// The identifier of the last event, which the next connection sends.
    var lastEventID: String?
    /// The last reconnection time that the server sent.
    var retry: Duration?
    /// The number of connections in a row without a good response.
    var failures = 0
    /// The number of connections in a row without an event.
    var fruitless = 0
    /// The time since the stream began; `nil` before that.
    var elapsed: (@Sendable () -> Duration)?
    var stream: ResponseStream?
    var parser = ServerSentEventParser()
    var events: ArraySlice<ServerSentEvent> = []
    var isOver = false

    /// The next event; `nil` at the end.
    mutating func next() async throws(RequestError) -> ServerSentEvent? {
        guard !isOver else { return nil }
        do throws(RequestError) {
            if let event = try await advance() { return event }
            close()
            return nil
        } catch {
            close()
            throw error
        }
    }

    private mutating func close() {
        (isOver, stream, events) = (true, nil, [])
    }

    private mutating func advance() async throws(RequestError) -> ServerSentEvent? {
        elapsed = elapsed ?? environment.clock.stopwatch()
        while true {
            if let event = events.popFirst() { return event }
            do throws(RequestError) {
                if let stream {
                    try await read(stream)
                } else {
                    try await open()
                }
            } catch {
                guard !Task.isCancelled else { throw .cancelledWait }
                if error.isStatus(.noContent) { return nil }
                stream = nil
                try await wait(after: error)
            }
        }
    }

    /// Makes a connection.
    ///
    /// - Throws: The error of the request, or of a response that isn't a stream of events.
    private mutating func open() async throws(RequestError) {
        var fields: HTTPHeaders = [.accept(.eventStream), HTTPField(.cacheControl, "no-cache")]
        if let lastEventID, !lastEventID.isEmpty {
            // Without it, the server would start from the beginning, and the events would come twice.
            guard lastEventID.isFieldValue, lastEventID.utf8.count <= Self.longestEventID else {
                let flaw = InvalidValue(.headerValue, "of Last-Event-ID is too long, or has a control character")
                throw RequestError(.invalidRequest, phase: .building, underlying: flaw)
            }
            fields.add(HTTPField(.lastEventID, lastEventID))
        }
        let new = try await connect(fields, remaining)
        guard new.status == .ok else {
            throw RequestError(.unacceptableStatus, phase: .validating, response: new.head)
        }
        let type = new.head[.contentType].flatMap { try? MediaType(parsing: $0) }
        guard type?.essence == MediaType.eventStream.essence else {
            throw RequestError(.unacceptableContentType, phase: .validating, response: new.head)
        }
        (stream, failures) = (new, 0)
        parser = ServerSentEventParser(lastEventID: lastEventID)
    }

    /// Reads the next chunk.
    ///
    /// - Throws: The error that ended the connection, also if it ended properly.
    private mutating func read(_ stream: ResponseStream) async throws(RequestError) {
        // Events that were complete before the failure come first.
        if let failure = parser.failure {
            throw RequestError(.bodyTooLarge, phase: .receiving, underlying: failure)
        }
        var iterator = stream.makeAsyncIterator()
        guard let chunk = try await iterator.next() else { throw RequestError(.connectionLost, phase: .receiving) }
        events = parser.feed(chunk).map { $0.decoded(by: stream.makeDecoder) }[...]
        if !events.isEmpty { fruitless = 0 }
        lastEventID = parser.lastEventID
        retry = parser.retry ?? retry
    }

    /// Waits for the next connection.
    ///
    /// - Throws: The error, if the next connection would have it too, or if there were too many.
    private mutating func wait(after error: RequestError) async throws(RequestError) {
        var pause = Duration.zero
        if error.code == .unacceptableStatus, let status = error.response?.status {
            guard Self.passing.contains(status) else { throw error }
            pause = error.retryAfter(from: environment.now()) ?? .zero
        } else if Self.lasting.contains(error.code) {
            throw error
        }
        failures += 1
        fruitless += 1
        if let limit = policy.limit, failures > limit { throw error }
        // A server may allow to reconnect at once, but not repeatedly without an event.
        if fruitless > 1 {
            pause = max(pause, policy.backoff.delay(before: fruitless - 1, random: environment.random))
        }
        let duration = max(.zero, min(max(retry ?? policy.wait, pause), policy.maximumWait))
        let remaining = remaining ?? .longest
        do {
            try await environment.clock.sleep(for: min(duration, remaining).clamped)
        } catch {
            throw .cancelledWait
        }
        if duration >= remaining { throw RequestError(.deadlineExceeded, phase: .waiting) }
    }

    /// The remaining time; `nil` without a deadline.
    private var remaining: Duration? {
        guard let deadline, let elapsed else { return nil }
        return max(.zero, deadline.clamped - elapsed())
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

extension RequestError {
    /// The error of a loop whose task is cancelled.
    fileprivate static var cancelledWait: RequestError {
        RequestError(.cancelled, phase: .waiting, underlying: CancellationError())
    }

    /// Whether a response wasn't accepted because of a status.
    fileprivate func isStatus(_ status: HTTPStatus) -> Bool {
        code == .unacceptableStatus && response?.status == status
    }
}

extension StreamedRequest where Kind == ServerSentEvent.Stream {
    /// A request for events, for one connection.
    fileprivate static func events(of request: Base, _ fields: HTTPHeaders, _ deadline: Duration?) -> Self {
        var streamed = Self(request: request)
        streamed.fields = fields
        streamed.options.deadline = deadline
        // The stream decides when to reconnect.
        streamed.options.retry = .never
        return streamed
    }
}
