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
    /// The request is sent when the first event is requested, and asks for `text/event-stream`. A GET, or a HEAD, is
    /// sent again when its connection ends or breaks, after the last reconnection time that the server sent. It sends
    /// the identifier of the last event, so that the server continues from there; one that can't be sent, of more than
    /// 64 KiB or with a control character, is ignored. Reconnection backs off when connections close without an
    /// event, or with a status of a server that is only busy. Everything else is an error: another status, another type
    /// of content, an event of more than 1 MiB, a failure that the next connection would have too. Retries of the
    /// environment and of the request don't apply.
    ///
    /// Any other request, such as the POST for the answer of a language model, has one event stream, and so has every
    /// request with the policy ``Reconnection/never``. The events end when the server ends the response properly, and a
    /// connection that breaks is an error. Until the response begins, such a request is sent like any other: its
    /// retries and those of the environment apply.
    ///
    /// A 204 ends the events without an error. An error has the request, the response and its content, if it was
    /// refused.
    ///
    /// Each connection is an operation of the queue, and keeps its slot there until it ends; the waits between them
    /// take no slot. A deadline applies to the whole stream. A connection that is silent for longer than the timeout
    /// counts as broken: an idle server sends comments.
    ///
    /// Breaking out of the loop, and cancelling the task, ends the connection or the wait. Each iteration starts from
    /// the beginning.
    public struct Stream: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = ServerSentEvent

        fileprivate let makeConnector: @Sendable () -> EventConnector

        /// Creates an iterator with its own connections.
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
    /// Returns the server-sent events of a request; a GET is sent again when its connection ends.
    ///
    /// - Parameters:
    ///   - request: The request to connect with; its own decoding is ignored.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - lastEventID: The ``ServerSentEvent/id`` of the last event of an earlier stream; `nil`, the default, lets the
    ///     server choose the beginning. One that can't be sent is an error of code `invalidRequest`.
    ///   - reconnection: The limits of reconnection, for a GET.
    /// - Returns: The events. Nothing is sent before the first is requested.
    public func serverSentEvents(
        _ request: some NetworkRequest,
        session: (any HTTPTransport)? = nil,
        lastEventID: String? = nil,
        reconnection: ServerSentEvent.Reconnection = .default
    ) -> ServerSentEvent.Stream {
        ServerSentEvent.Stream {
            var retry = request.resolvedOptions.retry ?? self.environment.retry
            if reconnection.limit != 0 { retry.excludedMethods = ServerSentEvent.Reconnection.methods }
            return EventConnector(
                environment: self.environment,
                policy: reconnection,
                deadline: request.resolvedOptions.deadline ?? self.environment.deadline,
                connect: { [retry] (fields, deadline) async throws(RequestError) -> ResponseStream in
                    let streamed = StreamedRequest.events(of: request, fields, deadline, retry)
                    return try await self.runUntilReply(streamed, to: streamed.stream, session)
                },
                method: (request as? any RequestConvertible)?.changedHTTP.method,
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

    /// The method of the first request that was sent, whatever redirects and retries it went through; before that, the
    /// method of the description, if it says one.
    var method: HTTPMethod?
    /// The identifier that the next connection sends.
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
                let stream = if let stream { stream } else { try await open() }
                // A server without events, which wants no other connection.
                if stream.status == .noContent { return nil }
                if try await read(stream) { continue }
                let end = stream.core.context.addContext(to: parser.end)
                guard reconnects(after: end) || parser.isInsideEvent && !end.isFramed else { return nil }
                throw end
            } catch {
                guard !Task.isCancelled else { throw error.code == .cancelled ? error : error.ended(.cancelled) }
                if error.code == .unacceptableStatus, error.response?.status == .noContent { return nil }
                guard reconnects(after: error) else { throw error }
                stream = nil
                try await wait(after: error)
            }
        }
    }

    /// Whether the request is sent again after an end.
    ///
    /// An unknown method isn't a safe one. Any other than GET and HEAD may do something, and often costs something, each
    /// time that it is sent.
    private mutating func reconnects(after error: RequestError) -> Bool {
        method = (error.transfers.first?.request ?? error.request)?.method ?? method
        return policy.limit != 0 && method.map(ServerSentEvent.Reconnection.methods.contains) == true
    }

    /// Makes a connection.
    ///
    /// - Throws: The error of the request, including that of a response that isn't a stream of events.
    private mutating func open() async throws(RequestError) -> ResponseStream {
        var fields: HTTPHeaders = [.accept(.eventStream), HTTPField(.cacheControl, "no-cache")]
        if let lastEventID, !lastEventID.isEmpty {
            // Without the identifier, the server would start from the beginning, and the events would come twice.
            guard ServerSentEventParser.canBeSent(lastEventID) else {
                let flaw = InvalidValue(.headerValue, "of Last-Event-ID is too long, or has a control character")
                throw RequestError(.invalidRequest, phase: .building, underlying: flaw)
            }
            fields.add(HTTPField(.lastEventID, lastEventID).attributedToLibrary())
        }
        let new = try await connect(fields, remaining)
        (stream, failures) = (new, 0)
        parser = ServerSentEventParser(lastEventID: lastEventID)
        return new
    }

    /// Reads the next chunk; returns `false` at the end.
    ///
    /// - Throws: The error that ended the connection.
    private mutating func read(_ stream: ResponseStream) async throws(RequestError) -> Bool {
        let context = stream.core.context
        // Events that were complete before the failure come first.
        if let failure = parser.failure { throw context.addContext(to: failure) }
        var iterator = stream.makeAsyncIterator()
        guard let chunk = try await iterator.next() else { return false }
        events = parser.feed(chunk).map { $0.received(in: context) }[...]
        if !events.isEmpty { fruitless = 0 }
        lastEventID = parser.lastEventID
        retry = parser.retry ?? retry
        return true
    }

    /// Waits for the next connection.
    ///
    /// - Throws: The failure, if the next connection would have it too, or if there were too many.
    private mutating func wait(after failure: RequestError) async throws(RequestError) {
        var pause = Duration.zero
        if failure.code == .unacceptableStatus, let status = failure.response?.status {
            guard Self.passing.contains(status) else { throw failure }
            pause = failure.retryAfter(from: environment.now()) ?? .zero
        } else if failure.code.kind.isFinal || failure.code.kind == .refused {
            throw failure
        }
        failures += 1
        fruitless += 1
        if let limit = policy.limit, failures > limit { throw failure }
        // A server may allow to reconnect at once, but not repeatedly without an event.
        if fruitless > 1 {
            pause = max(pause, policy.backoff.delay(before: fruitless - 1, random: environment.random))
        }
        let duration = max(.zero, min(max(retry ?? policy.wait, pause), policy.maximumWait))
        let remaining = remaining ?? .longest
        do {
            try await environment.clock.sleep(for: min(duration, remaining).clamped)
        } catch {
            throw failure.ended(.cancelled)
        }
        if duration >= remaining { throw failure.ended(.deadlineExceeded) }
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
}

extension ServerSentEvent.Reconnection {
    /// The methods of requests that are sent again when their stream of events ends or breaks.
    fileprivate static let methods: Set<HTTPMethod> = [.get, .head]
}

extension ServerSentEventParser {
    /// The error of a response that has ended, where that isn't the end of the events.
    fileprivate var end: RequestError {
        let reason = isInsideEvent ? "the response ended inside an event" : "the server has ended the events"
        return RequestError(.connectionLost, phase: .receiving, reason: reason)
    }
}

extension RequestError {
    /// Whether the response tells where its content ends (RFC 9112, 6.3); otherwise the end of the connection does,
    /// whatever its cause.
    fileprivate var isFramed: Bool {
        guard let headers = response?.headers, !headers.contains(.contentLength) else { return true }
        return headers.contains(.transferEncoding)
            || transfers.last?.metrics?.networkProtocol?.hasPrefix("http/1") == false
    }

    /// The error of a loop that ends while it waits after this one.
    fileprivate func ended(_ code: Code) -> RequestError {
        RequestError(
            code,
            phase: .waiting,
            request: request,
            response: response,
            transfers: transfers,
            underlying: code == .cancelled ? CancellationError() : nil
        )
    }
}

extension StreamedRequest where Kind == ServerSentEvent.Stream {
    /// A request for events, for one connection.
    fileprivate static func events(
        of request: Base,
        _ fields: HTTPHeaders,
        _ deadline: Duration?,
        _ retry: RetryPolicy
    ) -> Self {
        var streamed = Self(request: request)
        streamed.fields = fields
        (streamed.options.deadline, streamed.options.retry) = (deadline, retry)
        streamed.options.validators.append(.eventStream)
        return streamed
    }
}

extension ResponseValidator where Self == ClosureValidator {
    /// Fails responses that are no stream of events, except a 204, which ends the events.
    fileprivate static var eventStream: ClosureValidator {
        .head { head, _ in
            guard head.status.category == .success, head.status != .partialContent else {
                throw RequestError(.unacceptableStatus, phase: .validating)
            }
            guard head.status != .noContent else { return }
            if let refusal = ContentTypeValidator.mismatch(of: head, accepting: [.eventStream]) { throw refusal }
        }
    }
}
