// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What is under way on behalf of one operation: the transfer, what has come of it, and what was sent before it.
///
/// Transfers are numbered, and everything that arrives for another than the present one is ignored.
struct Exchange: Sendable {
    /// What became of a piece of content.
    enum Reception: Sendable, Hashable {
        /// It is kept.
        case kept
        /// Nobody wants it any more.
        case ignored
        /// It would exceed the limit.
        case tooLarge
    }

    /// What cancels a piece of work.
    typealias Cancellation = @Sendable () -> Void

    private(set) var attempts: [Attempt] = []
    private(set) var head: HTTPResponseHead?
    private(set) var body = Data()
    /// What is on its way, or was last.
    private(set) var hop: Hop?
    /// When that was sent, where there is a cache, by whose clock that is.
    private(set) var requestedAt: Date?
    var redirects = RedirectMachine(policy: .refuse)
    /// How often the request was made.
    var attempt = 1
    /// How many of those came of an answer that was good, and not the whole.
    var continuations = 0
    /// The number of bytes that were sent of the present transfer.
    var sent: Int64 = 0
    private var began = ContinuousClock.now
    private var transfer = 0
    private var work = 0
    private var isOpen = false
    private var dispatches = 0
    /// Whether nobody cares any more: the content that came is gone then, and mustn't be taken for the whole.
    private(set) var isAbandoned = false
    private var cancellation: Cancellation?

    /// What a cache answered last, in the place of a transport.
    private var answered: HTTPRequest?

    /// What was sent last, or answered by a cache.
    var request: HTTPRequest? { answered ?? attempts.last?.request }

    /// The response that came, with what was sent for it; nil where none came.
    var response: HTTPResponse<Data>? {
        head.map { HTTPResponse(head: $0, body: body, attempts: attempts) }
    }

    /// Counts what is about to be sent or answered, and says whether that has to begin on a stack of its own.
    ///
    /// Where a transport or a cache answers at once, each retry and each redirect begins inside of the one before it.
    mutating func needsFreshStack() -> Bool {
        dispatches += 1
        return dispatches.isMultiple(of: 16)
    }

    /// Begins a transfer, and gives its number as a piece of work; nil where nobody cares any more.
    mutating func begin(_ transfer: Int, _ hop: Hop, at now: Date? = nil) -> Int? {
        guard !isAbandoned else { return nil }
        self.transfer = transfer
        isOpen = true
        head = nil
        body = Data()
        answered = nil
        sent = 0
        began = .now
        self.hop = hop
        requestedAt = now
        attempts.append(Attempt(cause: hop.cause, request: hop.outgoing, metrics: Metrics()))
        return beginWork()
    }

    /// Notes that a transfer had to wait, and is handed to the transport only now.
    mutating func handOver(_ transfer: Int, at now: Date?) {
        guard transfer == self.transfer, isOpen else { return }
        (began, requestedAt) = (.now, now)
        attempts[attempts.endIndex - 1].metrics = Metrics()
    }

    /// Numbers a piece of work that is about to begin; what cancels the one before is forgotten.
    mutating func beginWork() -> Int {
        work += 1
        cancellation = nil
        return work
    }

    mutating func receive(_ head: HTTPResponseHead, transfer: Int) {
        guard accepts(transfer) else { return }
        self.head = head
        attempts[attempts.endIndex - 1].response = head
        attempts[attempts.endIndex - 1].metrics?.firstByte = began.duration(to: .now)
    }

    /// Takes what the transport knows, which is more than what is measured here, and nearer to the wire.
    mutating func receive(_ metrics: Metrics, transfer: Int) {
        guard transfer == self.transfer, isOpen else { return }
        attempts[attempts.endIndex - 1].metrics = metrics
    }

    mutating func receive(_ data: Data, transfer: Int, limit: Int) -> Reception {
        guard accepts(transfer) else { return .ignored }
        guard data.count <= limit - body.count else { return .tooLarge }
        if body.isEmpty { body = data } else { body.append(data) }
        return .kept
    }

    mutating func end(_ transfer: Int, error: RequestError?) {
        guard transfer == self.transfer, isOpen else { return }
        isOpen = false
        _ = beginWork()
        attempts[attempts.endIndex - 1].end(error, after: began.duration(to: .now))
    }

    /// Keeps what cancels a piece of work, or gives it back where that work is no longer wanted.
    ///
    /// Whoever begins work can only cancel it afterwards. By then it may be done, and its thread may have begun the
    /// next piece, whose cancellation must stay: hence the number.
    mutating func keep(_ cancellation: @escaping Cancellation, of work: Int) -> Cancellation? {
        guard work == self.work else { return nil }
        guard !isAbandoned else { return cancellation }
        self.cancellation = cancellation
        return nil
    }

    /// Stops caring: nothing that comes is kept, and the content that came goes, since it is a value by now or an
    /// error.
    ///
    /// Gives what cancels the work that is under way.
    mutating func abandon() -> Cancellation? {
        isAbandoned = true
        body = Data()
        defer { cancellation = nil }
        return cancellation
    }

    /// Takes over a response that stands in the place of the one that came: a cache's, or one that was changed.
    mutating func adopt(_ response: HTTPResponse<Data>) {
        guard !isAbandoned else { return }
        head = response.head
        body = response.body
    }

    /// Takes over a response that a cache gave, so that nothing was sent for it.
    mutating func adopt(_ response: HTTPResponse<Data>, to request: HTTPRequest) {
        answered = request
        adopt(response)
    }

    /// Takes over what came of an operation that did the work for this one.
    mutating func adopt(_ other: Exchange) {
        attempts = other.attempts
        answered = other.answered
        head = other.head
    }

    private func accepts(_ transfer: Int) -> Bool {
        transfer == self.transfer && isOpen && !isAbandoned
    }
}
