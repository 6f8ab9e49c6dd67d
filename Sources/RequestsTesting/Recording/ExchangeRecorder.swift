// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport that records what goes over another one: to be asserted on, or stored and replayed.
///
/// ```swift
/// let recorder = ExchangeRecorder()
/// let client = HTTPClient(baseURL: url, transport: recorder)
/// // … run what is to be recorded
/// try recorder.archive.write(to: file)
/// ```
///
/// Every exchange on the wire is recorded, each redirect and each retry, with its content in whatever form that came: a
/// stream is recorded as it is read. Nothing changes for those who send: events are handed on as they come, with the
/// recording of an exchange done before its end is told.
///
/// To record where there is no file yet, and to replay it where there is one, take an ``ArchiveTransport``. Safe from any
/// thread; every recorder is for itself.
public final class ExchangeRecorder: HTTPTransport {
    private let transport: any HTTPTransport
    private let maximumBodySize: Int
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let ledger = Locked(ExchangeLedger())

    /// Makes a recorder.
    ///
    /// - Parameters:
    ///   - transport: What sends the requests; by default the best that the platform has.
    ///   - maximumBodySize: How many bytes of each content are kept, in each direction: 10 MiB by default. What has more
    ///     is sent and received whole, and recorded as incomplete.
    ///   - clock: On what the times of those exchanges pass whose transport doesn't measure them.
    ///   - now: Tells when an exchange began.
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

    /// The exchanges that are over, in the order in which they were sent.
    public var exchanges: [RecordedExchange] { ledger.withLock { $0.exchanges } }

    /// All exchanges, in the order in which they were sent, to be stored.
    ///
    /// One that isn't over is among them with what there is of it, and says so: ``RecordedExchange/isUnderWay``. Await
    /// the requests first that are to be replayed.
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

    /// Forgets every exchange, those that aren't over as well.
    public func reset() {
        ledger.withLock { $0.reset() }
    }

    /// What the transport can do that sends the requests.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Sends the request over the transport, and records what comes of it.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any Transfer {
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

/// Makes an exchange of the events of a transfer, as they come.
struct ExchangeBuilder: Sendable {
    private let request: StubbedRequest
    private var content: CapturedBody
    private var head: HTTPResponseHead?
    private var metrics: Metrics
    private var firstByte: Duration?
    /// What is recorded, once it is over.
    private var outcome: RecordedExchange?

    init(_ request: StubbedRequest, start: Date, limit: Int) {
        self.request = request
        metrics = Metrics(start: start)
        content = CapturedBody(limit: limit)
    }

    /// Takes an event, so long after the start; gives the exchange with the end.
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

    /// What there is so long after the start; where the exchange isn't over, it says so.
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

/// The exchanges of a recorder in the order in which they were sent, whichever ends first.
struct ExchangeLedger: Sendable {
    /// An exchange, or how to learn what there is of one that isn't over.
    enum Entry: Sendable {
        case over(RecordedExchange)
        case underWay(@Sendable () -> RecordedExchange)
    }

    private(set) var entries: [Entry] = []
    /// How many were forgotten before the first of the entries.
    private var forgotten = 0

    /// The exchanges that are over.
    var exchanges: [RecordedExchange] {
        entries.compactMap { entry in
            if case .over(let exchange) = entry { exchange } else { nil }
        }
    }

    /// Notes that an exchange begins, with what tells what there is of it; returns its number.
    mutating func begin(_ current: @escaping @Sendable () -> RecordedExchange) -> Int {
        entries.append(.underWay(current))
        return forgotten + entries.count - 1
    }

    /// Notes an exchange that is over; one that was forgotten meanwhile stays so.
    mutating func end(_ number: Int, _ exchange: RecordedExchange) {
        guard number >= forgotten else { return }
        entries[number - forgotten] = .over(exchange)
    }

    /// Forgets every exchange, those that aren't over as well.
    mutating func reset() {
        forgotten += entries.count
        entries = []
    }
}
