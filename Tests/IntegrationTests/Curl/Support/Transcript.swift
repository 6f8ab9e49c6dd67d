// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting

/// The events that one transfer reported, as they come in.
final class Transcript: Sendable {
    private struct State {
        var events: [TransferEvent] = []
        var content = 0
        var overlaps = 0
        var isInside = false
        var end: ContinuousClock.Instant?
    }

    /// Opens with the head, or after the end.
    let head = Gate()
    /// Opens with the first content, or after the end.
    let content = Gate()
    /// Opens when content has been sent, or after the end.
    let upload = Gate()
    /// Opens after the end.
    let ended = Gate()
    private let keepsContent: Bool
    private let state = Locked(State())
    private let start = ContinuousClock.now
    private let onEvent: @Sendable (TransferEvent) -> Void

    /// - Parameters:
    ///   - keepsContent: Whether content is kept, rather than counted.
    ///   - onEvent: Called with each event, before waiting tasks resume.
    init(keepsContent: Bool = true, _ onEvent: @escaping @Sendable (TransferEvent) -> Void = { _ in }) {
        self.keepsContent = keepsContent
        self.onEvent = onEvent
    }

    /// Records an event.
    func receive(_ event: TransferEvent) {
        state.withLock { state in
            if state.isInside { state.overlaps += 1 }
            state.isInside = true
            if case .data(let data) = event { state.content += data.count }
            if case .end = event { state.end = .now }
            if case .data = event, !keepsContent { return }
            state.events.append(event)
        }
        onEvent(event)
        state.withLock { $0.isInside = false }
        switch event {
        case .informational, .trailers, .metrics: break
        case .sent: upload.open()
        case .head: head.open()
        case .data: content.open()
        // A test that waits for more fails, rather than hangs.
        case .end: for gate in [ended, head, content, upload] { gate.open() }
        }
    }

    var events: [TransferEvent] { state.withLock { $0.events } }

    /// The byte count of the content so far.
    var contentSize: Int { state.withLock { $0.content } }

    var metrics: TransferRecord.Metrics? {
        events.lazy.compactMap { if case .metrics(let metrics) = $0 { metrics } else { nil } }.first
    }

    /// From the start to the end.
    var duration: Duration { state.withLock { $0.end ?? .now } - start }

    /// The error of the end; `nil` for success, or before the end.
    var error: RequestError? {
        events.lazy.compactMap { if case .end(let error) = $0 { error } else { nil } }.first
    }

    /// The outcome of the transfer: the name of the error's code, or `success`.
    var result: String {
        guard case .end(let error)? = events.last else { return "no end" }
        return error?.code.name ?? "success"
    }

    var response: HTTPResponseHead? {
        events.lazy.compactMap { if case .head(let head) = $0 { head } else { nil } }.first
    }

    var informational: [HTTPResponseHead] {
        events.compactMap { if case .informational(let head) = $0 { head } else { nil } }
    }

    var trailers: [HTTPHeaders] {
        events.compactMap { if case .trailers(let fields) = $0 { fields } else { nil } }
    }

    var body: Data {
        events.reduce(into: Data()) { if case .data(let data) = $1 { $0 += data } }
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The violations of the rules of ``HTTPTransport``; read it after the transport is closed.
    var violations: [String] {
        var found: [String] = []
        let (events, overlaps) = state.withLock { ($0.events, $0.overlaps) }
        if overlaps > 0 { found.append("\(overlaps) events came while another was received") }
        let names = events.map(\.letter).joined()
        // Informational and sent, a head, data and sent, trailers, metrics, the end.
        if names.wholeMatch(of: /[is]*(h[ds]*t?)?m?[eE]/) == nil { found.append("the order is \(names)") }
        if names.hasSuffix("E"), !names.contains("h") { found.append("a success without a head: \(names)") }
        return found
    }
}

extension TransferEvent {
    fileprivate var letter: String {
        switch self {
        case .informational: "i"
        case .sent: "s"
        case .head: "h"
        case .data: "d"
        case .trailers: "t"
        case .metrics: "m"
        case .end(nil): "E"
        case .end: "e"
        }
    }
}

extension CurlTransport {
    /// Returns a transport with a changed configuration.
    static func configured(_ configure: (inout Configuration) -> Void) -> CurlTransport {
        var configuration = Configuration()
        configure(&configuration)
        return CurlTransport(configuration: configuration)
    }

    /// Sends a request.
    @discardableResult
    func send(
        _ url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration = .seconds(60),
        maximumBodySize: Int = .max,
        to transcript: Transcript
    ) -> any TransferHandle {
        let request = HTTPRequest(url: url, method: method, headers: headers, body: body)
        return send(
            TransportRequest(request, timeout: timeout, maximumBodySize: maximumBodySize),
            receive: transcript.receive
        )
    }

    /// Sends a request, and waits for its end.
    func run(
        _ url: URL,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = [],
        body: HTTPBody = .none,
        timeout: Duration = .seconds(60),
        maximumBodySize: Int = .max
    ) async -> Transcript {
        let transcript = Transcript()
        send(
            url,
            method: method,
            headers: headers,
            body: body,
            timeout: timeout,
            maximumBodySize: maximumBodySize,
            to: transcript
        )
        try? await transcript.ended.wait()
        return transcript
    }
}
#endif
