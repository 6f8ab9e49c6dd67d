// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport that records the exchanges of another, to assert on them, or to store and replay them.
///
/// ```swift
/// let recorder = ExchangeRecorder()
/// let client = HTTPClient(baseURL: url, transport: recorder)
/// // … run what is to be recorded
/// try recorder.archive.write(to: file)
/// ```
///
/// Every exchange on the wire is recorded, including redirects and retries, with its content in any form: a stream is
/// recorded as it is read. Events are forwarded unchanged as they come; an exchange is recorded before its end is
/// reported.
///
/// To record only if there is no file yet, and otherwise to replay it, use an ``ArchiveTransport``. Safe from any
/// thread; recorders share nothing.
public final class ExchangeRecorder: HTTPTransport {
    private let transport: any HTTPTransport
    private let maximumBodySize: Int
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let ledger = Locked(ExchangeLedger())

    /// Makes a recorder.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests; by default the best one of the platform.
    ///   - maximumBodySize: The maximum byte count of content that is kept, in each direction: 10 MiB by default.
    ///     Larger content is sent and received in full, but recorded as incomplete.
    ///   - clock: The clock that measures an exchange if its transport doesn't.
    ///   - now: Returns the time at which an exchange begins.
    public init(
        _ transport: any HTTPTransport = DefaultTransport.shared,
        maximumBodySize: Int = 10 * 1024 * 1024,
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.transport = transport
        self.maximumBodySize = maximumBodySize
        self.clock = clock
        self.now = now
    }

    /// The exchanges that have ended, in the order in which they were sent.
    public var exchanges: [RecordedExchange] { ledger.withLock { $0.exchanges } }

    /// All exchanges, in the order in which they were sent, for storing.
    ///
    /// An exchange that hasn't ended is included as far as it has come, with ``RecordedExchange/isUnderWay``. Before
    /// storing, await the requests that are to be replayed.
    public var archive: HTTPArchive {
        HTTPArchive(
            ledger.withLock { $0.entries }.map { entry in
                switch entry {
                case .over(let exchange): exchange
                case .underWay(let current): current()
                }
            }
        )
    }

    /// Removes every exchange, including those that haven't ended.
    public func reset() {
        ledger.withLock { $0.reset() }
    }

    /// The capabilities of the transport that sends the requests.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Sends the request over the transport, and records the exchange.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let sent = Locked(CapturedBody(limit: maximumBodySize))
        let recorded = StubbedRequest(url: request.url, method: request.method, headers: request.headers)
        let builder = Locked(ExchangeBuilder(recorded, start: now(), limit: maximumBodySize))
        let elapsed = clock.stopwatch()
        let number = ledger.withLock { ledger in
            ledger.begin {
                let (time, body) = (elapsed(), sent.withLock { $0 })
                return builder.withLock { $0.current(at: time, sent: body) }
            }
        }
        return transport.send(request.capturingBody(into: sent, limit: maximumBodySize)) { [ledger] event in
            let time = elapsed()
            let body = event.isEnd ? sent.withLock { $0 } : nil
            if let exchange = builder.withLock({ $0.receive(event, at: time, sent: body) }) {
                ledger.withLock { $0.end(number, exchange) }
            }
            receive(event)
        }
    }
}

extension TransferEvent {
    fileprivate var isEnd: Bool {
        if case .end = self { true } else { false }
    }
}

/// Builds an exchange from the events of a transfer, as they come.
struct ExchangeBuilder: Sendable {
    private let request: StubbedRequest
    private var content: CapturedBody
    private var head: HTTPResponseHead?
    private var metrics: Metrics
    private var firstByte: Duration?
    /// The exchange, once it has ended.
    private var outcome: RecordedExchange?

    init(_ request: StubbedRequest, start: Date, limit: Int) {
        self.request = request
        metrics = Metrics(start: start)
        content = CapturedBody(limit: limit)
    }

    /// Records an event and its time since the start; returns the exchange at the end.
    mutating func receive(_ event: TransferEvent, at time: Duration, sent: CapturedBody?) -> RecordedExchange? {
        guard outcome == nil else { return nil }
        switch event {
        case .informational, .sent, .trailers: return nil
        case .head(let head):
            self.head = head
            firstByte = time
            return nil
        case .data(let data):
            content.append(data)
            return nil
        case .metrics(let measured):
            let start = metrics.start
            metrics = measured
            metrics.start = start
            return nil
        case .end(let error):
            outcome = exchange(error, at: time, sent: sent)
            return outcome
        }
    }

    /// Returns the exchange so far, at a time since the start; it is marked if it hasn't ended.
    func current(at time: Duration, sent: CapturedBody) -> RecordedExchange {
        if let outcome { return outcome }
        var exchange = exchange(nil, at: time, sent: sent)
        exchange.isUnderWay = true
        return exchange
    }

    private func exchange(_ error: RequestError?, at time: Duration, sent: CapturedBody?) -> RecordedExchange {
        var exchange = RecordedExchange(request: request, error: error, metrics: metrics)
        exchange.request.body = sent?.data ?? Data()
        exchange.requestBodySize = sent?.size ?? 0
        if exchange.metrics.firstByte == nil { exchange.metrics.firstByte = firstByte }
        if exchange.metrics.end == nil { exchange.metrics.end = time }
        if let head {
            var response = RecordedExchange.Response(status: head.status, headers: head.headers, body: content.data)
            response.bodySize = content.size
            exchange.response = response
        }
        return exchange
    }
}

/// The exchanges of a recorder in the order in which they were sent, in whatever order they end.
struct ExchangeLedger: Sendable {
    /// An exchange, or a closure that returns the state of one that hasn't ended.
    enum Entry: Sendable {
        case over(RecordedExchange)
        case underWay(@Sendable () -> RecordedExchange)
    }

    private(set) var entries: [Entry] = []
    /// The number of exchanges that were removed before the first of the entries.
    private var forgotten = 0

    /// The exchanges that have ended.
    var exchanges: [RecordedExchange] {
        entries.compactMap { entry in
            if case .over(let exchange) = entry { exchange } else { nil }
        }
    }

    /// Records that an exchange begins, with a closure that returns its state; returns its number.
    mutating func begin(_ current: @escaping @Sendable () -> RecordedExchange) -> Int {
        entries.append(.underWay(current))
        return forgotten + entries.count - 1
    }

    /// Records an exchange that has ended, unless it was removed meanwhile.
    mutating func end(_ number: Int, _ exchange: RecordedExchange) {
        guard number >= forgotten else { return }
        entries[number - forgotten] = .over(exchange)
    }

    /// Removes every exchange, including those that haven't ended.
    mutating func reset() {
        forgotten += entries.count
        entries = []
    }
}
