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
    /// The request is sent when the first event is requested, with `Accept: text/event-stream`. A GET or HEAD request
    /// is sent again when its connection ends or breaks, after the last reconnection time that the server sent. The new
    /// request includes the identifier of the last event, so that the server continues from there. An identifier that
    /// can't be sent, because it exceeds 64 KiB or contains a control character, is ignored. The reconnection delay
    /// grows while connections close without an event, or with a status that means that the server is only busy.
    /// Everything else is an error: another status, another content type, an event of more than 1 MiB, or a failure
    /// that the next connection would also have. Retries of the environment and of the request don't apply.
    ///
    /// Any other request, such as a POST to a language model, has only one event stream, and so has every request
    /// with the policy ``Reconnection/never``. The events end when the server ends the response properly; a broken
    /// connection is an error. Until the response begins, such a request is sent like any other, with its own retries
    /// and those of the environment.
    ///
    /// A 204 ends the events without an error. The error of a rejected response contains the request, the response and
    /// its content.
    ///
    /// Each connection is an operation of the queue, and occupies a slot there until it ends. The waits between
    /// connections occupy no slot. A deadline applies to the entire stream. A connection that is idle for longer than
    /// the timeout counts as broken, so an idle server should send comments.
    ///
    /// Breaking out of the loop or cancelling the task ends the connection or the wait. Each iteration starts from the
    /// beginning.
    public struct Stream: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = ServerSentEvent

        fileprivate let makeConnector: @Sendable () -> EventConnector

        /// Creates an iterator with its own connections.
        public func makeAsyncIterator() -> Iterator { Iterator(connector: makeConnector()) }

        /// Consumes a ``ServerSentEvent/Stream``.
        public struct Iterator: AsyncIteratorProtocol {
            /// The declared error type; every error that a loop throws is a ``RequestError``.
            public typealias Failure = any Error
            fileprivate var connector: EventConnector

            /// Returns the next event; `nil` when the server ends the stream.
            ///
            /// - Throws: The error that ended the stream; its code is `cancelled` in a cancelled task. The end of a
            ///   connection isn't an error, within the limits of the reconnection policy.
            public mutating func next() async throws(RequestError) -> ServerSentEvent? { try await connector.next() }
        }
    }
}

extension RequestQueue {
    /// Returns the server-sent events of a request; a GET is sent again when its connection ends.
    ///
    /// - Parameters:
    ///   - request: The request that opens the connection; its own decoding is ignored.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    ///   - lastEventID: The ``ServerSentEvent/id`` of the last event of an earlier stream; `nil`, the default, lets the
    ///     server choose where to begin. An identifier that can't be sent fails with the code `invalidRequest`.
    ///   - reconnection: The limits of reconnection, for a GET.
    /// - Returns: The events. Nothing is sent before the first event is requested.
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

/// Connects, reads and reconnects until the next event (WHATWG HTML, 9.2.3).
///
/// When a connection ends or breaks, the next connection opens after the server's reconnection time. After several
/// consecutive connections without an event, the delay grows up to a limit. The stream gives up when the standard
/// requires it, except after a status that means that the server is just busy: there, the standard would leave
/// reconnecting to the web page, but this stream reconnects by itself.
private struct EventConnector {
    let environment: RequestEnvironment
    let policy: ServerSentEvent.Reconnection
    let deadline: Duration?
    /// Sends the request with additional header fields, within a deadline.
    let connect: @Sendable (HTTPHeaders, Duration?) async throws(RequestError) -> ResponseStream

    /// The method of the first request that was sent, before any redirect or retry.
    ///
    /// Before that method is known, the property has the method that the request declares, if any.
    var method: HTTPMethod?
    /// The identifier that the next connection sends in `Last-Event-ID`.
    var lastEventID: String?
    /// The last reconnection time that the server sent.
    var reconnectionTime: Duration?
    /// The number of consecutive connections without an accepted response.
    var failures = 0
    /// The number of consecutive connections without an event.
    var connectionsWithoutEvent = 0
    /// Measures the time since the stream began; `nil` before that.
    var elapsed: (@Sendable () -> Duration)?
    var stream: ResponseStream?
    var parser = ServerSentEventParser()
    var events: ArraySlice<ServerSentEvent> = []
    var isOver = false

    /// Returns the next event; `nil` at the end.
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
                // A 204 means that the server has no events, and that the client shouldn't reconnect.
                if stream.status == .noContent { return nil }
                if try await read(stream) { continue }
                let end = stream.core.context.addContext(to: parser.endError)
                guard reconnects(after: end) || parser.isInsideEvent && !end.isFramed else { return nil }
                throw end
            } catch {
                guard !Task.isCancelled else { throw error.code == .cancelled ? error : error.withCode(.cancelled) }
                if error.code == .unacceptableStatus, error.response?.status == .noContent { return nil }
                guard reconnects(after: error) else { throw error }
                stream = nil
                try await wait(after: error)
            }
        }
    }

    /// Returns whether the request is sent again after a connection ended with this error.
    ///
    /// An unknown method counts as unsafe. Sending a request other than GET or HEAD again may have side effects, and
    /// often costs something.
    private mutating func reconnects(after error: RequestError) -> Bool {
        method = (error.transfers.first?.request ?? error.request)?.method ?? method
        return policy.limit != 0 && method.map(ServerSentEvent.Reconnection.methods.contains) == true
    }

    /// Opens a connection.
    ///
    /// - Throws: The request's error, or an error if the response isn't an event stream.
    private mutating func open() async throws(RequestError) -> ResponseStream {
        var fields: HTTPHeaders = [.accept(.eventStream), HTTPField(.cacheControl, "no-cache")]
        if let lastEventID, !lastEventID.isEmpty {
            // Without the identifier, the server would start from the beginning and send the same events again.
            guard ServerSentEventParser.canBeSent(lastEventID) else {
                let flaw = InvalidValue(in: .lastEventID, "is too long, or contains a control character")
                throw RequestError(.invalidRequest, phase: .building, underlying: flaw)
            }
            fields.add(HTTPField(.lastEventID, lastEventID).attributedToLibrary())
        }
        let new = try await connect(fields, remaining)
        (stream, failures) = (new, 0)
        parser = ServerSentEventParser(lastEventID: lastEventID)
        return new
    }

    /// Reads the next chunk; returns `false` at the end of the response.
    ///
    /// - Throws: The error that ended the connection.
    private mutating func read(_ stream: ResponseStream) async throws(RequestError) -> Bool {
        let context = stream.core.context
        // Events that were complete before the failure have been delivered by now.
        if let failure = parser.failure { throw context.addContext(to: failure) }
        var iterator = stream.makeAsyncIterator()
        guard let chunk = try await iterator.next() else { return false }
        events = parser.feed(chunk).map { $0.received(in: context) }[...]
        if !events.isEmpty { connectionsWithoutEvent = 0 }
        lastEventID = parser.lastEventID
        reconnectionTime = parser.retry ?? reconnectionTime
        return true
    }

    /// Waits until the next connection may be opened.
    ///
    /// - Throws: The failure, if the next connection would fail in the same way, or if too many connections have
    ///   failed.
    private mutating func wait(after failure: RequestError) async throws(RequestError) {
        var pause = Duration.zero
        if failure.code == .unacceptableStatus, let status = failure.response?.status {
            guard Self.transientStatuses.contains(status) else { throw failure }
            pause = failure.retryAfter(from: environment.now()) ?? .zero
        } else if failure.code.kind.isFinal || failure.code.kind == .refused {
            throw failure
        }
        failures += 1
        connectionsWithoutEvent += 1
        if let limit = policy.limit, failures > limit { throw failure }
        // A server may request immediate reconnection, but not repeatedly without sending an event.
        if connectionsWithoutEvent > 1 {
            pause = max(pause, policy.backoff.delay(before: connectionsWithoutEvent - 1, random: environment.random))
        }
        let duration = max(.zero, min(max(reconnectionTime ?? policy.wait, pause), policy.maximumWait))
        let remaining = remaining ?? .longest
        do {
            try await environment.clock.sleep(for: min(duration, remaining).clamped)
        } catch {
            throw failure.withCode(.cancelled)
        }
        if duration >= remaining { throw failure.withCode(.deadlineExceeded) }
    }

    /// The remaining time until the deadline; `nil` without a deadline.
    private var remaining: Duration? {
        guard let deadline, let elapsed else { return nil }
        return max(.zero, deadline.clamped - elapsed())
    }

    /// Statuses after which the server may recover.
    private static let transientStatuses: Set<HTTPStatus> = [
        .requestTimeout, .tooManyRequests, .internalServerError, .badGateway, .serviceUnavailable, .gatewayTimeout,
    ]
}

extension ServerSentEvent.Reconnection {
    /// The methods of requests that are sent again when their event stream ends or breaks.
    fileprivate static let methods: Set<HTTPMethod> = [.get, .head]
}

extension ServerSentEventParser {
    /// The error for a response that has ended although the client expects more events.
    fileprivate var endError: RequestError {
        let reason =
            isInsideEvent ? "the response ended in the middle of an event" : "the server ended the event stream"
        return RequestError(.connectionLost, phase: .receiving, reason: reason)
    }
}

extension RequestError {
    /// Whether the response defines the end of its content (RFC 9112, 6.3).
    ///
    /// If not, the content ends when the connection does, and a lost connection can't be distinguished from the end.
    fileprivate var isFramed: Bool {
        guard let headers = response?.headers, !headers.contains(.contentLength) else { return true }
        return headers.contains(.transferEncoding)
            || transfers.last?.metrics?.networkProtocol?.hasPrefix("http/1") == false
    }

    /// Returns an error with the given code and the details of this error, for a stream that ends while it waits to
    /// reconnect.
    fileprivate func withCode(_ code: Code) -> RequestError {
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
    /// Returns the request for one connection, with additional header fields and its own deadline and retry policy.
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
    /// Rejects responses that aren't event streams, except a 204, which ends the events.
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
