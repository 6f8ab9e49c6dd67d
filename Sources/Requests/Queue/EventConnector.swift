// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Does what an ``EventStreamReconnection`` decides, as far as it takes to the next event.
struct EventConnector {
    /// Sends the request with these fields, and this deadline.
    typealias Connect = @Sendable ([HTTPField], Duration?) async throws(RequestError) -> ResponseStream

    private typealias Action = EventStreamReconnection.Action

    private var machine: EventStreamReconnection
    private let clock: any Clock<Duration>
    private let deadline: Duration?
    private let connect: Connect

    /// How long the stream has been going on; nil before it begins.
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

    /// The next event; nil where there are no more.
    mutating func next() async throws -> ServerSentEvent? {
        guard !isOver else { return nil }
        do {
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

    private mutating func advance() async throws -> ServerSentEvent? {
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

    private mutating func open(_ fields: [HTTPField]) async throws -> Action {
        do throws(RequestError) {
            let stream = try await connect(fields, remaining)
            self.stream = stream
            return machine.handle(.responded(stream.head))
        } catch {
            try Task.checkCancellation()
            guard error.code == .unacceptableStatus, let head = error.response else {
                return machine.handle(.failed(error))
            }
            let action = machine.handle(.responded(head))
            // The error that came has the content, too.
            if case .fail = action { return .fail(error) }
            return action
        }
    }

    private mutating func read() async throws -> Action {
        guard let stream else { return .finish }
        // What was complete came first.
        if let failure = parser.failure {
            return machine.handle(.failed(RequestError(.bodyTooLarge, phase: .receiving, underlying: failure)))
        }
        do {
            guard let chunk = try await stream.makeAsyncIterator().next() else { return machine.handle(.ended) }
            events = parser.feed(chunk)[...]
            if !events.isEmpty { _ = machine.handle(.received) }
            machine.lastEventID = parser.lastEventID
            if let retry = parser.retry { machine.retry = retry }
            return .none
        } catch let error as RequestError {
            return machine.handle(.failed(error))
        }
    }

    /// How long there is yet; nil for ever.
    private var remaining: Duration? {
        guard let deadline, let elapsed else { return nil }
        return max(.zero, deadline - elapsed())
    }

    private func sleep(_ duration: Duration) async throws {
        let remaining = remaining ?? Self.longestSleep
        try await clock.sleep(for: min(duration, remaining))
        if duration >= remaining { throw RequestError(.deadlineExceeded, phase: .waiting) }
    }

    /// Clocks trap on durations that they can't add to their time.
    private static let longestSleep = Duration.seconds(1_000_000_000)
}

/// A request for events, once more.
struct EventConnection<Base: NetworkRequest>: StreamRequest {
    typealias Success = Void
    typealias Failure = RequestError

    let request: Base
    let fields: [HTTPField]
    let deadline: Duration?

    var identifier: String { request.identifier }
    var validHTTPStatusCodes: [Int] { request.validHTTPStatusCodes }

    var options: RequestOptions {
        var options = request.options
        options.deadline = deadline
        // It is for the stream to decide when to connect again.
        options.retry = .never
        return options
    }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        request.makeURLRequest(completion: completion)
    }

    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        request.makeHTTPRequest(in: environment) { result in
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
