// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The server-sent events of a request, over as many connections as necessary (WHATWG HTML, 9.2).
///
/// ```swift
/// for try await event in client.events(Feed()) { print(event.event, event.data) }
/// ```
///
/// The request is sent when the first event is requested, and asks for `text/event-stream`. A connection that ends or
/// breaks is made again after the last reconnection time that the server sent. It sends the identifier of the last
/// event, so that the server continues from there; if a server chose one that can't be sent, of more than 64 KiB or
/// with a control character, the stream ends with the code `invalidRequest`. Reconnection backs off when connections
/// close without an event, or with a status of a server that is only busy. 204 ends the stream. Everything else ends it
/// with an error: another status, another type of content, an event of more than 1 MiB, a failure that the next
/// connection would have too.
///
/// Each connection is an operation of the queue, and keeps its place there until it ends; the waits between them take
/// no place. Retries of the environment and of the request don't apply. A deadline applies to the whole stream. A
/// connection that is silent for longer than the timeout counts as broken: an idle server sends comments.
///
/// Breaking out of the loop, and cancelling the task, ends the connection or the wait. Each iteration starts from the
/// beginning.
public struct EventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let makeConnector: @Sendable () -> EventConnector

    /// Makes an iterator with its own connections.
    public func makeAsyncIterator() -> Iterator { Iterator(connector: makeConnector()) }

    /// Consumes an ``EventStream``.
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
    public func events(
        _ request: some NetworkRequest,
        session: (any HTTPTransport)? = nil,
        lastEventID: String? = nil,
        reconnection: ReconnectionPolicy = .default
    ) -> EventStream {
        EventStream {
            EventConnector(
                machine: EventStreamReconnection(
                    lastEventID: lastEventID,
                    policy: reconnection,
                    random: self.environment.random,
                    now: self.environment.now
                ),
                clock: self.environment.clock,
                deadline: request.resolvedOptions.deadline ?? self.environment.deadline
            ) { (fields, deadline) async throws(RequestError) -> ResponseStream in
                let connection = EventConnection(request: request, fields: fields, deadline: deadline)
                return try await self.stream(connection, session: session)
            }
        }
    }
}

/// Performs the decisions of an ``EventStreamReconnection``, until the next event.
struct EventConnector {
    /// Sends the request with these fields, and this deadline.
    typealias Connect = @Sendable ([HTTPField], Duration?) async throws(RequestError) -> ResponseStream

    private typealias Action = EventStreamReconnection.Action

    private var machine: EventStreamReconnection
    private let clock: any Clock<Duration>
    private let deadline: Duration?
    private let connect: Connect

    /// The time since the stream began; `nil` before that.
    private var elapsed: (@Sendable () -> Duration)?
    private var stream: ResponseStream?
    private var parser = ServerSentEventParser()
    private var events: ArraySlice<ServerSentEvent> = []
    private var isOver = false

    init(
        machine: EventStreamReconnection,
        clock: any Clock<Duration>,
        deadline: Duration?,
        connect: @escaping Connect
    ) {
        self.machine = machine
        self.clock = clock
        self.deadline = deadline
        self.connect = connect
    }

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
        var action = Action.none
        if elapsed == nil {
            elapsed = clock.stopwatch()
            action = machine.handle(.started)
        }
        while true {
            switch action {
            case .connect(let fields):
                action = try await open(fields)
            case .read:
                parser = ServerSentEventParser(lastEventID: machine.lastEventID)
                action = .none
            case .none:
                if let event = events.popFirst() { return event }
                action = try await read()
            case .wait(let duration):
                stream = nil
                try await sleep(duration)
                action = machine.handle(.waited)
            case .finish:
                return nil
            case .fail(let error):
                throw error
            }
        }
    }

    private mutating func open(_ fields: [HTTPField]) async throws(RequestError) -> Action {
        do throws(RequestError) {
            let stream = try await connect(fields, remaining)
            self.stream = stream
            return machine.handle(.responded(stream.head))
        } catch {
            guard !Task.isCancelled else { throw .cancelledWait }
            guard error.code == .unacceptableStatus, let head = error.response else {
                return machine.handle(.failed(error))
            }
            let action = machine.handle(.responded(head))
            // The received error contains the content, too.
            if case .fail = action { return .fail(error) }
            return action
        }
    }

    private mutating func read() async throws(RequestError) -> Action {
        guard let stream else { return .finish }
        // Events that were complete before the failure come first.
        if let failure = parser.failure {
            return machine.handle(.failed(RequestError(.bodyTooLarge, phase: .receiving, underlying: failure)))
        }
        do throws(RequestError) {
            var iterator = stream.makeAsyncIterator()
            guard let chunk = try await iterator.next() else { return machine.handle(.ended) }
            events = parser.feed(chunk).map { $0.decoded(by: stream.makeDecoder) }[...]
            if !events.isEmpty { _ = machine.handle(.received) }
            machine.lastEventID = parser.lastEventID
            if let retry = parser.retry { machine.retry = retry }
            return .none
        } catch {
            guard !Task.isCancelled else { throw .cancelledWait }
            return machine.handle(.failed(error))
        }
    }

    /// The remaining time; `nil` without a deadline.
    private var remaining: Duration? {
        guard let deadline, let elapsed else { return nil }
        return max(.zero, deadline.clamped - elapsed())
    }

    private func sleep(_ duration: Duration) async throws(RequestError) {
        let remaining = remaining ?? .longest
        do { try await clock.sleep(for: min(duration, remaining).clamped) } catch { throw .cancelledWait }
        if duration >= remaining { throw RequestError(.deadlineExceeded, phase: .waiting) }
    }
}

extension RequestError {
    /// The error of a loop whose task is cancelled.
    fileprivate static var cancelledWait: RequestError {
        RequestError(.cancelled, phase: .waiting, underlying: CancellationError())
    }
}

/// A request whose stream has events.
protocol EventSource {}

/// A request for events, for one connection.
struct EventConnection<Base: NetworkRequest>: StreamRequest, NamedRequestType, EventSource {
    typealias Success = Void
    typealias Failure = RequestError

    static var typeName: String { "\(Base.shownTypeName) (events)" }

    let request: Base
    let fields: [HTTPField]
    let deadline: Duration?

    var identifier: String { request.identifier }
    var validHTTPStatusCodes: [Int] { request.validStatusCodes }

    var options: RequestOptions {
        var options = request.resolvedOptions
        options.deadline = deadline
        // The stream decides when to reconnect.
        options.retry = .never
        // They are applied below, before the fields of the stream.
        options.changes = []
        return options
    }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        request.makeURLRequest(completion: completion)
    }

    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        request.makeHTTPRequest(in: environment, changedBy: request.resolvedOptions) { result in
            completion(
                result.map { request in
                    var request = request
                    for field in fields { request.headers.set(field) }
                    return request
                }
            )
        }
    }

    func process(_ stream: ResponseStream) async throws {}
}
