// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The server-sent events of a request, over as many connections as it takes (WHATWG HTML, 9.2).
///
/// ```swift
/// for try await event in client.events(Feed()) { print(event.event, event.data) }
/// ```
///
/// The request is sent when the first event is asked for, and asks for `text/event-stream`. A connection that ends or
/// breaks is made again after the time that the server asked for last, and tells the server the identifier of the last
/// event, so that it goes on from there. Connections that give no event, one after another, wait longer and longer; statuses of a
/// server that is only busy are failures of this kind. 204 ends the stream. Everything else ends it with an error:
/// another status, another type of content, an event of more than 1 MiB, a failure that the next connection would have
/// too.
///
/// Each connection is an operation of the queue, and keeps its place there until it ends; the waits between them keep
/// none. Retries of the environment and of the request don't apply. A deadline is one for the whole. A connection that is
/// silent for longer than the timeout counts as broken: a server that has nothing to say sends comments.
///
/// Breaking out of the loop, and cancelling the task, ends the connection or the wait. Each iteration begins anew.
public struct EventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    let makeConnector: @Sendable () -> EventConnector

    /// Begins anew.
    public func makeAsyncIterator() -> Iterator { Iterator(connector: makeConnector()) }

    /// Consumes an ``EventStream``.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var connector: EventConnector

        /// The next event; nil when the server says that there are no more.
        ///
        /// - Throws: ``RequestError`` with what ended the stream, and `CancellationError` in a cancelled task. The end of
        ///   a connection is not an error, as long as the policy has patience.
        public mutating func next() async throws -> ServerSentEvent? { try await connector.next() }
    }
}

extension RequestQueue {
    /// Gives the server-sent events of a request, and reconnects where a connection ends.
    ///
    /// - Parameters:
    ///   - request: What to connect with; of its result only the content counts.
    ///   - session: What carries it; nil, the default, is the queue's transport.
    ///   - lastEventID: Where an earlier stream came to, the ``ServerSentEvent/id`` of its last event; nil, the default,
    ///     leaves the beginning to the server.
    ///   - reconnection: How patient the stream is.
    /// - Returns: The events. Nothing is sent before the first is asked for.
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
                deadline: request.options.deadline ?? self.environment.deadline
            ) { (fields, deadline) async throws(RequestError) -> ResponseStream in
                let connection = EventConnection(request: request, fields: fields, deadline: deadline)
                return try await self.stream(connection, session: session)
            }
        }
    }
}
