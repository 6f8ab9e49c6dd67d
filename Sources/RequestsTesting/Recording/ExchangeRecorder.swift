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
/// read to its end before it is sent. Events are forwarded unchanged as they come; an exchange is recorded before its
/// end is reported.
///
/// To record only if there is no file yet, and otherwise to replay it, use an ``ArchiveTransport``. Safe from any
/// thread; recorders share nothing.
public final class ExchangeRecorder: HTTPTransport {
    private let transport: any HTTPTransport
    private let maximumBodySize: Int
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let ledger = Locked(Ledger())

    /// The exchanges in the order in which they were sent; `nil` for one that hasn't ended.
    private struct Ledger: Sendable {
        var exchanges: [Exchange?] = []
        /// The number of exchanges that were removed before the first of these.
        var removedCount = 0
    }

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
    public var exchanges: [Exchange] { ledger.withLock { $0.exchanges.compactMap(\.self) } }

    /// The exchanges that have ended, for storing.
    ///
    /// Before storing, await the requests that are to be replayed.
    public var archive: HTTPArchive { HTTPArchive(exchanges) }

    /// Removes every exchange, including those that haven't ended.
    public func reset() {
        ledger.withLock { $0 = Ledger(removedCount: $0.removedCount + $0.exchanges.count) }
    }

    /// The capabilities of the transport that sends the requests.
    public var capabilities: TransportCapabilities { transport.capabilities }

    /// Sends the request over the transport, and records the exchange.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let sent = Locked(CapturedBody())
        let recorded = ReceivedRequest(request)
        let builder = Locked(ExchangeBuilder(recorded, start: now(), limit: maximumBodySize))
        let elapsed = clock.stopwatch()
        let number = ledger.withLock { ledger in
            ledger.exchanges.append(nil)
            return ledger.removedCount + ledger.exchanges.count - 1
        }
        return transport.send(request.capturingBody(into: sent, limit: maximumBodySize)) { [ledger] event in
            let time = elapsed()
            let body = if case .end = event { sent.withLock { $0 } } else { CapturedBody() }
            if let exchange = builder.withLock({ $0.receive(event, at: time, sent: body) }) {
                ledger.withLock { ledger in
                    guard number >= ledger.removedCount else { return }
                    ledger.exchanges[number - ledger.removedCount] = exchange
                }
            }
            receive(event)
        }
    }
}

/// Builds an exchange from the events of a transfer, as they come.
private struct ExchangeBuilder: Sendable {
    private var exchange: Exchange
    private let limit: Int

    init(_ request: ReceivedRequest, start: Date, limit: Int) {
        exchange = Exchange(request: request, metrics: Metrics(start: start))
        self.limit = max(0, limit)
    }

    /// Records an event and its time since the start; returns the exchange at the end.
    mutating func receive(_ event: TransferEvent, at time: Duration, sent: CapturedBody) -> Exchange? {
        switch event {
        case .informational, .sent, .trailers: break
        case .head(let head):
            exchange.response = Exchange.Response(status: head.status, headers: head.headers)
            exchange.metrics.responseStart = time
        case .data(let data):
            let room = limit - (exchange.response?.body.count ?? 0)
            exchange.response?.body += data.prefix(max(0, room))
            exchange.response?.bodySize += Int64(data.count)
        case .metrics(let measured):
            let (start, firstByte) = (exchange.metrics.start, exchange.metrics.responseStart)
            exchange.metrics = measured
            exchange.metrics.start = start
            if measured.responseStart == nil { exchange.metrics.responseStart = firstByte }
        case .end(let error):
            (exchange.request.body, exchange.requestBodySize, exchange.error) = (sent.data, sent.size, error)
            if exchange.metrics.end == nil { exchange.metrics.end = time }
            return exchange
        }
        return nil
    }
}

/// The beginning of the content of a request, and its total byte count.
private struct CapturedBody: Sendable {
    var data = Data()
    var size: Int64 = 0

    init() {}

    init(_ content: Data, limit: Int) {
        (data, size) = (Data(content.prefix(max(0, limit))), Int64(content.count))
    }
}

extension TransportRequest {
    /// Returns the request with a body that is recorded when it is sent; data and files are recorded at once.
    fileprivate func capturingBody(into captured: Locked<CapturedBody>, limit: Int) -> TransportRequest {
        // The transport reports the error of a body that can't be encoded or read.
        guard let body = try? body.resolved() else { return self }
        func capture(_ content: Data) {
            captured.withLock { $0 = CapturedBody(content, limit: limit) }
        }
        var result = self
        result.body = body
        switch body.content {
        case .none: break
        case .data(let data): capture(data)
        case .file(let url): if let content = try? Data(contentsOf: url, options: .alwaysMapped) { capture(content) }
        case .stream(let stream):
            let copy = BodyStream(length: stream.length, isReplayable: stream.isReplayable) {
                let content = try stream.read(while: { true }) ?? Data()
                captured.withLock { $0 = CapturedBody(content, limit: limit) }
                return InputStream(data: content)
            }
            result.body = HTTPBody(.stream(copy), headers: body.headers, mandatoryHeaders: body.mandatoryHeaders)
        }
        return result
    }
}
